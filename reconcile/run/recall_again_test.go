package run_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// A badRecall is a ledger that recalls all right, and cannot tell what has changed, or tells less than that.
type badRecall struct {
	recalls
	err   error
	lies  bool // until it is to recall anew: it does not know of one of the tasks
	asked int
}

func (c *badRecall) RecallAgain(ctx context.Context, anew bool) (reconcile.Memory, *reconcile.Recalled, error) {
	c.asked++
	if c.err != nil {
		return reconcile.Memory{}, nil, c.err
	}
	c.lies = c.lies && !anew
	m, r, err := c.recalls.RecallAgain(ctx, anew)
	if c.lies && err == nil {
		m.Tasks = m.Tasks.Clone()
		m.Tasks.Drop(slices.Min(slices.Collect(maps.Keys(maps.Collect(m.Tasks.Kept())))))
	}
	return m, r, err
}

// A ledger whose server cannot compare is recalled whole: no pass fails for it.
func TestALedgerThatCannotCompare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t), &life{}
		d := s.large("first", l)
		bad := &badRecall{recalls: recalls{ledgerCalls{l, s.ledger}, &reconcile.Recalled{}},
			err: errors.New("function bit_xor(bigint) does not exist")}
		d.Ledger = bad
		for i := range 6 {
			time.Sleep(time.Second)
			if _, err := d.Pass(s.Context(), reconcile.Quick, 0); err != nil {
				t.Errorf("pass %d: %v", i, err)
			}
		}
		if bad.asked != 1 {
			t.Errorf("it was asked for what has changed %d times, want once", bad.asked)
		}
	})
}

// liar is a process to which every fleet is a large one, and its ledger that has begun to lie to quick passes: it
// leaves out one of all the tasks.
func (s *stage) liar() (d *daemon, bad *badRecall, all int) {
	s.Helper()
	l := &life{}
	d = s.large("first", l)
	bad = &badRecall{recalls: recalls{ledgerCalls{l, s.ledger}, &reconcile.Recalled{}}}
	d.Ledger = bad
	if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
		s.Fatal(err)
	}
	for range 4 {
		all = remembers(d.quick(s))
	}
	if all < 2 || bad.asked == 0 {
		s.Fatalf("%d tasks are remembered, and it was asked for what has changed %d times", all, bad.asked)
	}
	bad.lies = true
	if n := remembers(d.quick(s)); n != all-1 {
		s.Fatalf("a quick pass remembers %d tasks of a ledger that leaves out one of %d", n, all)
	}
	return d, bad, all
}

func remembers(r *run.Result) int { return r.Judged.View.S.Memory.Tasks.Len() }

// Whatever a quick pass has wrong by what it takes for unchanged, a full one has right, and all quick ones after it.
func TestALedgerThatLiesIsRecalledByAFullPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		d, bad, all := s.liar()
		before := bad.asked
		time.Sleep(time.Second)
		r, err := d.Pass(s.Context(), reconcile.Full, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := remembers(r); n != all || bad.asked > before {
			t.Errorf("a full pass remembers %d tasks, and asked for what has changed %d times, want 0", n, bad.asked-before)
		}
		for range 3 {
			if n := remembers(d.quick(s)); n != all {
				t.Error("a quick pass after a full one goes on from what was wrong before it")
			}
		}
		if bad.asked == before {
			t.Error("nobody asks for what has changed any more")
		}
	})
}

// The same where another process makes the full passes: as long as lies between two of them, and no longer.
func TestALedgerThatLiesIsRecalledWithoutAFullPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		d, bad, all := s.liar()
		time.Sleep(s.policy.Full)
		for range 3 {
			if n := remembers(d.quick(s)); n != all || bad.lies {
				t.Errorf("a quick pass remembers %d tasks of %d by what was wrong %s ago", n, all, s.policy.Full)
			}
		}
	})
}
