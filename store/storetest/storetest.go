// Package storetest holds the promises that every ledger keeps, as tests: the one in
// PostgreSQL and the one in memory pass the same suite, so that what a simulation proves
// with the second is true of the first.
package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Ledger is what the suite tests: what a pass needs, what operators ask for, what people
// read, and retention.
type Ledger interface {
	reconcile.Ledger
	reconcile.Notices

	SetMode(ctx context.Context, rule string, mode reconcile.Mode, by reconcile.Attribution) error
	ClearMode(ctx context.Context, rule string, by reconcile.Attribution) error
	Arm(ctx context.Context, rule string, by reconcile.Attribution) error
	Disarm(ctx context.Context, rule string, by reconcile.Attribution) error
	SaveProofs(ctx context.Context, kind reconcile.ProofKind, proofs []reconcile.Proof) error
	SaveLearned(ctx context.Context, all []reconcile.Learned) error
	Pause(ctx context.Context, p reconcile.Pause) error
	Resume(ctx context.Context, scope string, by reconcile.Attribution) error
	Hold(ctx context.Context, h reconcile.Hold) (int64, error)
	Unhold(ctx context.Context, target string, by reconcile.Attribution) (int, error)
	Release(ctx context.Context, r reconcile.Release) (int64, error)

	Ask(ctx context.Context, by reconcile.Attribution, actions []reconcile.Action, withdraw []string) (
		[]reconcile.Action, error)
	Note(ctx context.Context, by reconcile.Attribution, subject, what string) error
	ReleaseIncident(ctx context.Context, id string, by reconcile.Attribution) error

	PlantCanary(ctx context.Context, c reconcile.Canary, p reconcile.CanaryPolicy) (bool, error)
	CanaryPlanted(ctx context.Context, name, sandbox, failed string) error

	Incidents(ctx context.Context, most int) ([]reconcile.Incident, error)
	Incident(ctx context.Context, id string) (reconcile.Incident, error)
	Affected(ctx context.Context, id string) ([]reconcile.Verdict, error)
	Report(ctx context.Context, since time.Duration) ([]reconcile.RuleReport, error)
	Subject(ctx context.Context, id string) (reconcile.History, error)
	LastPasses(ctx context.Context, n int) ([]reconcile.PassSeen, error)
	OpenFindings(ctx context.Context) ([]reconcile.FindingSeen, error)
	Counters(ctx context.Context) ([]reconcile.Counter, error)
	Overview(ctx context.Context, most int) (reconcile.Overview, error)
	Measures(ctx context.Context) (reconcile.Measures, error)
	Purge(ctx context.Context, before time.Time, batch int) (int64, error)
}

// Run tests the ledger that open makes: empty, migrated, and on the clock it is given.
func Run(t *testing.T, open func(t *testing.T, clock func() time.Time) Ledger) {
	for _, promises := range []map[string]func(*bench){
		leases, fences, lasts, memories, findings, outbox, claims, settlements, confirms, workers, budgets, probes, totals,
		controls, histories, overviews, measurements, purges,
		quarantines, asks, verdicts, tallies, incidents, notices, scores, reports, measurementsKept, canaries,
	} {
		for _, name := range slices.Sorted(maps.Keys(promises)) {
			t.Run(name, func(t *testing.T) {
				promises[name](newBench(t, open))
			})
		}
	}
}

// noon is when every test begins.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// by signs the operators' requests.
var by = reconcile.Attribution{Author: "ana", Reason: "drill"}

// A bench is one empty ledger on a clock that the test moves, with its pass lease taken.
type bench struct {
	*testing.T
	Ledger
	clock *clock
	lease reconcile.Lease
}

func newBench(t *testing.T, open func(t *testing.T, clock func() time.Time) Ledger) *bench {
	c := &clock{now: noon}
	b := &bench{T: t, Ledger: open(t, c.read), clock: c}
	b.lease = b.take("one")
	return b
}

// take takes the lease for a day, which is longer than every test but those of leases.
func (b *bench) take(holder string) reconcile.Lease {
	b.Helper()
	l, err := b.TakeLease(b.Context(), holder, 24*time.Hour)
	b.must(err)
	return l
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("error = %v, want none", err)
	}
}

// refused wants an error that wraps want, when that is not nil, and says said.
func (b *bench) refused(err, want error, said string) {
	b.Helper()
	if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), said) {
		b.Errorf("error = %v, want one that wraps %q and says %q", err, want, said)
	}
}

// Remembers compares what a memory remembers as the map that it is.
var Remembers = cmp.Options{
	cmp.Transformer("tasks", func(r reconcile.RememberedTasks) map[string]reconcile.TaskSeen {
		return maps.Collect(r.All())
	}),
	cmp.Transformer("sandboxes",
		func(r reconcile.RememberedSandboxes) map[reconcile.Ref]reconcile.SandboxSeen {
			return maps.Collect(r.All())
		}),
}

// equal compares by value; times by the instant, and no list with an empty one.
func (b *bench) equal(what string, got, want any) {
	b.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), Remembers); diff != "" {
		b.Errorf("%s differ (-want +got):\n%s", what, diff)
	}
}

func (b *bench) recall() reconcile.Memory {
	b.Helper()
	m, err := b.Recall(b.Context())
	b.must(err)
	return m
}

// begin begins a quick pass.
func (b *bench) begin() int64 {
	b.Helper()
	id, err := b.BeginPass(b.Context(), b.lease, reconcile.Quick, b.clock.read())
	b.must(err)
	return id
}

// pass makes a complete quick pass that comes to r.
func (b *bench) pass(r reconcile.Record) int64 {
	b.Helper()
	return b.passOf(reconcile.Quick, true, r)
}

func (b *bench) passOf(kind reconcile.PassKind, complete bool, r reconcile.Record) int64 {
	b.Helper()
	id, err := b.BeginPass(b.Context(), b.lease, kind, b.clock.read())
	b.must(err)
	r.Pass, r.Kind, r.At, r.Complete = id, kind, b.clock.read(), complete
	b.must(b.Record(b.Context(), b.lease, r))
	return id
}

// plan makes a pass that plans these actions.
func (b *bench) plan(actions ...reconcile.Action) int64 {
	b.Helper()
	return b.pass(reconcile.Record{Actions: actions})
}

// claim claims an action with budgets that hold nothing.
func (b *bench) claim(id string) (reconcile.Action, error) {
	return b.Claim(b.Context(), b.lease, wide(id))
}

// wide is a claim with budgets that hold nothing.
func wide(id string) reconcile.Claim {
	return reconcile.Claim{Action: id, Pass: 1, TTL: 15 * time.Second, Total: 1000, Shared: 1000, Hour: 1000}
}

func (b *bench) claimed(id string) reconcile.Action {
	b.Helper()
	a, err := b.claim(id)
	b.must(err)
	return a
}

// settled claims and settles an action.
func (b *bench) settled(id string, o reconcile.Outcome) {
	b.Helper()
	a := b.claimed(id)
	a.Outcome, a.ActedAt = o, b.clock.read()
	b.must(b.Settle(b.Context(), b.lease, a))
}

// open are the ids of the open actions, in their order.
func (b *bench) open() []string {
	b.Helper()
	actions, err := b.OpenActions(b.Context())
	b.must(err)
	ids := column(actions)
	for _, a := range actions {
		own, err := b.OpenActions(b.Context(), a.Remedy)
		b.must(err)
		want := slices.DeleteFunc(slices.Clone(actions), func(o reconcile.Action) bool { return o.Remedy != a.Remedy })
		if !slices.Equal(column(own), column(want)) {
			b.Errorf("the open actions of remedy %s are %v, want %v", a.Remedy, column(own), column(want))
		}
	}
	return ids
}

func column(actions []reconcile.Action) (ids []string) {
	for _, a := range actions {
		ids = append(ids, a.ID)
	}
	return ids
}

// orphan is a remedy of one step: terminate the sandbox.
func orphan(id string) reconcile.Action {
	return reconcile.Action{
		ID: id, Remedy: id, Rule: "orphan", Subject: "sandbox:daytona/sb-" + id, Provider: "daytona", Sandbox: "sb-" + id,
		Step: reconcile.StepTerminate, Reason: "no task names it", PlannedAt: noon,
		Evidence: []reconcile.Evidence{{Source: "daytona", At: noon, Fact: "running"}},
	}
}

// failing is the first step of a remedy: fail the task.
func failing(id string) reconcile.Action {
	return reconcile.Action{
		ID: id, Remedy: id, Rule: "heartbeat-lost", Subject: "task:" + id, Task: id,
		Step: reconcile.StepFail, Reason: "no heartbeat", PlannedAt: noon,
	}
}

// ending is a later step of a remedy: terminate a sandbox of the task.
func ending(remedy string, seq int, sandbox string) reconcile.Action {
	return reconcile.Action{
		ID: remedy + "-" + sandbox, Remedy: remedy, Seq: seq, Rule: "heartbeat-lost", Subject: "task:" + remedy,
		Provider: "daytona", Sandbox: sandbox, Task: remedy, Step: reconcile.StepTerminate, PlannedAt: noon,
	}
}

// A clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
