// Package memory is a ledger without a database: the same promises, kept in maps under a
// mutex. It is for simulations and tests. It does no I/O, reads no clock but the one it is
// given, and the same calls always give the same answers.
package memory

import (
	"context"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// A Ledger is a [reconcile.Ledger] in memory. Several passes may share one, as replicas
// share a database.
type Ledger struct {
	*shelf
	Operators
}

// Operators is what people ask for: modes, pauses, holds, arms, releases, and steps by name.
type Operators struct{ *shelf }

// A shelf is what the parts of a ledger share.
type shelf struct {
	gate
	tables
	seals protocol.Seals
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

// New makes an empty ledger on this clock.
func New(clock func() time.Time) *Ledger {
	g := &shelf{gate: gate{clock: clock}, tables: newTables()}
	return &Ledger{g, Operators{g}}
}

// Seal puts the keys of the operators in force, see [protocol.Seals].
func (g *Ledger) Seal(keys [][]byte) { g.seals.Keys = keys }

// Now reads the ledger's clock.
func (g *Ledger) Now(ctx context.Context) (time.Time, error) { return g.now(), ctx.Err() }

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
