package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Ledger is all that the janitor needs of sandkeeper's own tables. Every write takes the lease
// and is refused with [ErrFenced] when another holder has taken over since. Who opens a ledger
// has all of it; who uses it takes the parts it needs.
type Ledger interface {
	Clock
	Leases
	Memories
	Passes
	Actions
	Probes
}

// A Clock tells the time of the ledger.
type Clock interface {
	// Now reads the ledger's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Leases are the right to run passes, which one process has at a time.
type Leases interface {
	// TakeLease takes the pass lease, or fails with a [HeldError] that says who holds it.
	// Taking it frees the claims of the holder before.
	TakeLease(ctx context.Context, holder string, ttl time.Duration) (Lease, error)
	// RenewLease extends it by ttl from now.
	RenewLease(ctx context.Context, l Lease, ttl time.Duration) error
	// DropLease gives it up at once.
	DropLease(ctx context.Context, l Lease) error
}

// Memories are what passes before have left.
type Memories interface {
	// Recall reads what is known, in one snapshot. It works with a read-only role and
	// returns a fresh Memory when the schema does not exist yet.
	Recall(ctx context.Context) (Memory, error)
	// Sources reads the trust in the sources as the last pass left it; none when the schema
	// does not exist yet.
	Sources(ctx context.Context) (map[string]SourceSeen, error)
}

// Passes are the passes on record.
type Passes interface {
	// LastBegan reads when the newest pass of a kind began that also ended, complete or not,
	// and the ledger's now. A full pass counts as a quick one too. Zero means never.
	LastBegan(ctx context.Context, kind PassKind) (began, now time.Time, err error)
	// LastRecorded reads the number of the newest pass that ended; 0 when none did.
	LastRecorded(ctx context.Context) (int64, error)
	// BeginPass records that a pass has begun and gives it its number.
	BeginPass(ctx context.Context, l Lease, kind PassKind, at time.Time) (int64, error)
	// Record writes everything that a pass came to, in one transaction, and finishes the
	// pass. Actions that are already open for their subject and step are left as they are.
	Record(ctx context.Context, l Lease, r Record) error
}

// Actions are the steps that passes have planned, and the right to carry them out.
type Actions interface {
	// OpenActions reads the actions that are not closed, of these remedies or of all, oldest remedy first.
	OpenActions(ctx context.Context, remedies ...string) ([]Action, error)
	// Controls reads the operators' requests that are in force, to be looked at again right
	// before each action.
	Controls(ctx context.Context) (Controls, error)
	// Claim takes the right to carry out an action, reserving its budget in the same
	// transaction. Refusals wrap [ErrHeld] and say what holds it.
	Claim(ctx context.Context, l Lease, c Claim) (Action, error)
	// RenewClaim extends a claim that still stands.
	RenewClaim(ctx context.Context, l Lease, a Action, ttl time.Duration) error
	// Settle writes what became of a claimed action and frees the claim.
	Settle(ctx context.Context, l Lease, a Action) error
	// Confirm closes many terminations at once that were seen to be over: of these those that the provider accepted and
	// that nobody has claimed, as Claim and Settle of each would. It returns them; of the others it says nothing.
	Confirm(ctx context.Context, l Lease, ids []string) ([]Action, error)
}

// Probes are the results of probes, and the budget of further ones.
type Probes interface {
	// SaveProbes adds probe results.
	SaveProbes(ctx context.Context, l Lease, results []ProbeResult) error
	// ReserveProbes takes up to want probes out of the provider's budget for this minute
	// and returns how many it got.
	ReserveProbes(ctx context.Context, l Lease, provider string, want, perMinute int) (int, error)
}

// A Lease is the right to run passes, until it ends or is taken over.
type Lease struct {
	Holder string
	Epoch  int64 // rises with each new holder; fences every write; 0 for a worker
	Until  time.Time
	At     time.Time // when it was taken or renewed last
}

// WorkerLease is what a process works under that carries out actions and probes beside the
// passes, which others may run meanwhile. It is no right to run a pass. A claim under it
// stands for itself: nobody can take it over, it ends by its time.
func WorkerLease(holder string) Lease { return Lease{Holder: holder} }

// Worker reports whether this is a [WorkerLease].
func (l Lease) Worker() bool { return l.Epoch == 0 }

// A HeldError says who holds a lease. It wraps [ErrHeld].
type HeldError struct {
	Holder string
	Until  time.Time
}

// Error says who holds the lease and until when.
func (e *HeldError) Error() string {
	return fmt.Sprintf("pass lease held by %s until %s", e.Holder, text.Time(e.Until))
}

// Unwrap makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Unwrap() error { return ErrHeld }

// A ClaimError says what holds an action that may not be claimed now. It wraps [ErrHeld].
type ClaimError struct{ By Held }

// Error says what holds it.
func (e *ClaimError) Error() string { return ErrHeld.Error() + ": " + e.By.String() }

// Unwrap makes errors.Is(err, ErrHeld) true.
func (e *ClaimError) Unwrap() error { return ErrHeld }

// A PassKind is quick or full.
type PassKind string

// The kinds of passes.
const (
	Quick PassKind = "quick" // live tasks and those that left; suspects are looked up one by one
	Full  PassKind = "full"  // also lists every provider
)

// A Record is everything that one pass writes.
type Record struct {
	Pass     int64
	Kind     PassKind
	At       time.Time // the ledger's now of the pass
	Complete bool
	Error    string // why it is not complete
	Kept     int
	Counts   map[string]int // "tasks:running", "sandboxes:daytona:running", "foreign:daytona", ...

	WatchSince time.Time
	Tasks      []TaskSeen        // changed ones only
	Sandboxes  []SandboxSeen     // changed ones only
	Heard      []*CompactTask    // further tasks that are new, or whose workers gave a sign
	Fresh      []*CompactSandbox // further sandboxes that are new
	Findings   []Finding         // all that were seen, open or new
	Resolved   []FindingKey      // were open, were not seen, and could have been judged
	Actions    []Action          // new
	Withdrawn  []string          // ids of open, unclaimed actions whose finding no longer holds
	Sources    []SourceSeen
	Templates  []TemplateSeen
	Breakers   map[string]Breaker // the open ones
	Known      []string           // rules that this version knows
	Events     []TimelineEvent
	Unsigned   []UnsignedRequest // told once each, however many passes meet them

	Verdicts       []Verdict       // new ones
	FalsePositives []FalsePositive // on verdicts on record
	Over           []int64         // numbers of verdicts that are not watched any more
	Incidents      []Incident      // opened, seen again or closed by this pass
	Demoted        []Demotion      // rules that go back to observe because of their false positives
	Tallies        []Counter       // amounts to be added to counters, and to those of the hour
	Measured       []Counter       // amounts to be added to counters alone
}

// A TimelineEvent is one line of a subject's history.
type TimelineEvent struct {
	At      time.Time `json:"at"` // ledger's clock
	Subject string    `json:"subject"`
	Kind    string    `json:"kind"` // seen, state, finding, resolved, action, probe, operator, source
	What    string    `json:"what"`
}

// A Claim asks for the right to carry out one action.
type Claim struct {
	Action string
	Pass   int64 // the pass on whose budget it goes
	TTL    time.Duration
	Total  int  // remedies that this pass may begin in all: per_pass
	Shared int  // of these, remedies that are not [Action.RowOnly]: share of the owned fleet, at least 1
	Hour   int  // remedies that may begin in a rolling hour, in all
	Lifted bool // makes room for a full quota: Shared neither holds it nor counts it
}
