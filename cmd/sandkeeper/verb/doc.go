// Package verb is how each verb is called, whatever it does: the arguments that it takes, flags of words and of
// times, what is said of wrong usage, and the codes that the program ends with.
package verb
