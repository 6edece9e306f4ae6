package reconcile

import "time"

// A Chosen says which findings or actions a person wants to see, and which part of them. What is "" chooses nothing.
type Chosen struct {
	State    string // one of those below, or a state of tasks or sandboxes
	Rule     string
	Provider string
	HeldBy   string // the text of a [Held], of findings alone
	Step     Step   // of actions alone, like the three that follow
	Outcome  Outcome
	Author   string
	Pass     int64  // on whose budget it was begun; 0 for any
	Incident string // of findings alone
	Text     string // part of a subject, or of the id of a task or sandbox
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
	At  time.Time
	Key string
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
	Saved   float64 // USD: what the sandboxes that we ended since From would have cost since they were gone
}

// A TrendSlot is one slot of them.
type TrendSlot struct {
	Counts   map[string]int // of the last complete full pass in it, see [Record.Counts]; nil when there was none
	Findings int            // open at its end
	Acted    int            // actions that were done in it
	Gone     time.Duration  // from the first request until it was confirmed, 95th percentile; 0 when none was
}
