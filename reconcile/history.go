package reconcile

import "time"

// A Signature says who asks for something, and why. Both are kept.
type Signature struct {
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

// Decision is the verdict of the pass on a task's id, a sandbox's id or name, or a
// subject; nil when the pass did not see it.
func (r *Result) Decision(id string, h History) *Decision {
	wanted := map[string]bool{id: true}
	for _, b := range h.Sandboxes {
		wanted["task:"+b.Task] = b.Task != ""
	}
	var linked *Decision
	for i := range r.Judged.Decisions {
		d := &r.Judged.Decisions[i]
		if d.Subject.named(id) {
			return d
		}
		if wanted[d.Subject.ID] {
			linked = d
		}
	}
	return linked
}

// named reports whether a person who says id means this subject.
func (s *Subject) named(id string) bool {
	if s.ID == id || s.Task != nil && (s.Task.ID == id || s.Task.Sandbox == id && id != "") {
		return true
	}
	return s.hasBox(func(b *Box) bool { return b.ID == id || b.Name == id || b.Ref.String() == id })
}
