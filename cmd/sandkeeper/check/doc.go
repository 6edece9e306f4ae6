// Package check is what the verb check finds: a line for each thing that the config names, held against the world,
// with the fix where it is wrong. It changes nothing.
package check
