// Package memory is a ledger without a database: the same promises, kept in maps under a
// mutex. It is for simulations and tests. It does no I/O, reads no clock but the one it is
// given, and the same calls always give the same answers.
package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// A Ledger is a [reconcile.Ledger] in memory. Several passes may share one, as replicas
// share a database.
type Ledger struct {
	clock func() time.Time

	mu         sync.Mutex
	lease      reconcile.Lease
	watchSince time.Time
	known      []string
	passes     []reconcile.PassSeen // by number, which is never given twice
	lastPass   int64
	tasks      map[string]task
	sandboxes  map[reconcile.Ref]reconcile.SandboxSeen
	findings   []*reconcile.FindingSeen // in the order of opening
	open       map[reconcile.FindingKey]*reconcile.FindingSeen
	actions    map[string]action
	probes     []reconcile.ProbeResult
	sums       map[reconcile.Ref]reconcile.ProbeSeen
	minutes    map[string]protocol.Minute
	templates  map[reconcile.Ref]reconcile.TemplateSeen
	sources    map[string]reconcile.SourceSeen
	modes      map[string]reconcile.Mode
	lowered    map[string]reconcile.Lowering
	armed      map[string]int64    // the newest verdict before the rule was armed last
	verdicts   []reconcile.Verdict // by number
	incidents  map[string]reconcile.Incident
	notices    map[string]notice
	hours      map[hourSum]int64
	numbered   int64 // the last verdict's
	pauses     []reconcile.Pause
	holds      []reconcile.Hold
	releases   []reconcile.Release
	lastWish   int64
	breakers   map[string]reconcile.Breaker
	timeline   []reconcile.TimelineEvent
	counters   map[counter]int64
}

var _ reconcile.Ledger = (*Ledger)(nil)

type task struct {
	reconcile.TaskSeen
	changedAt time.Time
}

// An action with what the ledger alone knows of it: the lease of its last claim, 0 for a
// worker's, and when and in which pass its remedy was begun.
type action struct {
	reconcile.Action
	epoch       int64
	begunAt     time.Time
	begunPass   int64
	begunShared bool
}

type counter struct{ name, rule, provider, what string }

// New makes an empty ledger on this clock.
func New(clock func() time.Time) *Ledger {
	return &Ledger{
		clock:     clock,
		tasks:     map[string]task{},
		sandboxes: map[reconcile.Ref]reconcile.SandboxSeen{},
		open:      map[reconcile.FindingKey]*reconcile.FindingSeen{},
		actions:   map[string]action{},
		sums:      map[reconcile.Ref]reconcile.ProbeSeen{},
		minutes:   map[string]protocol.Minute{},
		templates: map[reconcile.Ref]reconcile.TemplateSeen{},
		sources:   map[string]reconcile.SourceSeen{},
		modes:     map[string]reconcile.Mode{},
		lowered:   map[string]reconcile.Lowering{},
		armed:     map[string]int64{},
		incidents: map[string]reconcile.Incident{},
		notices:   map[string]notice{},
		hours:     map[hourSum]int64{},
		breakers:  map[string]reconcile.Breaker{},
		counters:  map[counter]int64{},
	}
}

// Now reads the ledger's clock.
func (g *Ledger) Now(ctx context.Context) (time.Time, error) { return g.now(), ctx.Err() }

// now is the clock, as fine as the database would keep it.
func (g *Ledger) now() time.Time { return g.clock().UTC().Truncate(time.Microsecond) }

// locked runs do alone. A canceled caller changes nothing, as with a database.
func (g *Ledger) locked(ctx context.Context, do func(now time.Time) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return do(g.now())
}

// fenced runs do alone while the lease stands.
func (g *Ledger) fenced(ctx context.Context, l reconcile.Lease, do func(now time.Time) error) error {
	return g.locked(ctx, func(now time.Time) error {
		if err := protocol.Fence(g.lease, l, now); err != nil {
			return err
		}
		return do(now)
	})
}

// working is fenced for what a worker may do as well.
func (g *Ledger) working(ctx context.Context, l reconcile.Lease, do func(now time.Time) error) error {
	return g.locked(ctx, func(now time.Time) error {
		if err := protocol.FenceWork(g.lease, l, now); err != nil {
			return err
		}
		return do(now)
	})
}

func (g *Ledger) count(name, rule, provider, what string) {
	g.counters[counter{name, rule, provider, what}]++
}

// countHourly is count, kept by the hour as well.
func (g *Ledger) countHourly(c reconcile.Counter, now time.Time) {
	g.counters[counter{c.Name, c.Rule, c.Provider, c.What}] += c.Value
	g.hours[hourSum{protocol.HourOf(now), c.Name, c.What}] += c.Value
}

type hourSum struct {
	hour       time.Time
	name, what string
}

func (g *Ledger) tell(events ...reconcile.TimelineEvent) {
	g.timeline = append(g.timeline, events...)
}

// sorted are the wanted values of a map in the order that compare gives them: iteration
// must not depend on chance.
func sorted[K comparable, V any](m map[K]V, compare func(a, b V) int, wanted func(V) bool) []V {
	var values []V
	for _, v := range m {
		if wanted(v) {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, compare)
	return values
}
