package reconcile

import (
	"fmt"
	"time"
)

// A Finding is one rule's verdict on one subject. It opens, is seen again, and resolves.
type Finding struct {
	Rule     string
	Subject  string // "task:ID", "sandbox:PROVIDER/ID" or "template:PROVIDER/NAME"
	Provider string
	Sandbox  string
	Task     string
	Reason   string // one sentence for people: what was seen
	Evidence []Evidence

	FirstSeen time.Time // of the ledger's clock; restarts after an outage
	LastSeen  time.Time
	SightedAt time.Time // the last look that counted as a sighting
	Sightings int

	// Began is when what it finds began (the stop, the deadline, the last sign of life), by the
	// ledger's clock; zero when that is not known. It is not kept.
	Began  time.Time
	Due    bool   // past every threshold
	HeldBy HeldBy // what keeps a due finding from being repaired; empty when it may be

	Incident string // id of the open incident that it belongs to; "" for none
}

// Evidence is one observed fact that a verdict rests on: who said it and when.
type Evidence struct {
	Source string    `json:"source"` // tasks, events, ledger, or a provider entry's name
	At     time.Time `json:"at"`     // of the source's own clock
	Fact   string    `json:"fact"`

	// About is the subject that the fact names, which may be another than the verdict's; "" for none.
	About string `json:"about,omitempty"`
}

// Key names the finding: at most one is open per rule and subject.
func (f Finding) Key() FindingKey { return FindingKey{f.Rule, f.Subject} }

// A FindingKey identifies an open finding.
type FindingKey struct{ Rule, Subject string }

// A Step is one recorded change of the outside world.
type Step string

// The steps of remedies.
const (
	StepFail      Step = "fail"      // the task row is set to failed
	StepRequeue   Step = "requeue"   // the task row is set back to pending
	StepTerminate Step = "terminate" // the sandbox is ended, by its immutable id

	StepQuarantine Step = "quarantine" // the sandbox is stopped or paused, and can come back
	StepResume     Step = "resume"     // a quarantined sandbox is brought back
	StepRestore    Step = "restore"    // the task row is set back to what it was before our own write
	StepActivate   Step = "activate"   // an inactive template is made usable again
)

// The names that actions of an operator carry in the place of a rule's.
const (
	RuleOperator  = "operator"  // one thing, asked for by a person: terminate, restore
	RuleEmergency = "emergency" // the emergency clean-up
)

// AskedRules stand for a rule where an operator asked.
var AskedRules = []string{RuleOperator, RuleEmergency}

// An Outcome says what became of a step.
type Outcome string

// The outcomes of a step.
const (
	OutcomePending   Outcome = "pending"   // recorded, not begun or not settled
	OutcomeDone      Outcome = "done"      // the row was written
	OutcomeAccepted  Outcome = "accepted"  // the provider took the request, it is not confirmed
	OutcomeConfirmed Outcome = "confirmed" // the provider, asked again, says gone or terminal
	OutcomeWithdrawn Outcome = "withdrawn" // looked again, the verdict no longer holds
	OutcomeFailed    Outcome = "failed"    // given up, with the reason
)

// How is in which way an action came to its outcome, where something later depends on that. Its Detail says it in
// words.
type How string

// The ways that something depends on.
const (
	HowRefused   How = "refused"    // the provider will not do it, and is asked again later
	HowAdopted   How = "adopted"    // the sandbox was on its way out, and sandkeeper had not asked for it
	HowUnsure    How = "unsure"     // it was on its way out, and whether an earlier attempt of ours had asked is not known
	HowUnheard   How = "unheard"    // it goes or is gone, and of what we had asked no answer said that it was heard
	HowAnew      How = "anew"       // withdrawn, tried before: the task has begun anew, and that attempt may be why
	HowVanished  How = "vanished"   // withdrawn, tried before: the row is gone, and that attempt may have written it
	HowTakenBack How = "taken-back" // withdrawn by the operator that the Detail names
)

// Words are the detail that says so, where no more is to be said; else "".
func (h How) Words() string {
	switch h {
	case HowAdopted:
		return "is being deleted already, and sandkeeper had not asked for it"
	case HowUnsure:
		return "is being deleted already, and whether an earlier attempt asked for it is not known"
	case HowUnheard:
		return "is being deleted already, and no answer said that what was asked for was heard"
	case HowAnew:
		return "the task has begun anew since it was planned and tried"
	}
	return ""
}

// Closed reports whether an action with this outcome needs nothing more.
func (o Outcome) Closed() bool {
	return o == OutcomeDone || o == OutcomeConfirmed || o == OutcomeWithdrawn || o == OutcomeFailed
}

// An Action is one step of a remedy, recorded before it is done (the outbox). It is the
// right to do it, once claimed, and the record that it was done. Its fields come in the order
// of its life: planned or asked for, claimed, done, settled.
type Action struct {
	ID     string // also the mark on the task row, see [Mark]
	Remedy string // id of the remedy's first action; budgets count remedies
	Seq    int    // 0 for the first step of the remedy

	// Planned by a pass, or asked for by an operator.
	Pass      int64 // the pass that planned it
	PlannedAt time.Time
	Rule      string
	Subject   string
	Provider  string // "" for a step on a task row alone
	Sandbox   string // the provider's immutable id; "" for a step on a task row
	Task      string
	Step      Step
	Reason    string
	Evidence  []Evidence
	RowOnly   bool      // destroys nothing: free of share and breaker
	Began     time.Time // see [Finding]
	Signature string    // of the failure, see [Verdict]; an open incident of it holds terminates and requeues

	// What the operator who asked for it said.
	Author   string // "" for one that a pass planned
	Running  bool   // also while a task runs in it
	Anyway   bool   // also while a source is not trusted
	Seal     string // the request's signature by the operator key
	Unsigned string // why that is not good enough, found by the ledger that is asked; not kept

	// Claimed by who may do it. These and all times below are of the ledger's clock.
	ClaimedAt   time.Time
	ClaimedBy   string // holder; "" when free
	ClaimEnds   time.Time
	Attempts    int
	NextAttempt time.Time // not to be claimed before

	// Done: the outside call.
	ActedAt    time.Time  // it was made, the newest time
	FirstActed time.Time  // the first time; the ledger keeps it
	AskedAt    time.Time  // the newest time, asking again for what was accepted included
	Asks       int        // how often it was asked; the ledger counts
	Before     *RowBefore // fail and requeue: the row before our write, for restore

	// Settled.
	Outcome  Outcome
	Detail   string // why it was withdrawn, failed, or what the provider said
	How      How
	WaitsFor HeldBy // what holds one that was looked at and left open, where something does
	ClosedAt time.Time
	Announce bool // settle also writes a [Notice] of it; not kept
}

// String is the finding as one line for logs and terminals.
func (f Finding) String() string { return fmt.Sprintf("%s %s: %s", f.Rule, f.Subject, f.Reason) }

// Begun reports whether somebody has ever claimed the action.
func (a *Action) Begun() bool { return !a.ClaimedAt.IsZero() || a.Attempts > 0 }

// A StepKey names a step; at most one action of it is open.
type StepKey struct {
	Step         Step
	Task         string
	Provider, Id string
}

// FirstStarted is when the provider was asked the first time.
func (a *Action) FirstStarted() time.Time {
	for _, at := range []time.Time{a.FirstActed, a.ActedAt} {
		if !at.IsZero() {
			return at
		}
	}
	return a.PlannedAt
}

// LastActed is when the provider was asked last.
func (a *Action) LastActed() time.Time { return Latest(a.AskedAt, a.ActedAt, a.FirstStarted()) }
