package ledger

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestPassesGoBeforeProbes: two processes whose probes use up the rate hold up no pass of theirs. Counted are the probes
// that come through while a pass makes a call: in one line there would be all that wait, for each call. Where the
// machine stands still in between many come through, too, so that the calls count which it did not hold up.
func TestPassesGoBeforeProbes(t *testing.T) {
	const perSecond, waiting, calls = 200, 40, 15
	url := pgtest.Database(t)
	migrated(t, ledgerPool(t, url), nil)
	ctx, cancel := context.WithCancel(t.Context())
	var probed atomic.Int64
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	var first *Rate
	for range 2 {
		rate := NewRate(ledgerPool(t, url), "daytona", perSecond)
		first = rate
		for range waiting {
			all.Go(func() {
				for rate.Wait(reconcile.InLane(ctx, reconcile.LaneProbe)) == nil {
					probed.Add(1)
				}
			})
		}
	}
	for probed.Load() < waiting {
		if err := reconcile.Sleep(t.Context(), giveWay); err != nil {
			t.Fatal(err)
		}
	}
	var went []int64
	for range calls {
		before := probed.Load()
		if err := first.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		went = append(went, probed.Load()-before)
	}
	slices.Sort(went)
	if n := went[calls/4]; n > waiting/2 {
		t.Errorf("%d probes and more went before most calls of a pass, with %d waiting all the time: %v", n, 2*waiting, went)
	}
}

// TestNoLaneStarves: where calls of passes use up the rate, a probe and an action come through all the same.
func TestNoLaneStarves(t *testing.T) {
	pool, rate := rated(t, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for range 30 {
		all.Go(func() {
			for rate.Wait(ctx) == nil {
			}
		})
	}
	other := NewRate(pool, "daytona", 100)
	for _, lane := range []reconcile.Lane{reconcile.LaneAction, reconcile.LaneProbe} {
		if err := other.Wait(reconcile.InLane(t.Context(), lane)); err != nil {
			t.Errorf("lane %d: %v", lane, err)
		}
	}
}
