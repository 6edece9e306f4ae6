package run_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// jobs works at each remedy once, eight at a time, and returns when the first is to be worked at again; 0: none is.
func (s *stage) jobs(w *run.Worker, asked []reconcile.Action) (first time.Duration) {
	s.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for _, a := range asked {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			again, err := w.Remedy(s.Context(), a.Remedy)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				s.Errorf("remedy of %s: %v", a.Sandbox, err)
			}
			if again > 0 && (first == 0 || again < first) {
				first = again
			}
		})
	}
	wg.Wait()
	return first
}

// The jobs of a crowd share a listing: none of them waits in its place for its own sandbox, and few are got.
func TestJobsOfACrowdShareAListing(t *testing.T) {
	const many = 120
	synctest.Test(t, func(t *testing.T) {
		s, asked := stageOfMany(t, many, 20*time.Second)
		w := run.NewWorker(t.Context(), s.whole())
		if again := s.jobs(w, asked); again != 0 {
			t.Errorf("something is to be looked at again after %s", again)
		}
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeConfirmed {
				t.Errorf("%s is %s (%s), want it confirmed", a.Sandbox, got.Outcome, got.Detail)
			}
		}
		if gets, lists := s.calls(simulated.Get), s.calls(simulated.List); len(gets) > many/4 || len(lists) > 4 {
			t.Errorf("%d gets and %d pages for %d", len(gets), len(lists), many)
		}
	})
}

// What the listing still shows is not confirmed, nor what it leaves out while it is there, and none is looked at again
// before there may be another listing.
func TestJobsOfACrowdConfirmNothingThatIsThere(t *testing.T) {
	const many = 60
	for name, omits := range map[string]bool{"it shows them": false, "it leaves them out": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, asked := stageOfMany(t, many, 24*time.Hour)
				s.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Omit,
					Omits: func(b simulated.Sandbox) bool { return omits && b.State == reconcile.SandboxDeleting }})
				w := run.NewWorker(t.Context(), s.whole())
				if again := s.jobs(w, asked); again < 3*time.Second {
					t.Errorf("they are to be looked at again after %s", again)
				}
				for _, a := range asked {
					if got := s.became(a); got.Outcome != reconcile.OutcomeAccepted {
						t.Errorf("%s is %s (%s), want it to be waited for: it is there", a.Sandbox, got.Outcome, got.Detail)
					}
				}
			})
		})
	}
}

// stageOfEnds has many sandboxes that are to be ended, in a cloud where they stay for so long after that.
func stageOfEnds(t *testing.T, many int, stay time.Duration) (s *stage, asked []reconcile.Action) {
	t.Helper()
	s = openedIn(t, simulated.Options{DeleteAfter: stay})
	s.policy.Limits.PerHour = 10 * many
	for i := range many {
		id := fmt.Sprintf("sb-asked-%04d", i)
		s.cloud.Put(simulated.Sandbox{ID: id, CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
		asked = append(asked, reconcile.AskTerminate(reconcile.RuleOperator, labRef(id), "", reconcile.AskOptions{}))
	}
	s.ask(asked...)
	return s, asked
}

// Of the jobs that end many one stays and looks for all of them: none of the others waits, and none has to come again
// before all are confirmed.
func TestOneJobOfACrowdStaysForAll(t *testing.T) {
	const many = 60
	for name, fails := range map[string]bool{"together": false, "one by one, as they cannot be written together": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, asked := stageOfEnds(t, many, 2*time.Second)
				k := s.whole()
				if fails {
					k.Ledger = apart{k.Ledger}
				}
				s.cloud.ResetCalls()
				if again := s.jobs(run.NewWorker(t.Context(), k), asked); again < 10*time.Second {
					t.Errorf("a job is to look again after %s, while another one looks for it", again)
				}
				for _, a := range asked {
					if got := s.became(a); got.Outcome != reconcile.OutcomeConfirmed {
						t.Errorf("%s is %s (%s), want it confirmed", a.Sandbox, got.Outcome, got.Detail)
					}
				}
				gets := 0
				for _, n := range s.calls(simulated.Get) {
					gets += n
				}
				if gets > 3*many {
					t.Errorf("%d gets for %d ends", gets, many)
				}
			})
		})
	}
}

// apart is a ledger that cannot confirm many at once.
type apart struct{ reconcile.Ledger }

func (apart) Confirm(context.Context, reconcile.Lease, []string) ([]reconcile.Action, error) {
	return nil, errors.New("somebody has locked one of them")
}

// Of a wave that takes long those that are gone are confirmed while the others are being ended.
func TestManyAreConfirmedBesideTheirEnds(t *testing.T) {
	const many = 1500
	synctest.Test(t, func(t *testing.T) {
		s, asked := stageOfEnds(t, many, time.Second)
		s.cloud.Inject(simulated.Fault{On: simulated.Delete, Delay: time.Second})
		if _, err := s.whole().Once(t.Context(), reconcile.Full, time.Hour); err != nil {
			t.Fatal(err)
		}
		var first, last time.Time
		for _, a := range asked {
			got := s.became(a)
			if got.Outcome != reconcile.OutcomeConfirmed {
				t.Fatalf("%s is %s (%s), want it confirmed", a.Sandbox, got.Outcome, got.Detail)
			}
			if first.IsZero() || got.ClosedAt.Before(first) {
				first = got.ClosedAt
			}
			if got.ActedAt.After(last) {
				last = got.ActedAt
			}
		}
		if !first.Before(last) {
			t.Errorf("the first was confirmed %s after the last was asked for", first.Sub(last))
		}
	})
}

// TestFewOfACrowdAreGotOnce: where few are accepted while many are still to be asked for, each of the few is got by its
// own job, and not by that of each other one.
func TestFewOfACrowdAreGotOnce(t *testing.T) {
	for _, few := range []int{20, 5} {
		synctest.Test(t, func(t *testing.T) {
			s, asked := stageOfMany(t, few, 24*time.Hour)
			var more []reconcile.Action
			for i := range 40 {
				id := fmt.Sprint("sb-later-", i)
				s.cloud.Put(simulated.Sandbox{ID: id, CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
				more = append(more, reconcile.AskTerminate(reconcile.RuleOperator, labRef(id), "", reconcile.AskOptions{}))
			}
			s.ask(more...)
			s.cloud.ResetCalls()
			s.jobs(run.NewWorker(t.Context(), s.whole()), asked)
			gets := 0
			for _, n := range s.calls(simulated.Get) {
				gets += n
			}
			if gets > 3*few {
				t.Errorf("%d jobs made %d gets, want a few each", few, gets)
			}
		})
	}
}

// TestOverdueOfACrowdAreLookedAt: what is gone past its deadline, while nothing may be asked for again, is confirmed by
// the first look, and not said to be still there.
func TestOverdueOfACrowdAreLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := stageOfMany(t, 60, 90*time.Second)
		time.Sleep(90 * time.Second)
		s.control(s.ledger.Pause(t.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "night"}))
		s.jobs(run.NewWorker(t.Context(), s.whole()), asked)
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeConfirmed {
				t.Errorf("%s is %s (%s), want it to be confirmed", a.Sandbox, got.Outcome, got.Detail)
			}
		}
	})
}

// hangsOnConfirm is a ledger that hangs from the first confirmation of many on, and whose process is told to stop then.
type hangsOnConfirm struct {
	reconcile.Ledger
	writes *int
	stop   func()
}

func (l hangsOnConfirm) Confirm(ctx context.Context, _ reconcile.Lease, _ []string) ([]reconcile.Action, error) {
	*l.writes++
	l.stop()
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// TestAStopWaitsForOneWrite: of many that are gone, who is told to stop writes down no further part while the ledger
// hangs.
func TestAStopWaitsForOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := stageOfMany(t, 300, 20*time.Second)
		k := s.whole()
		writes := 0
		ctx, stop := context.WithCancel(t.Context())
		k.Ledger = hangsOnConfirm{k.Ledger, &writes, stop}
		_, _ = k.Once(ctx, reconcile.Full, time.Hour) // its error is that of the stop
		if writes != 1 {
			t.Errorf("%d writes were begun, want the first", writes)
		}
	})
}
