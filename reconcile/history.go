package reconcile

import "time"

// A Attribution says who asks for something, and why. Both are kept.
type Attribution struct {
	Author string
	Reason string
}

// PassSeen is one pass as the ledger has it.
type PassSeen struct {
	ID       int64
	Kind     PassKind
	Holder   string
	BeganAt  time.Time
	EndedAt  time.Time // zero when it never ended
	Complete bool
	Error    string
	Kept     int
	Counts   map[string]int
}

// FindingSeen is a finding with its life in the ledger.
type FindingSeen struct {
	Finding
	OpenedAt   time.Time // never moves, unlike FirstSeen
	ResolvedAt time.Time // zero while it is open
}

// A History is everything that the ledger knows of one task or sandbox and of what it is
// linked to. Lists are newest first.
type History struct {
	Tasks     []TaskSeen
	Sandboxes []SandboxSeen
	Findings  []FindingSeen
	Actions   []Action
	Probes    []ProbeResult
	Verdicts  []Verdict
	Timeline  []TimelineEvent
}

// Empty reports whether the ledger knows nothing at all.
func (h History) Empty() bool {
	return len(h.Tasks)+len(h.Sandboxes)+len(h.Findings)+len(h.Actions)+len(h.Probes)+len(h.Verdicts)+
		len(h.Timeline) == 0
}

// A Counter is a number that only grows and outlives the rows that it counted. Names are
// "findings_opened", "findings_resolved", "actions" (What is step:outcome), "probes" (What
// is the outcome) and "passes" (What is kind:complete or kind:incomplete).
type Counter struct {
	Name, Rule, Provider, What string
	Value                      int64
}

// Fits says how well an id that a person says names this subject; 0: not at all.
func (s *Subject) Fits(id string) int {
	best := 0
	if s.ID == id || s.Task != nil && s.Task.ID == id {
		best = 3
	}
	if s.Task != nil && s.Task.Sandbox == id && id != "" {
		best = max(best, 1)
	}
	for i := range s.Boxes {
		best = max(best, s.Boxes[i].Fits(id))
	}
	return best
}

// Fits is the same of a sandbox.
func (b *SeenSandbox) Fits(id string) int {
	switch ref := b.Ref.String(); {
	case ref == id, "sandbox:"+ref == id:
		return 3
	case b.ID == id:
		return 2
	case b.Name != "" && (b.Name == id || b.Provider+"/"+b.Name == id):
		return 1
	}
	return 0
}

// An EventKind is what an event of a worker means, as bits; none is plain activity.
type EventKind uint8

// The kinds of an event.
const (
	EventStarted EventKind = 1 << iota
	EventHeartbeat
	EventWaiting
	EventFinished
)

// A WorkerEvent is one event of a worker.
type WorkerEvent struct {
	At   time.Time
	Kind EventKind
}

// A PastTask is one task of a platform's history: its row as it is now, and its worker's events.
type PastTask struct {
	Task  Task          // without Events
	Ended time.Time     // when it was over; zero while it is at work
	Signs []WorkerEvent // oldest first
	Class string        // what kind of task it is, besides its template: "task.COLUMN=value"; "" when nothing says so
}

// A RecordPlace is how far somebody has read what happened: up to so many lines of one link of the
// record, and up to one pass. Who reads on from it misses nothing and gets nothing twice.
type RecordPlace struct {
	Link   int64
	Within int64
	Pass   int64
}

// Beyond reports whether the place lies behind another one, where nobody can have read.
func (p RecordPlace) Beyond(end RecordPlace) bool {
	return p.Link > end.Link || p.Link == end.Link && p.Within > end.Within || p.Pass > end.Pass
}

// A RecordEvent is one thing that happened: a line of the timeline, or a pass that ended.
type RecordEvent struct {
	Place  RecordPlace // that of who has read it
	Number int64       // of the line; 0 of a pass
	TimelineEvent
	Pass *PassSeen // nil of a line
}
