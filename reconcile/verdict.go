package reconcile

import (
	"time"
)

// The bounds of looking for false positives.
const (
	WatchFor            = 2 * time.Hour // so long after its verdict a task may come back to life
	WatchMost           = 500           // rows read for it in one pass
	FalsePositivesMost  = 2             // percent of a rule's verdicts; more, and it goes back to observe
	FalsePositivesLeast = 3             // fewer prove nothing
)

// A Verdict is one finding that came due and that no freeze and no doubt held: what enforce
// acts on and what observe would have acted on. Verdicts are what incidents are made of, and
// each verdict on a task is watched for a while: life afterwards is a [FalsePositive].
type Verdict struct {
	Number    int64 // the ledger's; 0 for a new one
	Rule      string
	Subject   string
	Task      string
	Provider  string
	Sandbox   string
	Template  string
	Region    string
	Kinds     []string // labels of its sandbox, see [Sandbox.KindsOf]; not read back with the verdict
	Worker    string   // version of the worker, where the row tells
	Error     string   // normalised, see [Normalise]
	Signature string   // names the class of the failure; "" for clean-up, which forms no incident
	Reason    string
	At        time.Time     // ledger's clock
	Began     time.Time     // ledger's clock: when what it found began; zero when not known
	Late      time.Duration // how long after its threshold had passed; only with Began
	TaskAt    time.Time     // task database's clock
	Sign      time.Time     // newest sign of life that was known then (task database's clock)
	Attempt   uint64        // hash of what changes when the task is handed out again
	Enforced  bool          // the rule may act on this subject: its mode is enforce
	Cost      float64       // USD: what its sandbox had cost by then
	PerHour   float64       // USD: what it costs on

	ActedAt         time.Time // when a step of ours repaired what it found; zero while none did
	FailedAt        time.Time // when our own write failed or requeued the task; zero while it did not
	Over            bool      // not watched any more
	FalsePositiveAt time.Time // zero when there is none
	FalsePositive   string    // what was seen
}

// A FalsePositive is life that a task showed after a verdict that called it dead: a measured false
// positive.
type FalsePositive struct {
	Verdict int64 // its number
	Rule    string
	At      time.Time // ledger's clock
	What    string    // what was seen
}

// A Tally counts verdicts of a rule and the regrets among them.
type Tally struct{ Verdicts, FalsePositives int }

// A Demotion lowers a rule to observe because of its regrets.
type Demotion struct{ Rule, Reason string }

// An Incident is many failures of work with one cause, shown as one thing. While it is open
// and not released it holds further terminates and requeues of its signature.
type Incident struct {
	ID        string // short and speakable: "i-3k9f2"
	Signature string
	Rule      string
	Provider  string
	Template  string
	Error     string // normalised
	Cause     string // the probable one, in one sentence; "" when nothing stands out
	Evidence  []Evidence
	OpenedAt  time.Time // ledger's clock, like all here
	FirstSeen time.Time // of its first failure
	LastSeen  time.Time // of its newest failure
	ClosedAt  time.Time // zero while it is open
	Count     int       // failures so far
	Cost      float64   // USD of the sandboxes of its failures so far

	ReleasedAt time.Time // zero while it holds
	ReleasedBy Attribution

	AckedAt time.Time   // zero until somebody looks after it
	AckedBy Attribution // who says so, and why; it holds and lets go nothing
}

// Holds reports whether the incident holds further terminates and requeues of its signature.
func (in *Incident) Holds() bool { return in.ClosedAt.IsZero() && in.ReleasedAt.IsZero() }
