package reconcile

import (
	"slices"
	"strings"
	"time"
)

// A Chosen says which findings or actions a person wants to see, and which part of them. What is "" chooses nothing.
type Chosen struct {
	State    string // one of those below, or a state of tasks or sandboxes
	Rule     string
	Provider string
	Template string // of a sandbox, or that a finding or an incident is about
	HeldBy   string // what a [Held] is asked for by, see [HeldBegins]; of findings alone
	Step     Step   // of actions alone, like the three that follow
	Outcome  Outcome
	Author   string
	Pass     int64  // on whose budget it was begun; 0 for any
	Incident string // of findings alone
	Text     string // part of a subject, or of the id of a task or sandbox
	Sort     string // a column of [Sorts], with a minus before it from its end; "" is the usual order
	After    Cursor
	Most     int
}

// What findings and actions are chosen by.
const (
	ChosenOpen     = "open"
	ChosenDue      = "due"      // open, past its threshold, and nothing holds it
	ChosenHeld     = "held"     // open, past its threshold, and something holds it
	ChosenWatched  = "watched"  // open, not past its threshold
	ChosenResolved = "resolved" // of findings
	ChosenClosed   = "closed"   // of actions
	ChosenLive     = "live"     // of tasks, and of sandboxes that exist
	ChosenGone     = "gone"     // of sandboxes
	ChosenAll      = "all"      // of tasks and sandboxes
)

// A Cursor is the last row of a part that was shown; the zero Cursor is before the first one.
type Cursor struct {
	At   time.Time
	Word string // what the row has in the column that puts the list in order
	Key  string
}

// Sorts are the columns that can put a list in order, the usual one first; nil when there are none. What is over has no
// other order than that of its age, which an index has: there is no end of it.
func Sorts(list, state string) []string {
	over := state == ChosenResolved || state == ChosenClosed || state == ChosenGone || state == ChosenAll
	switch {
	case list == "incidents":
		return []string{"age", "id", "failures", "rule", "provider"}
	case list == "findings" && !over:
		return []string{"age", "rule", "subject", "state"}
	case list == "actions" && !over:
		return []string{"age", "step", "subject", "rule", "outcome"}
	case list == "findings" || list == "actions":
		return []string{"age"}
	case list == "tasks" && (state == "" || state == ChosenLive || TaskState(state).Live()):
		return []string{"id", "status", "tenant", "sandbox", "age"}
	case list == "sandboxes" && !over:
		return []string{"id", "state", "name", "task", "template", "age"}
	}
	return nil
}

// Order is the column that puts the list in order, and whether its last rows come first. Of two, the one that was
// there later is younger.
func (c *Chosen) Order() (column string, down bool) {
	column, down = strings.CutPrefix(c.Sort, "-")
	return column, down != (column == "age")
}

// Sortable reports whether the list can be put in the order that is asked for; it always can in its usual one.
func (c *Chosen) Sortable(list string) bool {
	column, _ := c.Order()
	return column == "" && c.Sort == "" || slices.Contains(Sorts(list, c.State), column)
}

// A FoundSubject is a task, a sandbox or an incident that a search found.
type FoundSubject struct {
	Type     SubjectType
	Provider string // of a sandbox
	ID       string
	Name     string // of a sandbox, as its platform calls it
	Task     string // of a sandbox
	State    string
	There    bool // the task is live, the sandbox exists, the incident is open
}

// Trends are the last hours in slots of one length, oldest first.
type Trends struct {
	From  time.Time
	Slot  time.Duration
	Slots []TrendSlot

	Leaking float64 // USD an hour: what is found due, and still there, costs
	Saved   float64 // USD: what the sandboxes that we ended in that time would have cost since they were gone
}

// A TrendSlot is one slot of them.
type TrendSlot struct {
	Counts   map[string]int // of the last complete full pass in it, see [Record.Counts]; nil when there was none
	Findings int            // open at its end
	Acted    int            // actions that were done in it
	Gone     time.Duration  // from the first request until it was confirmed, 95th percentile; 0 when none was
}
