package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var (
	ann  = reconcile.WorkerLease("ann")
	bert = reconcile.WorkerLease("bert")
)

// as is a claim by this holder, with budgets that hold nothing.
func (b *bench) as(l reconcile.Lease, id string) (reconcile.Action, error) {
	return b.Claim(b.Context(), l, wide(id))
}

// lost wants that a claim of l on a is no use any more.
func (b *bench) lost(l reconcile.Lease, a reconcile.Action) {
	b.Helper()
	b.refused(b.RenewClaim(b.Context(), l, a, time.Minute), reconcile.ErrFenced, "is no longer valid")
	a.Outcome = reconcile.OutcomeConfirmed
	b.refused(b.Settle(b.Context(), l, a), reconcile.ErrFenced, "is no longer valid")
}

// settles wants that l can still write down what became of a.
func (b *bench) settles(l reconcile.Lease, a reconcile.Action) {
	b.Helper()
	a.Outcome = reconcile.OutcomeConfirmed
	b.must(b.Settle(b.Context(), l, a))
}

// workers say what a process may do that works beside the passes.
var workers = map[string]func(*bench){
	"a worker does its work while another runs passes, or nobody does": func(b *bench) {
		for _, ids := range [][]string{{"a", "b"}, {"c", "d"}} {
			b.plan(orphan(ids[0]), orphan(ids[1]))
			if ids[0] == "c" {
				b.must(b.DropLease(b.Context(), b.lease))
			}
			a, err := b.as(ann, ids[0])
			b.must(err)
			b.equal("claimed by", []string{a.ClaimedBy, a.ClaimEnds.Sub(a.ClaimedAt).String()}, []string{"ann", "15s"})
			b.must(b.RenewClaim(b.Context(), ann, a, time.Minute))
			b.settles(ann, a)
			other, err := b.as(bert, ids[1])
			b.must(err)
			b.settles(bert, other)
			b.equal("open", b.open(), []string{})
			b.must(b.SaveProbes(b.Context(), ann, []reconcile.ProbeResult{probed(1, reconcile.Hung)}))
			got, err := b.ReserveProbes(b.Context(), ann, "daytona", 2, 10)
			b.must(err)
			b.equal("probes reserved", got, 2)
		}
	},
	"a worker runs no pass, though it has the name of the holder": func(b *bench) {
		pass := b.begin()
		before := b.recall()
		for _, l := range []reconcile.Lease{ann, reconcile.WorkerLease("one")} {
			w := writes(b, l, pass, reconcile.Action{})
			for _, name := range []string{"begin pass", "record", "renew lease", "drop lease"} {
				b.refused(w[name](), reconcile.ErrFenced, "without the pass lease")
			}
		}
		b.equal("memories", b.recall(), before)
		_, err := b.TakeLease(b.Context(), "two", time.Minute)
		b.refused(err, reconcile.ErrHeld, "held by one until 2026-11-22 12:00:00 UTC")
	},
	"a worker without a name may do nothing": func(b *bench) {
		pass := b.begin()
		b.plan(orphan("b"))
		before := b.recall()
		for name, write := range writes(b, reconcile.Lease{}, pass, orphan("b")) {
			b.refused(write(), reconcile.ErrFenced, "")
			b.equal("memories after the refused "+name, b.recall(), before)
		}
	},
	"of two workers one gets the action, and the other learns who and until when": func(b *bench) {
		b.plan(orphan("a"))
		_, err := b.as(ann, "a")
		b.must(err)
		_, err = b.as(bert, "a")
		b.refused(err, reconcile.ErrHeld, "claimed by ann until 2026-11-21 12:00:15 UTC")
		_, err = b.as(ann, "a")
		b.refused(err, reconcile.ErrHeld, "claimed by ann")
		_, err = b.claim("a")
		b.refused(err, reconcile.ErrHeld, "claimed by ann")
	},
	"one of many workers gets the action": func(b *bench) {
		b.plan(orphan("a"))
		var got atomic.Int32
		together(20, func(i int) {
			_, err := b.as(reconcile.WorkerLease(fmt.Sprint("w-", i%5)), "a")
			if err == nil {
				got.Add(1)
			} else if !errors.Is(err, reconcile.ErrHeld) {
				b.Error(err)
			}
		})
		if got.Load() != 1 {
			b.Errorf("%d workers got the action, want 1", got.Load())
		}
	},
	"a worker's claim outlives every take-over of the pass lease": func(b *bench) {
		b.plan(orphan("a"))
		a, err := b.as(ann, "a")
		b.must(err)
		for _, next := range []string{"two", "three"} {
			b.must(b.DropLease(b.Context(), b.lease))
			b.lease = b.take(next)
			_, err := b.claim("a")
			b.refused(err, reconcile.ErrHeld, "claimed by ann")
			_, err = b.as(bert, "a")
			b.refused(err, reconcile.ErrHeld, "claimed by ann")
			b.pass(reconcile.Record{Withdrawn: []string{"a"}})
		}
		b.must(b.RenewClaim(b.Context(), ann, a, 15*time.Second))
		b.settles(ann, a)
	},
	"a worker's claim ends by its time, for a pass and for a worker": func(b *bench) {
		b.plan(orphan("a"), orphan("b"))
		for _, id := range []string{"a", "b"} {
			_, err := b.as(ann, id)
			b.must(err)
		}
		b.clock.move(15*time.Second - time.Microsecond)
		_, err := b.claim("a")
		b.refused(err, reconcile.ErrHeld, "claimed by ann")
		_, err = b.as(bert, "b")
		b.refused(err, reconcile.ErrHeld, "claimed by ann")
		b.clock.move(time.Microsecond)
		b.claimed("a")
		again, err := b.as(bert, "b")
		b.must(err)
		b.equal("attempts", again.Attempts, 2)
	},
	"a renewed claim of a worker stands longer": func(b *bench) {
		b.plan(orphan("a"))
		a, err := b.as(ann, "a")
		b.must(err)
		b.clock.move(14 * time.Second)
		b.must(b.RenewClaim(b.Context(), ann, a, 15*time.Second))
		b.clock.move(14 * time.Second)
		_, err = b.as(bert, "a")
		b.refused(err, reconcile.ErrHeld, "claimed by ann")
	},
	"a stale worker has lost what another took since, be it of its own name": func(b *bench) {
		for _, next := range []reconcile.Lease{bert, ann, b.lease} {
			id := fmt.Sprint("a-", next.Holder, next.Epoch)
			b.plan(orphan(id))
			stale, err := b.as(ann, id)
			b.must(err)
			b.clock.move(15 * time.Second)
			b.refused(b.RenewClaim(b.Context(), ann, stale, time.Minute), reconcile.ErrFenced, "is no longer valid")
			fresh, err := b.as(next, id)
			b.must(err)
			b.lost(ann, stale)
			b.settles(next, fresh)
		}
	},
	"a stale worker writes down late what nobody took since": func(b *bench) {
		b.plan(orphan("a"))
		a, err := b.as(ann, "a")
		b.must(err)
		b.clock.move(48 * time.Hour)
		b.settles(ann, a)
		b.equal("open", b.open(), []string{})
	},
	"a claim under the pass lease keeps a worker off until it ends": func(b *bench) {
		b.plan(orphan("a"))
		own := b.claimed("a")
		b.clock.move(15*time.Second - time.Microsecond)
		_, err := b.as(ann, "a")
		b.refused(err, reconcile.ErrHeld, "claimed by one")
		b.must(b.DropLease(b.Context(), b.lease)) // given up is not taken over: it may still be at it
		_, err = b.as(ann, "a")
		b.refused(err, reconcile.ErrHeld, "claimed by one")
		b.clock.move(time.Microsecond)
		_, err = b.as(ann, "a")
		b.must(err)
		b.refused(b.Settle(b.Context(), b.lease, own), reconcile.ErrFenced, "")
	},
	"a claim under the pass lease is a worker's at once when that was taken over": func(b *bench) {
		b.plan(orphan("a"))
		own, before := b.claimed("a"), b.lease
		b.must(b.DropLease(b.Context(), b.lease))
		b.lease = b.take("two")
		a, err := b.as(ann, "a")
		b.must(err)
		b.equal("attempts", a.Attempts, 2)
		own.Outcome = reconcile.OutcomeConfirmed
		b.refused(b.Settle(b.Context(), before, own), reconcile.ErrFenced, "lease of one")
		b.settles(ann, a)
	},
	"a claim under the pass lease is no use to a worker of the same name, nor the other way round": func(b *bench) {
		b.plan(orphan("a"), orphan("b"))
		passes, err := b.as(b.lease, "a")
		b.must(err)
		workers, err := b.as(reconcile.WorkerLease("one"), "b")
		b.must(err)
		b.lost(reconcile.WorkerLease("one"), passes)
		b.lost(b.lease, workers)
		b.settles(b.lease, passes)
		b.settles(reconcile.WorkerLease("one"), workers)
	},
	"workers and passes share the budgets": func(b *bench) {
		b.orphans(4)
		worker := func(c reconcile.Claim) error {
			_, err := b.Claim(b.Context(), ann, c)
			return err
		}
		b.must(worker(within("o-0", 1, 2, 2, 3)))
		b.must(b.try(within("o-1", 1, 2, 2, 3)))
		b.refused(worker(within("o-2", 1, 2, 2, 3)), reconcile.ErrHeld, "budget: per_pass 2")
		b.must(worker(within("o-2", 2, 2, 2, 3)))
		b.refused(b.try(within("o-3", 3, 2, 2, 3)), reconcile.ErrHeld, "budget: per_hour 3")
		b.equal("spent", b.recall().Spent.Hour, 3)
	},
	"many workers and passes at once begin exactly what fits": func(b *bench) {
		b.orphans(20)
		var begun atomic.Int32
		together(20, func(i int) {
			l := []reconcile.Lease{b.lease, ann, bert}[i%3]
			_, err := b.Claim(b.Context(), l, within(fmt.Sprintf("o-%d", i), 1, 9, 5, 99))
			if err == nil {
				begun.Add(1)
			} else if !errors.Is(err, reconcile.ErrHeld) {
				b.Error(err)
			}
		})
		if begun.Load() != 5 || b.recall().Spent.Hour != 5 {
			b.Errorf("%d remedies began, %d counted, want 5", begun.Load(), b.recall().Spent.Hour)
		}
	},
	"workers and passes share the probes of a minute": func(b *bench) {
		var got atomic.Int64
		together(20, func(i int) {
			n, err := b.ReserveProbes(b.Context(), []reconcile.Lease{b.lease, ann, bert}[i%3], "daytona", 3, 25)
			if err != nil {
				b.Error(err)
			}
			got.Add(int64(n))
		})
		b.equal("granted", got.Load(), int64(25))
	},
}
