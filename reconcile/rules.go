package reconcile

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
	tasks, link, events, listing, probes bool
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
	{name: "deadline-exceeded", find: deadlineExceeded, rest: rest{tasks: true}},
	{name: "stop-ignored", find: stopIgnored, rest: rest{tasks: true}},
	{name: "finished-lingering", find: finishedLingering, rest: rest{tasks: true, listing: true}},
	{name: "orphan", find: orphan, rest: rest{tasks: true, link: true, listing: true}, fullOnly: true},
	{name: "duplicate", find: duplicate, rest: rest{tasks: true, link: true, listing: true}, fullOnly: true},
	{name: "provisioning-stuck", find: provisioningStuck, rest: rest{tasks: true, listing: true}},
	{name: "idle-broken", find: idleBroken, rest: rest{tasks: true, probes: true, listing: true}},
	{name: "errored", find: errored, rest: rest{listing: true}},
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

// BuiltRules are the rules that this version judges.
func BuiltRules() []string {
	built := make([]string, 0, len(rules)+1)
	for _, r := range rules {
		built = append(built, r.name)
	}
	return append(built, "template-unusable")
}

// An answer is what one rule says of one subject.
type answer struct {
	found    bool
	due      bool // past the rule's threshold
	sandbox  *Box // the one that it is about; nil for the task
	reason   string
	evidence []Evidence
	kept     string // suspected, and judged healthy because of this
	look     bool   // wants a direct look before it can say more
	probe    bool   // wants a probe
	holds    []string

	sightings  int  // how many sightings make it due; 0 means that one look is enough
	conclusive bool // does not rest on the silence of events
	veto       bool // forbids every fail and requeue of the row
	report     bool // never acted on, whatever the remedy
}
