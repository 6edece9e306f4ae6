package ui

import "slices"

// A Level says how bad a verdict is. It is a colour, and beside it a sign and a word, for
// those who do not see the colour.
type Level string

// The levels, the worst first.
const (
	Bad  Level = "bad"  // users are hurt, nobody knows, or an operator must act now
	Warn Level = "warn" // something is frozen or held: that is safe
	Set  Level = "set"  // what an operator set: a hold, a pause, a mode that only observes
	Busy Level = "busy" // something is being done
	Well Level = "well"
	Calm Level = "calm" // of a line: it is there, and it is nothing
)

// Rank is how bad a level is; 0 is the worst.
func (l Level) Rank() int { return slices.Index([]Level{Bad, Warn, Set, Busy, Well, Calm}, l) }

// Sign is the level for those who do not see colours.
func (l Level) Sign() string {
	return map[Level]string{Bad: "✕", Warn: "!", Set: "‖", Busy: "→", Well: "✓", Calm: "·"}[l]
}
