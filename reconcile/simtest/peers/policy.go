package peers

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Policy is the clean-up of one system.
type Policy struct {
	Name   string
	Sweeps []Sweep
}

// A Sweep is one of its loops.
type Sweep struct {
	Name   string
	Every  time.Duration
	Needs  Needs
	Decide func(v *View) []Deed
}

// Needs say what a sweep reads.
type Needs struct {
	List    bool // the sandboxes, and the rows that name one of them
	Look    bool // the sandbox of each live row, by its id
	Resolve bool // which sandbox a live row means
}

// A View is what a sweep saw. It is data: deciding twice gives the same.
type View struct {
	Tasks []reconcile.Task    // the live rows
	Boxes []reconcile.Sandbox // listed and proven to be this installation's
	Rows  []reconcile.Task    // rows of whatever status that name one of Boxes
	Looks map[string]reconcile.Lookup
	Refs  map[string]reconcile.Ref // sandboxes of live rows, by task, where known
	Notes Notes
	Now   time.Time // of the janitor's own clock, for its notes
	Draw  uint64    // another one for each sweep, for those who draw lots
}

// Notes are what a janitor keeps from one sweep to the next.
type Notes map[string]time.Time

// A Verb is what is done to a row or to a sandbox.
type Verb string

// The verbs.
const (
	Fail    Verb = "fail"    // the row is set to failed
	Requeue Verb = "requeue" // the row is set back to pending
	End     Verb = "end"     // the sandbox is deleted
	Stop    Verb = "stop"    // the sandbox is stopped, its disk is kept
)

// A Deed is one thing to be done.
type Deed struct {
	Verb   Verb
	Task   reconcile.Task // of Fail and Requeue, as it was seen
	Ref    reconcile.Ref  // of End and Stop
	Reason string

	// Still is asked of the row of Task, read again right before the deed; nil for those who
	// do not look again.
	Still func(now reconcile.Task) bool
}

// All are the policies that are compared.
func All() []Policy { return []Policy{OmoiOS(), Runbook(), Coder(), Kortix()} }

// Cadence is how often the janitor wakes: its shortest sweep.
func (p Policy) Cadence() time.Duration {
	shortest := p.Sweeps[0].Every
	for _, s := range p.Sweeps {
		shortest = min(shortest, s.Every)
	}
	return shortest
}

// newest is the latest of the times.
func newest(times ...time.Time) time.Time {
	var out time.Time
	for _, t := range times {
		if t.After(out) {
			out = t
		}
	}
	return out
}

// since is how long ago something was on a row, by the clock of its database; 0 when it never
// was.
func since(t reconcile.Task, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return t.AsOf.Sub(at)
}

// names reports whether the row and the sandbox know each other, by either end of the link.
func names(t reconcile.Task, b reconcile.Sandbox) bool {
	if b.Task != "" && b.Task == t.ID {
		return true
	}
	return t.Sandbox != "" && (t.Sandbox == b.SandboxKey || t.Sandbox == b.ID || t.Sandbox == b.Name)
}
