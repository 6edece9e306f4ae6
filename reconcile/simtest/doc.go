// Package simtest runs sandkeeper in a world that is simulated as a whole: a platform with
// its task table, workers and users, providers, networks, clocks, crashes and replicas, under
// virtual time and faults that a seed or a file tells. It knows what is really true, which no
// janitor does, and says after every step whether something that must never happen has
// happened.
//
// A history is a [history.Script]: data that always gives the same bytes. [Run] plays it in a bubble
// of testing/synctest. What breaks is shrunk to a few lines, which are kept as a file.
package simtest
