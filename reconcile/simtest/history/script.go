package history

import "time"

// A Script is one history: the world that it begins with and what happens in it.
type Script struct {
	Seed   uint64        // decides who goes first, wherever the script does not
	About  []string      // what it is about, for people
	Setup  []Event       // what there is before the first pass; all at 0
	Events []Event       // in order of time
	Calm   time.Duration // when the last fault has stopped and the world only lives on as it is
}

// An Event is one line of a script: `@4m10s fault lab list empty for 2m`.
type Event struct {
	At   time.Duration
	Verb string   // its first word: who handles it
	Args []string // the others
}

// A Violation is something that must never happen, and happened.
type Violation struct {
	Property string // "P1" to "P15", "harm", "once", "lost", "live"
	Step     int    // number of the call that showed it; 0 for the end of the history
	At       time.Duration
	Says     string // what happened to which thing
}
