// Package history is what a history of the simulation is made of: a script, its text form, and
// the generator that makes one of a seed. It plays nothing.
package history
