package run_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func labRef(id string) reconcile.Ref { return reconcile.Ref{Provider: lab, ID: id} }

// What a person asks for is done whatever the rules may do, once, and only to what is ours
// and free.
// explained makes a further table explain the sandbox that is asked for.
func explained(s *stage) {
	s.policy.Tasks.ExplainedBy = []reconcile.Explanation{{Table: "specs"}}
	s.table.explain([]string{"sb-asked"})
}

func TestAskedEnds(t *testing.T) {
	idle := func(s *stage) {
		s.cloud.Put(simulated.Sandbox{ID: "sb-asked", Name: "asked", CreatedAt: time.Now(),
			Labels: map[string]string{"app": "ours", "team": "red"}})
	}
	hold := func(target string) func(*stage) {
		return func(s *stage) {
			if _, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: target, Author: "ana", Reason: "drill"}); err != nil {
				s.Error(err)
			}
		}
	}
	pause := func(scope string) func(*stage) {
		return func(s *stage) {
			if err := s.ledger.Pause(s.Context(), reconcile.Pause{Scope: scope, Author: "ana", Reason: "drill"}); err != nil {
				s.Error(err)
			}
		}
	}
	cases := map[string]struct {
		world  []func(*stage)
		id     string // default sb-asked
		how    reconcile.AskOptions
		rule   string // default operator
		ended  bool
		become reconcile.Outcome
		says   string
	}{
		"an idle one":             {ended: true, become: reconcile.OutcomeConfirmed},
		"in an emergency":         {rule: reconcile.RuleEmergency, ended: true, become: reconcile.OutcomeConfirmed},
		"while all rules observe": {world: []func(*stage){observing}, ended: true, become: reconcile.OutcomeConfirmed},
		"budgets of a pass do not hold": {world: []func(*stage){func(s *stage) { s.policy.Limits.PerPass, s.policy.Limits.Share = 0, 0 }},
			ended: true, become: reconcile.OutcomeConfirmed},
		"the hour does":         {world: []func(*stage){func(s *stage) { s.policy.Limits.PerHour = 0 }}, become: reconcile.OutcomePending},
		"a foreign one":         {id: "sb-foreign", become: reconcile.OutcomeWithdrawn, says: "not proven ours"},
		"one that is gone":      {id: "sb-never", become: reconcile.OutcomeConfirmed},
		"one where a task runs": {id: "sb-h1", become: reconcile.OutcomeWithdrawn, says: "--include-running"},
		"that too":              {id: "sb-h1", how: reconcile.AskOptions{Running: true}, ended: true, become: reconcile.OutcomeConfirmed},
		"one where a task ran until its table was emptied": {world: []func(*stage){emptied}, id: "sb-h1",
			how: reconcile.AskOptions{Anyway: true}, become: reconcile.OutcomeWithdrawn, says: "--include-running"},
		"that too, said twice": {world: []func(*stage){emptied}, id: "sb-h1",
			how: reconcile.AskOptions{Anyway: true, Running: true}, ended: true, become: reconcile.OutcomeConfirmed},
		"one that may be another environment's": {world: []func(*stage){shared}, id: "sb-twin", rule: reconcile.RuleEmergency, become: reconcile.OutcomeWithdrawn,
			says: "--anyway"},
		"that too, by its id": {world: []func(*stage){shared}, id: "sb-twin", ended: true, become: reconcile.OutcomeConfirmed},
		"that too, on purpose": {world: []func(*stage){shared}, id: "sb-twin", rule: reconcile.RuleEmergency, how: reconcile.AskOptions{Anyway: true}, ended: true,
			become: reconcile.OutcomeConfirmed},
		"one that a further table explains": {world: []func(*stage){explained}, become: reconcile.OutcomeWithdrawn,
			says: "a row of specs explains it; ask with --include-running"},
		"that too, with those at work": {world: []func(*stage){explained}, how: reconcile.AskOptions{Running: true}, ended: true,
			become: reconcile.OutcomeConfirmed},
		"a pause of all":          {world: []func(*stage){pause("all")}, become: reconcile.OutcomePending},
		"a pause of the provider": {world: []func(*stage){pause("provider:lab")}, become: reconcile.OutcomePending},
		"a pause of a rule":       {world: []func(*stage){pause("rule:orphan")}, ended: true, become: reconcile.OutcomeConfirmed},
		"a hold by id":            {world: []func(*stage){hold("sandbox:sb-asked")}, become: reconcile.OutcomePending},
		"a hold by name":          {world: []func(*stage){hold("sandbox:asked")}, become: reconcile.OutcomePending},
		"a hold by label":         {world: []func(*stage){hold("label:team=red")}, become: reconcile.OutcomePending},
		"a hold of its task":      {world: []func(*stage){hold("task:h1")}, id: "sb-h1", how: reconcile.AskOptions{Running: true}, become: reconcile.OutcomePending},
		"a listing that failed":   {world: []func(*stage){deafList}, become: reconcile.OutcomePending},
		"anyway, by one of two operators": {world: []func(*stage){two}, how: reconcile.AskOptions{Anyway: true}, become: reconcile.OutcomeWithdrawn,
			says: "--second"},
		"that too, anyway": {world: []func(*stage){deafList}, how: reconcile.AskOptions{Anyway: true}, ended: true, become: reconcile.OutcomeConfirmed},
	}
	for name, c := range cases {
		for way, work := range map[string]func(*stage){"once": onceQuietly, "daemon": daemonQuietly} {
			t.Run(name+" by "+way, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := opened(t)
					idle(s)
					for _, change := range c.world {
						change(s)
					}
					id, rule := or(c.id, "sb-asked"), or(c.rule, reconcile.RuleOperator)
					a := reconcile.AskTerminate(rule, labRef(id), "", c.how)
					s.ask(a)
					for range 4 {
						work(s)
						time.Sleep(time.Minute)
					}
					if got := s.calls(simulated.Delete)[id]; got != map[bool]int{true: 1}[c.ended] {
						t.Errorf("%d deletes reached the provider, want it ended: %v", got, c.ended)
					}
					got := s.became(a)
					if got.Outcome != c.become || !strings.Contains(got.Detail, c.says) {
						t.Errorf("the action is %s (%s), want %s (%s)", got.Outcome, got.Detail, c.become, c.says)
					}
				})
			})
		}
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// became is an action as the ledger has it by now, open or closed.
func (s *stage) became(a reconcile.Action) reconcile.Action {
	s.Helper()
	for _, subject := range []string{a.Subject, a.Sandbox} {
		h, err := s.ledger.Subject(s.Context(), subject)
		if err != nil {
			continue
		}
		for i := range h.Actions {
			if h.Actions[i].ID == a.ID {
				return h.Actions[i]
			}
		}
	}
	s.Fatalf("no action %s is on record", a.ID)
	return reconcile.Action{}
}

func two(s *stage) { s.policy.TwoOperators = true }

func observing(s *stage) {
	for name, r := range s.policy.Rules {
		r.Mode = reconcile.Observe
		s.policy.Rules[name] = r
	}
}

// shared is an account that may be shared, with a sandbox of a task that nobody here knows.
func shared(s *stage) {
	p := s.policy.Providers[lab]
	p.Exclusive = false
	s.policy.Providers[lab] = p
	s.cloud.Put(simulated.Sandbox{ID: "sb-twin", Name: "twin", CreatedAt: time.Now(),
		Labels: map[string]string{"app": "ours", "task": "theirs-1"}})
}

// emptied is a task table that has lost its rows.
func emptied(s *stage) {
	s.table.rows = nil
}

func deafList(s *stage) {
	s.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: 500})
}

// onceQuietly makes a pass; what it meets is judged by what it leaves.
func onceQuietly(s *stage) {
	_, _ = s.keeper("once", &life{}).Once(s.Context(), reconcile.Full, time.Second)
}

func daemonQuietly(s *stage) {
	d := s.daemon("daemon", &life{})
	_, _ = d.Pass(s.Context(), reconcile.Full, 0)
	_ = d.workOff(s.Context())
}

// A hold ends by itself, and then what was asked for is done.
func TestAskedEndAfterAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.cloud.Put(simulated.Sandbox{ID: "sb-asked", CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
		_, err := s.ledger.Hold(t.Context(), reconcile.Hold{Target: "sandbox:sb-asked", Author: "ana", Reason: "drill",
			Until: time.Now().Add(10 * time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		s.ask(reconcile.AskTerminate(reconcile.RuleOperator, labRef("sb-asked"), "", reconcile.AskOptions{}))
		for range 9 {
			onceQuietly(s)
			time.Sleep(time.Minute)
		}
		if n := len(s.deletes()); n != 0 {
			t.Fatalf("%d sandboxes were ended under a hold", n)
		}
		for range 3 {
			time.Sleep(time.Minute)
			onceQuietly(s)
		}
		if n := len(s.deletes()); n != 1 {
			t.Errorf("%d sandboxes were ended after the hold, want 1", n)
		}
	})
}

// A task may take the sandbox between the look of the person and the deed, and a hold may
// come in that very moment: the last look decides.
func TestAskedEndLooksLast(t *testing.T) {
	cases := map[string]func(*stage){
		"a task takes it": func(s *stage) {
			s.table.put(row{Task: reconcile.Task{ID: "late", State: reconcile.TaskRunning, Sandbox: "sb-asked",
				StartedAt: time.Now()}})
		},
		"a hold comes": func(s *stage) {
			if _, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: "sandbox:sb-asked", Author: "ana", Reason: "x"}); err != nil {
				s.Error(err)
			}
		},
		"a pause comes": func(s *stage) {
			if err := s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "x"}); err != nil {
				s.Error(err)
			}
		},
		"its labels go": func(s *stage) {
			s.cloud.Change("sb-asked", func(b *simulated.Sandbox) { b.Labels = nil })
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t), &life{}
				s.cloud.Put(simulated.Sandbox{ID: "sb-asked", CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
				s.ask(reconcile.AskTerminate(reconcile.RuleOperator, labRef("sb-asked"), "", reconcile.AskOptions{}))
				changed := false
				l.before = func(_ int, call string) {
					if call == "Logs" && !changed { // between the first look and the last
						changed = true
						change(s)
					}
				}
				if _, err := s.keeper("once", l).Once(context.WithoutCancel(t.Context()), reconcile.Full, time.Second); err != nil {
					t.Fatal(err)
				}
				if !changed {
					t.Error("nothing changed: the test tests nothing")
				}
				if got := s.deletes(); len(got) != 0 {
					t.Errorf("%v was ended", got)
				}
			})
		})
	}
}
