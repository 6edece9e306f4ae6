package reconcile

import (
	"slices"
	"time"
)

// A rule finds one kind of disagreement. Its find is a pure function of one subject and of
// what the whole fleet says.
type rule struct {
	name string
	find func(*view, *Subject) answer
	rest rest
	// fullOnly rules are judged by full passes alone: they rest on a listing.
	fullOnly bool
}

// rest says which sources a rule's verdict rests on. An untrusted one holds it.
type rest struct {
	tasks, link, events, listing, probes, activity bool
}

// rules is the ordered table. A database that may be the wrong one drives no change at
// all, so every rule that rests on a row rests on the tasks; deadlines and stops are
// authoritative and rest on nothing else. All findings of a subject are recorded; the first that may
// act decides.
var rules = []rule{
	{name: "finished-unrecorded", find: finishedUnrecorded},
	{name: "assigned-stale", find: assignedStale, rest: rest{tasks: true, link: true, events: true, listing: true}},
	{name: "sandbox-missing", find: sandboxMissing, rest: rest{tasks: true, link: true, listing: true}},
	{name: "heartbeat-lost", find: heartbeatLost, rest: rest{tasks: true, events: true, listing: true}},
	{name: "inactive", find: inactive, rest: rest{tasks: true, events: true, listing: true, activity: true}},
	{name: "deadline-exceeded", find: deadlineExceeded, rest: rest{tasks: true}},
	{name: "stop-ignored", find: stopIgnored, rest: rest{tasks: true}},
	{name: "finished-lingering", find: finishedLingering, rest: rest{tasks: true, listing: true}},
	{name: "pending-stuck", find: pendingStuck, rest: rest{tasks: true}},
	{name: "looping", find: looping, rest: rest{tasks: true}},
	{name: "orphan", find: orphan, rest: rest{tasks: true, link: true, listing: true}, fullOnly: true},
	{name: "duplicate", find: duplicate, rest: rest{tasks: true, link: true, listing: true}, fullOnly: true},
	{name: "record-without-container", find: recordWithoutContainer, rest: rest{listing: true}, fullOnly: true},
	{name: "provisioning-stuck", find: provisioningStuck, rest: rest{tasks: true, listing: true}},
	{name: "idle-broken", find: idleBroken, rest: rest{tasks: true, probes: true, listing: true}},
	{name: "executions-stuck", find: executionsStuck, rest: rest{tasks: true, probes: true, listing: true}},
	{name: "errored", find: errored, rest: rest{listing: true}},
	{name: "over-age", find: overAge, rest: rest{listing: true}, fullOnly: true},
	{name: "terminating-stuck", find: terminatingStuck, rest: rest{listing: true}, fullOnly: true},
	{name: "runaway", find: runaway, rest: rest{tasks: true, listing: true}, fullOnly: true},
}

// A ruled is a rule with its settings.
type ruled struct {
	*rule
	policy RulePolicy
}

// activeRules are the rules that a pass of this kind judges.
func activeRules(kind PassKind, p *Policy) []ruled {
	active := make([]ruled, 0, len(rules))
	for i := range rules {
		r := ruled{&rules[i], p.Rules[rules[i].name]}
		if r.policy.Mode != Off && r.policy.Mode != "" && (kind == Full || !r.fullOnly) {
			active = append(active, r)
		}
	}
	return active
}

// RuleNames are all rules that the config knows, in the order of the design.
var RuleNames = []string{
	"finished-unrecorded", "assigned-stale", "sandbox-missing", "heartbeat-lost", "inactive",
	"deadline-exceeded", "stop-ignored", "finished-lingering", "pending-stuck", "looping", "orphan",
	"duplicate", "record-without-container", "provisioning-stuck", "idle-broken", "executions-stuck",
	"errored", "over-age", "terminating-stuck", "runaway", "template-unusable", "systemic", "capacity",
}

// fleetRules are about the whole fleet and not about one subject: their findings are reports.
var fleetRules = []string{"template-unusable", "systemic", "capacity"}

// BuiltRules are the rules that this version judges.
func BuiltRules() []string {
	built := make([]string, 0, len(rules)+len(fleetRules))
	for _, r := range rules {
		built = append(built, r.name)
	}
	return append(built, fleetRules...)
}

// fullOnly reports whether only full passes judge by the rule of this name.
func fullOnly(name string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.name == name && r.fullOnly })
}

// An answer is what one rule says of one subject.
type answer struct {
	found    bool
	due      bool // past the rule's threshold
	sandbox  *Box // the one that it is about; nil for the task
	reason   string
	evidence []Evidence
	kept     string // suspected, and judged healthy because of this
	well     string // why it is plainly healthy; only while a view is telling
	look     bool   // wants a direct look before it can say more
	probe    bool   // wants a probe
	holds    []string

	sightings  int  // how many sightings make it due; 0 means that one look is enough
	conclusive bool // does not rest on the silence of events
	veto       bool // forbids every fail and requeue of the row
	report     bool // never acted on, whatever the remedy

	ago time.Duration // how long ago what it finds began: the stop, the deadline, the last life sign; 0 when not known
}

// fine is the answer that there is nothing to find, in words that need no numbers.
func fine(why string) answer { return answer{well: why} }

// no is the answer that there is nothing to find. The words are made only when somebody asks
// for them: a pass does not pay for them.
func (v *view) no(why func() string) answer {
	if !v.telling {
		return answer{}
	}
	return answer{well: why()}
}

// apart is the answer on a subject that is not of the kind that the rule judges.
func (v *view) apart(s *Subject, only string) answer {
	if !v.telling {
		return answer{}
	}
	return answer{well: "only " + only + " judged by this rule; " + s.kind()}
}

// kind says in words what kind of subject it is.
func (s *Subject) kind() string {
	switch {
	case s.Task == nil:
		return "this is a sandbox without a task"
	case s.Fate == FateLive || s.Fate == FateEnded:
		return "this task is " + firstOf(string(s.Task.State), "in a status that is not mapped")
	}
	return "this task is outside of what may be judged"
}
