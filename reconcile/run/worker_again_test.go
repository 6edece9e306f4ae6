package run_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// Recalls are a process's calls of a ledger that tells what has changed.
type recalls struct {
	ledgerCalls
	last *reconcile.Recalled
}

func (c *recalls) RecallAgain(ctx context.Context, anew bool) (reconcile.Memory, *reconcile.Recalled, error) {
	m, err := c.Recall(ctx)
	if err != nil {
		return m, nil, err
	}
	c.last = worldtest.RecallAgain(c.last, &m, anew)
	return m, c.last, nil
}

// Compares are a process's calls of a task database that reads what has changed.
type compares struct{ taskCalls }

func (c compares) LiveAgain(ctx context.Context, before reconcile.RowsBefore, plain func(*reconcile.Task) bool,
) (reconcile.Rows, bool, error) {
	rows, err := c.t.Live(ctx)
	if err != nil {
		return rows, false, err
	}
	return simtest.LiveAgain(rows, before, plain)
}

// large is a process to which every fleet is a large one.
func (s *stage) large(holder string, l *life) *daemon {
	k, b := s.keeper(holder, l), &board{}
	k.Tasks, k.Ledger = compares{taskCalls{l, s.table}}, &recalls{ledgerCalls{l, s.ledger}, &reconcile.Recalled{}}
	k.Queue, k.Sieved, k.Standing = b, 1, new(run.Standing)
	return &daemon{k, b, run.NewWorker(s.Context(), k)}
}

// quick makes a quick pass.
func (d *daemon) quick(s *stage) *run.Result {
	s.Helper()
	time.Sleep(time.Second)
	r, err := d.Pass(s.Context(), reconcile.Quick, 0)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// A row that comes due is failed by what a quick pass read of a part, where that pass is the newest and of this process,
// and it is the row that goes first; else by all rows.
func TestWorksByAPart(t *testing.T) {
	deadline := func(s *stage) {
		s.table.change("h1", func(r *row) { r.DeadlineAt = time.Now().Add(-time.Second) })
	}
	for name, c := range map[string]struct {
		wrong func(s *stage)
		then  func(s *stage, d *daemon) // after the pass
		whole bool                      // all rows are read
	}{
		"by the newest pass": {wrong: deadline},
		"another pass was recorded": {wrong: deadline, whole: true,
			then: func(s *stage, _ *daemon) { s.large("second", &life{}).quick(s) }},
		"it was made a while ago": {wrong: deadline, whole: true,
			then: func(*stage, *daemon) { time.Sleep(time.Minute) }},
		"a person asked for it": {whole: true, wrong: func(s *stage) {
			s.ask(reconcile.AskTerminate(reconcile.RuleOperator, reconcile.Ref{Provider: lab, ID: "sb-h1"}, "h1",
				reconcile.AskOptions{Running: true}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t), &life{}
				rule := reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Named: true, Remedy: reconcile.Fail}
				s.policy.Rules["deadline-exceeded"] = rule
				s.policy.Limits.Share = 1
				d := s.large("first", l)
				if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
					t.Fatal(err)
				}
				for range 4 {
					d.quick(s)
				}
				c.wrong(s)
				if r := d.quick(s); r.Judged.View.S.Plain.Tasks == 0 {
					t.Fatal("the pass read everybody")
				}
				if c.then != nil {
					c.then(s, d)
				}
				before := len(l.calls)
				if err := d.workOff(s.Context()); err != nil {
					t.Fatal(err)
				}
				calls := l.calls[before:]
				ended := slices.Index(calls, "Terminate")
				if ended < 0 {
					t.Fatalf("its sandbox was not ended by %v", calls)
				}
				if whole := slices.Contains(calls[:ended], "Live"); whole != c.whole {
					t.Errorf("all rows were read before = %t, by %v", whole, calls)
				}
			})
		})
	}
}
