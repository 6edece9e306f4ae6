package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// goesOn is what a person who continues a task does.
func (s *stage) goesOn(id string) {
	s.table.change(id, func(r *row) {
		r.State, r.StartedAt, r.Events.Started, r.beats = reconcile.TaskRunning, time.Now(), time.Now(), true
	})
}

// over adds a task that is over, with its sandbox.
func (s *stage) over(id string, state reconcile.TaskState) {
	s.put(row{Task: reconcile.Task{State: state}}, id)
}

// enforce adds a rule that may act.
func (s *stage) enforce(name string, r reconcile.RulePolicy) {
	r.Mode, r.Rollout, r.Named = reconcile.Enforce, 100, true
	s.policy.Rules[name] = r
}

// A request that the provider took and lost is repeated only while its ground is there: what
// is in use by then is left alone, and the action is over.
func TestAskedAgainOnTheGroundOfNow(t *testing.T) {
	taken := func(state reconcile.TaskState) func(*stage) {
		return func(s *stage) {
			s.table.put(row{Task: reconcile.Task{ID: "late", Sandbox: "sb-x", State: state, CreatedAt: time.Now(),
				StartedAt: time.Now(), UpdatedAt: time.Now()}, beats: true})
			s.table.change("late", func(r *row) { r.State = state })
		}
	}
	asked := func(how reconcile.AskOptions) func(*stage) {
		return func(s *stage) {
			s.lonely("sb-x")
			s.ask(reconcile.AskTerminate(reconcile.RuleOperator, labRef("sb-x"), "", how))
		}
	}
	broken := func(s *stage) {
		s.put(row{beats: true}, "x")
		s.remedy("idle-broken", reconcile.Terminate)
		s.cloud.Change("sb-x", func(b *simulated.Sandbox) { b.Exec = simulated.Dead })
	}
	stop := simulated.Stop
	cases := map[string]struct {
		world    func(*stage)
		amid     func(*stage) // after the request was lost
		lost     simulated.Kind
		requests int
		become   reconcile.Outcome
		says     string
	}{
		"a stopped task that stays stopped": {world: func(s *stage) { s.over("x", reconcile.TaskStopped) },
			requests: 2, become: reconcile.OutcomeConfirmed, says: "asked again"},
		"a stopped task that a person continued": {world: func(s *stage) { s.over("x", reconcile.TaskStopped) },
			amid: func(s *stage) { s.goesOn("x") }, requests: 1, become: reconcile.OutcomeWithdrawn, says: "never carried out"},
		"a finished task": {world: func(s *stage) { s.over("x", reconcile.TaskCompleted) },
			requests: 2, become: reconcile.OutcomeConfirmed, says: "asked again"},
		"a finished task that a person continued": {world: func(s *stage) { s.over("x", reconcile.TaskCompleted) },
			amid: func(s *stage) { s.goesOn("x") }, requests: 1, become: reconcile.OutcomeWithdrawn, says: "never carried out"},
		"a finished task that is kept alive by now": {world: func(s *stage) { s.over("x", reconcile.TaskCompleted) },
			amid: func(s *stage) {
				s.table.change("x", func(r *row) { r.KeepAliveUntil = time.Now().Add(time.Hour) })
			}, requests: 1, become: reconcile.OutcomeWithdrawn, says: "kept alive until"},
		"an orphan": {world: func(s *stage) { s.lonely("sb-x"); s.watch(2) }, requests: 2,
			become: reconcile.OutcomeConfirmed, says: "asked again"},
		"an orphan that a task took": {world: func(s *stage) { s.lonely("sb-x"); s.watch(2) }, amid: taken(reconcile.TaskRunning),
			requests: 1, become: reconcile.OutcomeWithdrawn, says: "never carried out"},
		"an orphan that a row of an unmapped status names": {world: func(s *stage) { s.lonely("sb-x"); s.watch(2) },
			amid: taken(reconcile.TaskUnknown), requests: 1, become: reconcile.OutcomeWithdrawn, says: "never carried out"},
		"an orphan, while the provider does not tell": {world: func(s *stage) { s.lonely("sb-x"); s.watch(2) },
			amid: func(s *stage) {
				s.cloud.Inject(simulated.Fault{On: simulated.Get, ID: "sb-x", Effect: simulated.Answer, Status: 503})
			}, requests: 1, become: reconcile.OutcomeAccepted, says: "look at the sandbox"},
		"an orphan, while its rule only observes": {world: func(s *stage) { s.lonely("sb-x"); s.watch(2) }, amid: observing,
			requests: 1, become: reconcile.OutcomeAccepted, says: "not asked again: observe"},
		"one that is too old, whatever its task does": {world: func(s *stage) {
			s.put(row{beats: true}, "x")
			s.enforce("over-age", reconcile.RulePolicy{After: 30 * time.Minute, Remedy: reconcile.Terminate,
				Overrides: []reconcile.Override{{When: map[string]string{"template": "old"}, After: 30 * time.Minute}}})
			over := s.policy.Rules["over-age"]
			over.After = 0
			s.policy.Rules["over-age"] = over
			s.cloud.Change("sb-x", func(b *simulated.Sandbox) { b.Template = "old" })
		}, requests: 2, become: reconcile.OutcomeConfirmed, says: "asked again"},
		"one too many, which is no reason to look away from it": {world: func(s *stage) {
			s.enforce("duplicate", reconcile.RulePolicy{After: time.Minute, Remedy: reconcile.Terminate})
			s.cloud.Put(simulated.Sandbox{ID: "sb-x", CreatedAt: ago(time.Hour), Labels: map[string]string{"app": "ours", "task": "h1"}})
		}, requests: 2, become: reconcile.OutcomeConfirmed, says: "asked again"},
		"one too many that the row names by now": {world: func(s *stage) {
			s.enforce("duplicate", reconcile.RulePolicy{After: time.Minute, Remedy: reconcile.Terminate})
			s.cloud.Put(simulated.Sandbox{ID: "sb-x", CreatedAt: ago(time.Hour), Labels: map[string]string{"app": "ours", "task": "h1"}})
		}, amid: func(s *stage) {
			s.policy.Rules["duplicate"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, After: time.Hour * 9, Remedy: reconcile.Terminate}
			s.table.change("h1", func(r *row) { r.Sandbox = "sb-x" })
		}, requests: 1, become: reconcile.OutcomeWithdrawn, says: "never carried out"},
		"a broken one": {world: broken, requests: 2, become: reconcile.OutcomeConfirmed, says: "asked again"},
		"a broken one that works by now": {world: broken, amid: func(s *stage) {
			s.cloud.Change("sb-x", func(b *simulated.Sandbox) { b.Exec = simulated.Healthy })
		}, requests: 1, become: reconcile.OutcomeWithdrawn, says: "the final probe was answered"},
		"a later step": {world: func(s *stage) {
			s.put(row{Task: reconcile.Task{State: reconcile.TaskAssigned, AssignedAt: ago(time.Hour)}}, "x")
		}, requests: 2, become: reconcile.OutcomeConfirmed, says: "asked again"},
		"a later step, when the task goes on": {world: func(s *stage) {
			s.put(row{Task: reconcile.Task{State: reconcile.TaskAssigned, AssignedAt: ago(time.Hour)}}, "x")
		}, amid: func(s *stage) { s.goesOn("x") }, requests: 1, become: reconcile.OutcomeWithdrawn, says: "live again"},
		"a quarantine": {world: func(s *stage) { s.lonely("sb-x"); s.remedy("orphan", reconcile.Quarantine); s.watch(2) },
			lost: stop, requests: 2, become: reconcile.OutcomeDone, says: "asked again"},
		"a quarantine of what a task took": {world: func(s *stage) {
			s.lonely("sb-x")
			s.remedy("orphan", reconcile.Quarantine)
			s.watch(2)
		}, amid: taken(reconcile.TaskRunning), lost: stop, requests: 1, become: reconcile.OutcomeWithdrawn, says: "never carried out"},
		"what a person asked for": {world: asked(reconcile.AskOptions{}), requests: 2, become: reconcile.OutcomeConfirmed,
			says: "asked again"},
		"what a person asked for and a task took": {world: asked(reconcile.AskOptions{}), amid: taken(reconcile.TaskRunning),
			requests: 1, become: reconcile.OutcomeWithdrawn, says: "--include-running"},
		"that, where the person said also then": {world: asked(reconcile.AskOptions{Running: true}),
			amid: taken(reconcile.TaskRunning), requests: 2, become: reconcile.OutcomeConfirmed, says: "asked again"},
	}
	for name, c := range cases {
		for way, work := range map[string]func(*stage){"once": onceQuietly, "daemon": daemonQuietly} {
			t.Run(name+" by "+way, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					lost := c.lost
					if lost == "" {
						lost = simulated.Delete
					}
					s := opened(t)
					entry := s.policy.Providers[lab]
					entry.QuarantineFor = time.Hour
					s.policy.Providers[lab] = entry
					c.world(s)
					s.cloud.Inject(simulated.Fault{On: lost, ID: "sb-x", Effect: simulated.NotDone, Count: 1})
					for n := 0; s.calls(lost)["sb-x"] == 0 && n < 20; n++ {
						work(s)
						time.Sleep(30 * time.Second)
					}
					first := s.openOn("sb-x")
					if first.Outcome != reconcile.OutcomeAccepted {
						t.Fatalf("the action is %s (%s), want it accepted", first.Outcome, first.Detail)
					}
					if c.amid != nil {
						c.amid(s)
					}
					for range 4 {
						work(s)
						time.Sleep(time.Minute)
					}
					if got := s.calls(lost)["sb-x"]; got != c.requests {
						t.Errorf("%d requests reached the provider, want %d", got, c.requests)
					}
					got := s.became(first)
					if got.Outcome != c.become || !strings.Contains(got.Detail, c.says) {
						t.Errorf("the action is %s (%s), want %s (%s)", got.Outcome, got.Detail, c.become, c.says)
					}
				})
			})
		}
	}
}

// openOn is the open action that was tried on a sandbox.
func (s *stage) openOn(id string) reconcile.Action {
	s.Helper()
	for _, a := range s.open() {
		if a.Sandbox == id && a.Attempts > 0 {
			return a
		}
	}
	s.Fatalf("nothing was tried on %s and is open", id)
	return reconcile.Action{}
}

// A quick pass cannot judge by a rule that rests on a listing: it neither asks again nor gives
// up, and a full pass goes on where it was.
func TestQuickPassLeavesItToAFullOne(t *testing.T) {
	for name, c := range map[string]struct {
		fault simulated.Fault
		want  reconcile.Outcome
	}{
		"a request that was lost": {simulated.Fault{Effect: simulated.NotDone}, reconcile.OutcomeAccepted},
		"a request that failed":   {simulated.Fault{Effect: simulated.Answer, Status: 503}, reconcile.OutcomePending},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, "orphan")
				c.fault.On, c.fault.Count = simulated.Delete, 1
				s.cloud.Inject(c.fault)
				s.once()
				first := s.openOn("sb-orphan")
				time.Sleep(3 * time.Minute)
				if _, err := s.keeper("quick", &life{}).Once(t.Context(), reconcile.Quick, 0); err != nil {
					t.Fatal(err)
				}
				if got := s.became(first); got.Outcome != c.want {
					t.Errorf("the action is %s (%s), want it to wait for a full pass", got.Outcome, got.Detail)
				}
				if n := s.calls(simulated.Delete)["sb-orphan"]; n != 1 {
					t.Errorf("%d deletes reached the provider, want the first alone", n)
				}
				time.Sleep(5 * time.Second)
				s.once()
				if n := s.calls(simulated.Delete)["sb-orphan"]; n != 2 {
					t.Errorf("%d deletes reached the provider after a full pass, want 2", n)
				}
			})
		})
	}
}
