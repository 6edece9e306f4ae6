package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// before runs do before the first call of this name.
func before(name string, do func()) func(int, string) {
	var first sync.Once
	return func(_ int, call string) {
		if call == name {
			first.Do(do)
		}
	}
}

// untouched checks that nothing outside was changed.
func (s *stage) untouched() {
	s.Helper()
	if wrote, deleted := s.table.writes(), s.deletes(); len(wrote)+len(deleted) > 0 {
		s.Errorf("rows written: %q, sandboxes deleted: %q; want none", wrote, deleted)
	}
}

func TestTwoKeepersAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		wait time.Duration
		held bool
	}{
		"one that does not wait is told who holds the lease": {0, true},
		"one that waits runs after the other":                {time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, "stale", "orphan")
				s.cloud.Inject(simulated.Fault{On: simulated.List, Delay: 3 * time.Second})
				var wg sync.WaitGroup
				errs := make([]error, 2)
				for i, holder := range []string{"one", "two"} {
					k := s.keeper(holder, &life{})
					wg.Go(func() {
						time.Sleep(time.Duration(i) * time.Second)
						_, errs[i] = k.Once(t.Context(), reconcile.Full, time.Duration(1-i)*10*time.Second+time.Duration(i)*test.wait)
					})
				}
				wg.Wait()
				var held *reconcile.HeldError
				if errs[0] != nil || errors.As(errs[1], &held) != test.held || !test.held && errs[1] != nil {
					t.Errorf("the first ended with %v, the second with %v", errs[0], errs[1])
				}
				if test.held && held != nil && held.Holder != "one" {
					t.Errorf("the lease is held by %q, want one", held.Holder)
				}
				s.each([]string{"stale"}, []string{"sb-orphan", "sb-stale"})
			})
		})
	}
}

// each checks which rows were written and which sandboxes deleted, each once.
func (s *stage) each(rows, boxes []string) {
	s.Helper()
	wrote, deleted := s.table.writes(), s.deletes()
	slices.Sort(wrote)
	slices.Sort(deleted)
	if diff := cmp.Diff([][]string{rows, boxes}, [][]string{wrote, deleted}); diff != "" {
		s.Errorf("rows written and sandboxes deleted (-want +got):\n%s", diff)
	}
}

// A process that is asked to stop finishes what it has begun outside, writes it down and
// begins nothing more.
func TestStopWhileATerminateIsUnderWay(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		want  reconcile.Outcome
		ended int
	}{
		"it is finished and recorded":              {19 * time.Second, reconcile.OutcomeAccepted, 1},
		"one that outlasts the grace is left open": {21 * time.Second, reconcile.OutcomePending, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t, "orphan", "orphan2"), &life{}
				ctx, stop := context.WithCancelCause(t.Context())
				l.before = before("Terminate", func() {
					stop(errors.New("asked to stop"))
					time.Sleep(test.takes)
				})
				if _, err := s.keeper("one", l).Once(ctx, reconcile.Full, time.Second); err != nil {
					t.Error(err)
				}
				if n := len(s.deletes()); n != test.ended {
					t.Errorf("%d sandboxes were deleted, want %d", n, test.ended)
				}
				open := s.open()
				if len(open) != 2 || open[0].Outcome != test.want || open[1].Outcome != reconcile.OutcomePending ||
					open[0].ClaimedBy != "" || open[1].Attempts > 0 {
					t.Errorf("open actions = %+v, want the first %s and the second not begun", open, test.want)
				}
				if err := s.work(s.keeper("two", &life{})); err != nil {
					t.Error(err)
				}
				s.each(nil, []string{"sb-orphan", "sb-orphan2"})
			})
		})
	}
}

// What changes something. Look calls none of them.
var changing = []string{"TakeLease", "RenewLease", "DropLease", "BeginPass", "Record", "Claim", "RenewClaim", "Settle",
	"SaveProbes", "ReserveProbes", "Write", "Terminate", "Probe"}

func TestLookChangesNothing(t *testing.T) {
	for _, kind := range []reconcile.PassKind{reconcile.Quick, reconcile.Full} {
		synctest.Test(t, func(t *testing.T) {
			s, l := opened(t, everything...), &life{}
			r, err := s.keeper("looker", l).Plan(t.Context(), kind)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range l.calls {
				if slices.Contains(changing, call) {
					t.Errorf("a %s look called %s", kind, call)
				}
			}
			s.untouched()
			if kind == reconcile.Full && len(r.Plan.Actions) == 0 {
				t.Error("it planned nothing, so it proves nothing")
			}
		})
	}
}

func TestBetweenPlanAndAct(t *testing.T) {
	by := reconcile.Attribution{Author: "ann", Reason: "because"}
	alter := func(id string, change func(*simulated.Sandbox)) func(*stage) {
		return func(s *stage) { s.cloud.Change(id, change) }
	}
	wish := func(do func(*stage) error) func(*stage) {
		return func(s *stage) {
			if err := do(s); err != nil {
				s.Error(err)
			}
		}
	}
	const withdrawn, pending, confirmed = reconcile.OutcomeWithdrawn, reconcile.OutcomePending, reconcile.OutcomeConfirmed
	for name, test := range map[string]struct {
		trouble, call string // the change comes right before the first call of this name
		change        func(*stage)
		want          reconcile.Outcome
		says          string
	}{
		"the row is finished by its worker": {"stale", "Claim", func(s *stage) {
			s.table.change("stale", func(r *row) { r.State = reconcile.TaskCompleted })
		}, withdrawn, "looked again"},
		"the row starts to run": {"stale", "Claim", func(s *stage) {
			s.table.change("stale", func(r *row) { r.State, r.StartedAt = reconcile.TaskRunning, time.Now() })
		}, withdrawn, "looked again"},
		"the row is finished after the second look": {"stale", "Write", func(s *stage) {
			s.table.change("stale", func(r *row) { r.State = reconcile.TaskCompleted })
		}, withdrawn, "looked again"},
		"a life sign arrives": {"stale", "Claim", func(s *stage) { s.table.speak("stale") }, withdrawn, "looked again"},
		"a life sign arrives after the second look": {
			"stale", "Write", func(s *stage) { s.table.speak("stale") }, withdrawn, "sign of life"},
		"the orphan is gone": {"orphan", "Claim", alter("sb-orphan", func(b *simulated.Sandbox) {
			b.Gone, b.State = true, reconcile.SandboxEnded
		}), confirmed, "gone when looked at again"},
		"the orphan is gone when the rows have been read": {"orphan", "Logs", alter("sb-orphan",
			func(b *simulated.Sandbox) { b.Gone, b.State = true, reconcile.SandboxEnded }), confirmed, "gone"},
		"the orphan is not ours any more": {"orphan", "Logs", alter("sb-orphan",
			func(b *simulated.Sandbox) { delete(b.Labels, "app") }), withdrawn, "looked again"},
		"the orphan is given to a live task": {"orphan", "Logs", alter("sb-orphan",
			func(b *simulated.Sandbox) { b.Labels["task"] = "h1" }), withdrawn, "looked again"},
		"a row names the orphan": {"orphan", "Logs", func(s *stage) {
			s.table.change("h1", func(r *row) { r.Sandbox = "sb-orphan" })
		}, withdrawn, "looked again"},
		"the broken one answers": {"broken", "Claim", alter("sb-broken",
			func(b *simulated.Sandbox) { b.Exec = simulated.Healthy }), withdrawn, "final probe was answered"},
		"the stopped task is taken up again": {"stopped", "Logs", func(s *stage) {
			s.table.change("stopped", func(r *row) { r.State, r.StartedAt = reconcile.TaskRunning, time.Now() })
		}, withdrawn, "looked again"},
		"the provider does not know": {"orphan", "Claim", func(s *stage) {
			s.cloud.Inject(simulated.Fault{On: simulated.Get, Effect: simulated.Answer, Status: 502})
		}, pending, "502"},
		"the provider is throttling": {"stale", "Claim", func(s *stage) {
			s.cloud.Inject(simulated.Fault{On: simulated.Get, Effect: simulated.Answer, Status: 429})
		}, pending, "throttled"},
		"the sandbox is held": {"orphan", "Controls", wish(func(s *stage) error {
			_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: "sandbox:sb-orphan", Author: "ann", Reason: "mine"})
			return err
		}), pending, "hold: sandbox:sb-orphan"},
		"the task is held": {"stale", "Controls", wish(func(s *stage) error {
			_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: "task:stale", Author: "ann", Reason: "mine"})
			return err
		}), pending, "hold: task:stale"},
		"the task is held during the second look": {"stale", "ByID", wish(func(s *stage) error {
			_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: "task:stale", Author: "ann", Reason: "mine"})
			return err
		}), pending, "hold: task:stale"},
		"a label of the sandbox is held": {"stopped", "Controls", wish(func(s *stage) error {
			_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: "label:app=ours", Author: "ann", Reason: "mine"})
			return err
		}), pending, "hold: label:app=ours"},
		"everything is paused": {"stale", "Controls", wish(func(s *stage) error {
			return s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "all", Author: "ann", Reason: "wait"})
		}), pending, "pause: all"},
		"the provider is paused": {"orphan", "Controls", wish(func(s *stage) error {
			return s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "provider:lab", Author: "ann", Reason: "wait"})
		}), pending, "pause: provider:lab"},
		"the mode is lowered": {"broken", "Controls", wish(func(s *stage) error {
			return s.ledger.SetMode(s.Context(), "idle-broken", reconcile.Observe, by)
		}), pending, "observe"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t, test.trouble), &life{}
				l.before = before(test.call, func() { test.change(s) })
				r, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
				if err != nil || len(r.Plan.Actions) == 0 {
					t.Fatalf("Once = %+v, %v; want a plan", r, err)
				}
				s.untouched()
				id := r.Plan.Actions[0].ID
				a := r.Done[id]
				if said := a.Detail + r.Waits[id].String(); a.Outcome != test.want || !strings.Contains(said, test.says) {
					t.Errorf("the action is %s: %s; want it %s: %s", a.Outcome, said, test.want, test.says)
				}
				if waits := len(r.Waits[id]) > 0; waits != (test.want == pending) {
					t.Errorf("waits = %q for an action that is %s", r.Waits[id], a.Outcome)
				}
			})
		})
	}
}

// A row that is touched all the time cannot outrun its verdict: the last try is locked.
func TestABusyRowIsWrittenUnderItsLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, "stale"), &life{}
		l.before = func(_ int, call string) {
			if call == "Write" {
				s.table.change("stale", func(*row) {})
			}
		}
		if _, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		s.each([]string{"stale"}, []string{"sb-stale"})
		if n := counted(l.calls, "Write"); n != 3 {
			t.Errorf("%d writes were tried, want 3", n)
		}
	})
}

func counted(list []string, one string) int {
	n := 0
	for _, x := range list {
		if x == one {
			n++
		}
	}
	return n
}

func TestOneItemDoesNotStopTheOthers(t *testing.T) {
	for name, f := range map[string]simulated.Fault{
		"one hangs at the look":   {On: simulated.Get, ID: "sb-orphan", Effect: simulated.Hang},
		"one hangs at the delete": {On: simulated.Delete, ID: "sb-orphan", Effect: simulated.Hang},
		"one cannot be deleted":   {On: simulated.Delete, ID: "sb-orphan", Effect: simulated.Answer, Status: 500},
		"one cannot be looked at": {On: simulated.Get, ID: "sb-orphan", Effect: simulated.Drop},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, "orphan", "orphan2", "orphan3")
				s.policy.Limits = reconcile.Limits{PerPass: 9, Share: 1, Breaker: 1, PerHour: 9}
				lift := s.cloud.Inject(f)
				r, err := s.keeper("one", &life{}).Once(t.Context(), reconcile.Full, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				s.others(f.On, []string{"sb-orphan2", "sb-orphan3"})
				if len(r.Waits) != 1 {
					t.Errorf("waits = %v, want that of the one", r.Waits)
				}
				lift()
				time.Sleep(time.Minute)
				if err := s.work(s.keeper("one", &life{})); err != nil {
					t.Error(err)
				}
				if left := len(s.cloud.Sandboxes()); left != 5 {
					t.Errorf("%d sandboxes are left, want the four healthy ones and the foreign one", left)
				}
			})
		})
	}
}

// others checks that those which meet no fault are deleted; a delete that met one stands
// in the journal as well.
func (s *stage) others(on simulated.Kind, want []string) {
	s.Helper()
	if on == simulated.Delete {
		want = append([]string{"sb-orphan"}, want...)
	}
	s.each(nil, want)
}

func TestErrorsAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, "orphan", "orphan2", "orphan3"), &life{}
		s.policy.Limits = reconcile.Limits{PerPass: 9, Share: 1, Breaker: 1, PerHour: 9}
		l.refuse = func(call, id string) error {
			if call == "Settle" && id != "sandbox:lab/sb-orphan3" {
				return fmt.Errorf("the disk of %s is full", id)
			}
			return nil
		}
		_, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
		for _, id := range []string{"sb-orphan", "sb-orphan2"} {
			if err == nil || !strings.Contains(err.Error(), "the disk of sandbox:lab/"+id+" is full") {
				t.Errorf("Once = %v, want the error of %s in it", err, id)
			}
		}
		s.each(nil, []string{"sb-orphan", "sb-orphan2", "sb-orphan3"})
		time.Sleep(20 * time.Second)
		if err := s.work(s.keeper("two", &life{})); err != nil {
			t.Error(err)
		}
		s.each(nil, []string{"sb-orphan", "sb-orphan2", "sb-orphan3"})
	})
}

// A terminate that was accepted stays so until the sandbox is gone; past the deadline the
// provider is asked again, after pauses that double.
func TestAcceptedIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, "orphan"), &life{}
		s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Stuck = true })
		var began time.Time
		var asked []string
		l.before = func(_ int, call string) {
			if call == "Terminate" {
				began = latest(began)
				asked = append(asked, time.Since(began).Round(time.Minute).String())
			}
		}
		k := s.keeper("one", l)
		for range 5 * 60 {
			if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
				t.Fatal(err)
			}
			if open := s.open(); len(open) != 1 || open[0].Outcome != reconcile.OutcomeAccepted {
				t.Fatalf("open actions = %+v, want the accepted one", open)
			}
			time.Sleep(time.Minute)
		}
		want := []string{"0s", "2m0s", "4m0s", "8m0s", "16m0s", "32m0s", "1h5m0s", "2h5m0s", "3h6m0s", "4h6m0s"}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("asked after (-want +got):\n%s", diff)
		}
		open := s.open()[0]
		if last := open.AskedAt.Sub(open.FirstActed).Round(time.Minute); open.Asks != len(want) || last != 246*time.Minute {
			t.Errorf("asked %d times, last %s after the first, want %d and 4h6m", open.Asks, last, len(want))
		}
		s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Stuck = false })
		if err := s.work(k); err != nil {
			t.Error(err)
		}
		if n := s.finished("sb-orphan"); n != 1 {
			t.Errorf("%d actions are confirmed, want 1", n)
		}
	})
}

// latest is the moment, or now when it is none.
func latest(at time.Time) time.Time {
	if at.IsZero() {
		return time.Now()
	}
	return at
}

// What a provider will not do is shown as refused, stays open at the cost of nobody else,
// and is tried again after pauses that double.
func TestRefusedIsShownAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, "orphan", "orphan2", "orphan3")
		s.policy.Limits.PerHour = 3
		s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Refuse = "the sandbox is protected" })
		r := s.once()
		for id := range r.Refused {
			if a := r.Done[id]; a.Sandbox != "sb-orphan" || !strings.Contains(a.Detail, "the sandbox is protected") {
				t.Errorf("refused: %s: %s; want it in the provider's words", a.Sandbox, a.Detail)
			}
		}
		if len(r.Refused) != 1 {
			t.Errorf("%d actions are shown as refused, want 1", len(r.Refused))
		}
		for range 9 {
			time.Sleep(time.Minute)
			s.once()
		}
		if open := s.open(); len(open) != 1 || open[0].Sandbox != "sb-orphan" {
			t.Errorf("open actions = %+v, want the refused one alone", open)
		}
		tried := 0
		for _, id := range s.deletes() {
			if id == "sb-orphan" {
				tried++
			}
		}
		if tried != 4 {
			t.Errorf("it was tried %d times in 9 minutes, want 4: after 0, 1, 3 and 7", tried)
		}
		s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Refuse = "" })
		if err := s.work(s.keeper("one", &life{})); err != nil {
			t.Error(err)
		}
		if left := len(s.cloud.Sandboxes()); left != 5 {
			t.Errorf("%d sandboxes are left, want the four healthy ones and the foreign one", left)
		}
	})
}

// A credential that is refused is tried once in five minutes, whoever makes the pass.
func TestRefusedCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, everything...)
		s.cloud.ResetCalls()
		s.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 401})
		began := time.Now()
		for i := range 22 {
			kind := reconcile.Full
			if i%2 == 1 {
				kind = reconcile.Quick
			}
			k := s.keeper(fmt.Sprintf("keeper %d", i), &life{})
			if _, err := k.Once(t.Context(), kind, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Second)
		}
		var calls []string
		for _, c := range s.cloud.Calls() {
			calls = append(calls, fmt.Sprintf("%s after %s", c.Kind, c.At.Sub(began)))
		}
		if diff := cmp.Diff([]string{"list after 0s", "list after 5m0s", "list after 10m0s"}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		s.untouched()
	})
}

// A refusal is of the key that was refused: another one is tried at once.
func TestCorrectedCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		lists := func(key string) int {
			t.Helper()
			s.cloud.ResetCalls()
			entry := s.policy.Providers[lab]
			entry.Key = key
			s.policy.Providers[lab] = entry
			if _, err := s.keeper("one", &life{}).Once(t.Context(), reconcile.Full, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			return len(s.cloud.Calls())
		}
		mend := s.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 401})
		if lists("old") == 0 || lists("old") != 0 || lists("wrong too") == 0 || lists("wrong too") != 0 {
			t.Error("want each refused key to be tried once")
		}
		mend()
		if lists("wrong too") != 0 || lists("new") == 0 {
			t.Error("want the new key to be tried at once, and no refused one")
		}
		for range 2 {
			if lists("new") == 0 {
				t.Error("want a key that is taken to be used")
			}
		}
	})
}
