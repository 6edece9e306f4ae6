package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// within is a claim with these budgets.
func within(id string, pass int64, total, shared, hour int) reconcile.Claim {
	return reconcile.Claim{Action: id, Pass: pass, TTL: 15 * time.Second, Total: total, Shared: shared, Hour: hour}
}

// orphans plans n remedies, o-0 and on.
func (b *bench) orphans(n int) {
	b.Helper()
	var planned []reconcile.Action
	for i := range n {
		planned = append(planned, orphan(fmt.Sprintf("o-%d", i)))
	}
	b.plan(planned...)
}

func (b *bench) try(c reconcile.Claim) error {
	_, err := b.Claim(b.Context(), b.lease, c)
	return err
}

// budgets say how many remedies begin.
var budgets = map[string]func(*bench){
	"per pass: the last that fits begins, the next is held": func(b *bench) {
		b.orphans(3)
		b.must(b.try(within("o-0", 1, 2, 9, 9)))
		b.must(b.try(within("o-1", 1, 2, 9, 9)))
		b.refused(b.try(within("o-2", 1, 2, 9, 9)), reconcile.ErrHeld, "budget: per_pass 2")
		b.must(b.try(within("o-2", 2, 2, 9, 9)))
	},
	"share: what only writes rows does not count, and is not held": func(b *bench) {
		row := failing("row")
		row.RowOnly = true
		late := failing("late")
		late.RowOnly = true
		b.plan(row, late)
		b.orphans(2)
		b.must(b.try(within("row", 1, 9, 1, 9)))
		b.must(b.try(within("o-0", 1, 9, 1, 9)))
		b.refused(b.try(within("o-1", 1, 9, 1, 9)), reconcile.ErrHeld, "budget: share (1 of the fleet)")
		b.must(b.try(within("late", 1, 9, 1, 9)))
		b.must(b.try(within("o-1", 2, 9, 1, 9)))
	},
	"share: a remedy whose later step destroys counts, though its first only writes a row": func(b *bench) {
		row := failing("t")
		row.RowOnly = true
		b.plan(row, ending("t", 1, "x"))
		b.orphans(1)
		b.must(b.try(within("t", 1, 9, 1, 9)))
		b.refused(b.try(within("o-0", 1, 9, 1, 9)), reconcile.ErrHeld, "budget: share")
	},
	"per hour: over all passes, until just before the hour is over": func(b *bench) {
		b.orphans(3)
		b.must(b.try(within("o-0", 1, 9, 9, 2)))
		b.clock.move(time.Minute)
		b.must(b.try(within("o-1", 2, 9, 9, 2)))
		b.clock.move(59*time.Minute - time.Microsecond)
		b.refused(b.try(within("o-2", 3, 9, 9, 2)), reconcile.ErrHeld, "budget: per_hour 2")
		b.equal("spent", b.recall().Spent.Hour, 2)
		b.clock.move(time.Microsecond)
		b.must(b.try(within("o-2", 3, 9, 9, 2)))
		b.equal("spent", b.recall().Spent.Hour, 2)
	},
	"no budget at all begins nothing": func(b *bench) {
		b.orphans(1)
		b.refused(b.try(within("o-0", 1, 0, 9, 9)), reconcile.ErrHeld, "budget: per_pass 0")
		b.refused(b.try(within("o-0", 1, 9, 0, 9)), reconcile.ErrHeld, "budget: share (0 of the fleet)")
		b.refused(b.try(within("o-0", 1, 9, 9, 0)), reconcile.ErrHeld, "budget: per_hour 0")
		b.equal("spent", b.recall().Spent.Hour, 0)
	},
	"many claimers at once begin exactly what fits": func(b *bench) {
		b.orphans(20)
		var begun atomic.Int32
		together(20, func(i int) {
			err := b.try(within(fmt.Sprintf("o-%d", i), 1, 5, 9, 99))
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
	"a refused claim spends nothing": func(b *bench) {
		b.orphans(2)
		b.must(b.try(within("o-0", 1, 1, 9, 9)))
		for range 3 {
			b.refused(b.try(within("o-1", 1, 1, 9, 9)), reconcile.ErrHeld, "budget")
			b.refused(b.try(within("o-0", 1, 9, 9, 9)), reconcile.ErrHeld, "claimed by")
		}
		b.equal("spent", b.recall().Spent.Hour, 1)
	},
	"a crash spends once: the next holder's claim of the same remedy is free": func(b *bench) {
		b.orphans(2)
		b.must(b.try(within("o-0", 1, 1, 1, 1)))
		b.must(b.DropLease(b.Context(), b.lease))
		b.lease = b.take("two")
		b.must(b.try(within("o-0", 2, 0, 0, 0)))
		b.equal("spent", b.recall().Spent.Hour, 1)
		b.refused(b.try(within("o-1", 2, 9, 9, 1)), reconcile.ErrHeld, "budget: per_hour 1")
	},
	"another attempt of a begun remedy is not held": func(b *bench) {
		b.orphans(1)
		b.settled("o-0", reconcile.OutcomePending)
		b.must(b.try(within("o-0", 2, 0, 0, 0)))
	},
	"later steps are not held and not counted": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"))
		b.settled("t", reconcile.OutcomeDone)
		b.must(b.try(within("t-x", 1, 0, 0, 0)))
		b.equal("spent", b.recall().Spent.Hour, 1)
	},
	"a first step withdrawn at its first attempt gives the budget back": func(b *bench) {
		b.orphans(2)
		b.settled("o-0", reconcile.OutcomeWithdrawn)
		b.equal("spent", b.recall().Spent.Hour, 0)
		b.must(b.try(within("o-1", 1, 1, 1, 1)))
	},
	"what was accepted, failed, done or tried before stays spent": func(b *bench) {
		b.orphans(4)
		b.settled("o-0", reconcile.OutcomeFailed)
		b.settled("o-1", reconcile.OutcomeDone)
		b.settled("o-2", reconcile.OutcomeAccepted)
		b.settled("o-2", reconcile.OutcomeWithdrawn)
		b.settled("o-3", reconcile.OutcomePending)
		b.pass(reconcile.Record{Withdrawn: []string{"o-3"}})
		b.equal("spent", b.recall().Spent.Hour, 4)
	},
	"what a person asked for is held by the hour alone, and takes no place of a pass": func(b *bench) {
		for _, rule := range []string{reconcile.RuleOperator, reconcile.RuleEmergency} {
			a := orphan(rule)
			a.Rule, a.Author = rule, "ana"
			b.plan(a)
			b.refused(b.try(within(rule, 1, 9, 9, 0)), reconcile.ErrHeld, "budget: per_hour 0")
			b.must(b.try(within(rule, 1, 0, 0, 9)))
		}
		b.equal("spent", b.recall().Spent.Hour, 2)
		b.orphans(2)
		b.must(b.try(within("o-0", 1, 1, 1, 9)))
		b.refused(b.try(within("o-1", 1, 1, 9, 9)), reconcile.ErrHeld, "budget: per_pass 1")
		b.refused(b.try(within("o-1", 1, 9, 9, 3)), reconcile.ErrHeld, "budget: per_hour 3")
	},
	"share: what makes room is not held by it, nor counts for others": func(b *bench) {
		b.orphans(3)
		room := within("o-0", 1, 9, 0, 9)
		b.refused(b.try(room), reconcile.ErrHeld, "budget: share")
		room.Lifted = true
		b.must(b.try(room))
		b.must(b.try(within("o-1", 1, 9, 1, 9)))
		b.refused(b.try(within("o-2", 1, 9, 1, 9)), reconcile.ErrHeld, "budget: share")
		room.Action, room.Total = "o-2", 2
		b.refused(b.try(room), reconcile.ErrHeld, "budget: per_pass 2")
	},
	"a later step that is withdrawn gives nothing back": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-x", reconcile.OutcomeWithdrawn)
		b.equal("spent", b.recall().Spent.Hour, 1)
	},
}
