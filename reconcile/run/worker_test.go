package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// A board is a queue that keeps what it is told until somebody works it off.
type board struct{ work []reconcile.Work }

func (b *board) Kick(_ context.Context, w reconcile.Work) error {
	b.work = append(b.work, w)
	return nil
}

func (b *board) take() (out []reconcile.Work) {
	out, b.work = b.work, nil
	return out
}

// A daemon is a process that runs passes and, as any other of its kind may, works off what
// they left.
type daemon struct {
	*run.Reconciler
	board  *board
	worker *run.Worker
}

func (s *stage) daemon(holder string, l *life) *daemon {
	k := s.keeper(holder, l)
	b := &board{}
	k.Queue = b
	return &daemon{k, b, run.NewWorker(s.Context(), k)}
}

// workOff works at all that passes left, until nothing asks to be called again soon.
func (d *daemon) workOff(ctx context.Context) error {
	for _, w := range d.board.take() {
		for _, id := range w.Remedies {
			again, err := d.worker.Remedy(ctx, id)
			for n := 0; err == nil && again > 0 && n < 10; n++ { // the rest is for the next pass
				time.Sleep(min(again, 10*time.Second))
				again, err = d.worker.Remedy(ctx, id)
			}
			if err != nil {
				return err
			}
		}
		for _, ref := range w.Probes {
			if err := d.worker.Probe(ctx, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// run makes passes until both worlds agree.
func (s *stage) run(d *daemon) error {
	for i := range 60 {
		kind := reconcile.Quick
		if i%4 == 0 {
			kind = reconcile.Full
		}
		r, err := d.Pass(s.Context(), kind, 0)
		if err == nil {
			err = d.workOff(s.Context())
		}
		if err != nil && !errors.Is(err, reconcile.ErrHeld) {
			return err
		}
		if r != nil && kind == reconcile.Full && len(r.Plan.Findings) == 0 && len(s.open()) == 0 {
			return nil
		}
		time.Sleep(15 * time.Second)
	}
	return errRestless
}

// A daemon may end at any of its calls, with its passes or with what it works off. The next
// one repairs what is left, and nothing twice.
func TestADaemonEndsAtEveryCall(t *testing.T) {
	var calls int
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, everything...), &life{}
		if err := s.run(s.daemon("first", l)); err != nil {
			t.Fatal(err)
		}
		s.repaired([]*life{l})
		calls = l.count()
	})

	if calls < 100 {
		t.Errorf("%d calls were made, and there is more to do than that", calls)
	}
	for _, name := range []string{"dies before its call", "dies when its call has been done"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= calls && !t.Failed(); n += raced.Unless(1, 7) {
				synctest.Test(t, func(t *testing.T) { endDaemonAt(t, endings[name], n) })
			}
		})
	}
}

func endDaemonAt(t *testing.T, e ending, n int) {
	s := opened(t, everything...)
	first, second := &life{}, &life{}
	e.end(s, first, n)
	if err := s.run(s.daemon("first", first)); errors.Is(err, errRestless) {
		t.Error("the first:", err)
	}
	time.Sleep(e.pause)
	if err := s.run(s.daemon("second", second)); err != nil {
		t.Error("the second:", err)
	}
	s.repaired([]*life{first, second})
	if t.Failed() {
		t.Logf("call %d of %d: %s", n, first.count(), strings.Join(first.calls[max(0, n-8):min(n+3, first.count())], ", "))
		s.tell()
	}
}

// Nothing holds a second process back from a pass but the lease, and one that was made a
// moment ago.
func TestAPassIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		d := s.daemon("first", &life{})
		made := func(kind reconcile.PassKind, apart time.Duration) bool {
			t.Helper()
			r, err := d.Pass(s.Context(), kind, apart)
			if err != nil {
				t.Fatal(err)
			}
			return r != nil
		}

		if !made(reconcile.Full, time.Minute) {
			t.Error("the first pass was not made")
		}
		time.Sleep(59 * time.Second)
		if made(reconcile.Quick, time.Minute) {
			t.Error("a quick pass was made 59 s after a full one, with a minute between them")
		}
		time.Sleep(time.Second)
		if !made(reconcile.Quick, time.Minute) {
			t.Error("no quick pass was made a minute after a full one")
		}
		if !made(reconcile.Full, time.Minute) {
			t.Error("a quick pass stood in for a full one")
		}

		if _, err := s.ledger.TakeLease(s.Context(), "another", time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := d.Pass(s.Context(), reconcile.Quick, 0); !errors.Is(err, reconcile.ErrHeld) {
			t.Errorf("a pass beside another one: %v, want it refused", err)
		}
	})
}

// A pause that comes between the pass and the deed keeps the deed from being done, also
// when the look before it is under way already.
func TestAPauseCountsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, everything...), &life{}
		d := s.daemon("first", l)
		l.before = func(_ int, call string) {
			if call != "Get" { // the second look at a sandbox
				return
			}
			if c, err := s.ledger.Controls(s.Context()); err != nil || len(c.Pauses) > 0 {
				return
			}
			if err := s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "all", Reason: "drill", Author: "ana"}); err != nil {
				t.Error(err)
			}
		}
		for range 3 {
			if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
				t.Fatal(err)
			}
			if err := d.workOff(s.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}

		if slices.ContainsFunc(l.calls, changesWorld) {
			t.Errorf("something was done in spite of the pause: %v", l.calls)
		}
	})
}

func changesWorld(call string) bool { return call == "Write" || call == "Terminate" }

// A process that stood still between its claim and its deed leaves the deed to whoever has
// the action by now.
func TestAFrozenProcessDoesNothing(t *testing.T) {
	for _, call := range []string{"Get", "Controls"} {
		t.Run("frozen at "+call, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { frozenAt(t, call) })
		})
	}
}

func frozenAt(t *testing.T, call string) {
	s, l := opened(t, everything...), &life{}
	d := s.daemon("first", l)
	claimed := false
	l.before = func(_ int, now string) {
		switch {
		case now == "Claim":
			claimed = true
		case claimed && (now == call || now == "RenewClaim"):
			time.Sleep(20 * time.Second)
		}
	}
	for range 3 {
		_, err := d.Pass(s.Context(), reconcile.Full, 0)
		if err == nil {
			err = d.workOff(s.Context())
		}
		if err != nil && !errors.Is(err, reconcile.ErrFenced) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	}

	if !claimed {
		t.Fatal("nothing was claimed")
	}
	if slices.ContainsFunc(l.calls, changesWorld) {
		t.Errorf("something was done after the claim had ended: %v", l.calls)
	}
}

// What the config or a person takes back between the pass and the deed is not done.
func TestTakenBackBeforeTheDeed(t *testing.T) {
	cases := map[string]func(p *reconcile.Policy){
		"the rule is switched to observe":   func(p *reconcile.Policy) { change(p, func(r *reconcile.RulePolicy) { r.Mode = reconcile.Observe }) },
		"the rule is rolled out to nobody":  func(p *reconcile.Policy) { change(p, func(r *reconcile.RulePolicy) { r.Rollout = 0 }) },
		"the rule only reports from now on": func(p *reconcile.Policy) { change(p, func(r *reconcile.RulePolicy) { r.Remedy = reconcile.Report }) },
		"the provider is not ours any more": func(p *reconcile.Policy) { p.Providers = nil },
	}
	for name, reload := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t, everything...), &life{}
				d := s.daemon("first", l)
				for range 3 {
					if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
						t.Fatal(err)
					}
					k := s.keeper("reloaded", l)
					reload(&k.Policy)
					d.worker = run.NewWorker(s.Context(), k)
					if len(k.Policy.Providers) == 0 {
						k.Providers = nil
					}
					if err := d.workOff(s.Context()); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
				}

				if slices.Contains(l.calls, "Terminate") {
					t.Errorf("something was ended: %v", l.calls)
				}
			})
		})
	}
}

func change(p *reconcile.Policy, how func(*reconcile.RulePolicy)) {
	changed := map[string]reconcile.RulePolicy{}
	for name, r := range p.Rules {
		how(&r)
		changed[name] = r
	}
	p.Rules = changed
}

// A config that knows no tasks any more leaves what rests on rows alone.
func TestNoTasksAnyMore(t *testing.T) {
	for name, named := range map[string][]string{"everything is wrong": everything, "a stop alone": {"stopped"}} {
		t.Run(name, func(t *testing.T) { noTasksAnyMore(t, named) })
	}
}

func noTasksAnyMore(t *testing.T, named []string) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, named...), &life{}
		d := s.daemon("first", l)
		if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
			t.Fatal(err)
		}
		k := s.keeper("reloaded", &life{})
		k.Policy.Tasks, k.Tasks, k.Queue = reconcile.TasksPolicy{None: true}, nil, d.board
		d.Reconciler, d.worker = k, run.NewWorker(s.Context(), k)
		if err := d.workOff(s.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Once(s.Context(), reconcile.Full, time.Second); err != nil {
			t.Error(err)
		}

		if wrote := s.table.writes(); len(wrote) > 0 {
			t.Errorf("rows were written: %v", wrote)
		}
	})
}

// A clock that was set back does not keep passes from being made.
func TestAPassAfterTheClockWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		d := s.daemon("first", &life{})
		if r, err := d.Pass(s.Context(), reconcile.Full, time.Minute); r == nil || err != nil {
			t.Fatalf("the first pass: %v, %v", r, err)
		}
		d.Ledger = setBack{d.Ledger}
		if r, err := d.Pass(s.Context(), reconcile.Full, time.Minute); r == nil || err != nil {
			t.Errorf("a pass after the clock was set back: %v, %v, want one", r, err)
		}
	})
}

// setBack is a ledger whose last pass lies in the future.
type setBack struct{ reconcile.Ledger }

func (g setBack) LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error) {
	began, now, err = g.Ledger.LastBegan(ctx, kind)
	return began.Add(time.Hour), now, err
}

// A hold that names a label of the sandbox keeps it from being asked for again.
func TestHeldByLabelIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, "orphan"), &life{}
		s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) {
			b.Stuck = true
			b.Labels["keep"] = "yes"
		})
		d := s.daemon("first", l)
		for held := false; !held || len(s.open()) == 0; {
			if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
				t.Fatal(err)
			}
			if err := d.workOff(s.Context()); err != nil {
				t.Fatal(err)
			}
			held = len(l.asked) > 0
			time.Sleep(time.Second)
		}
		h := reconcile.Hold{Target: "label:keep=yes", Reason: "drill", Author: "ana"}
		if _, err := s.ledger.Hold(s.Context(), h); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
				t.Fatal(err)
			}
			if err := d.workOff(s.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}

		if diff := cmp.Diff([]string{"sb-orphan"}, l.asked); diff != "" {
			t.Errorf("asked for its end (-want +got):\n%s", diff)
		}
	})
}

// A task that was started since the listing has a sandbox that nobody has listed yet. It is
// no reason to think that an orphan may be its own.
func TestTaskSinceTheListingShieldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t), &life{}
		s.cloud.Put(simulated.Sandbox{ID: "sb-orphan", CreatedAt: ago(6 * time.Minute), Labels: map[string]string{"app": "ours"}})
		d := s.daemon("first", l)
		for i := range 3 {
			if _, err := d.Pass(s.Context(), reconcile.Full, 0); err != nil {
				t.Fatal(err)
			}
			id := "fresh-" + string(rune('a'+i))
			s.put(row{beats: true, Task: reconcile.Task{State: reconcile.TaskRunning, StartedAt: time.Now()}}, id)
			if err := d.workOff(s.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}

		if diff := cmp.Diff([]string{"sb-orphan"}, l.asked); diff != "" {
			t.Errorf("asked for its end (-want +got):\n%s", diff)
		}
	})
}
