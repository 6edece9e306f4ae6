package run_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// What waits to be confirmed is looked at side by side: a slow provider does not keep a run waiting for each.
func TestConfirmsSideBySide(t *testing.T) {
	const many = 16
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		var asked []reconcile.Action
		for i := range many {
			id := fmt.Sprint("sb-asked-", i)
			s.cloud.Put(simulated.Sandbox{ID: id, CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
			asked = append(asked, reconcile.AskTerminate(reconcile.RuleOperator, labRef(id), "", reconcile.AskOptions{}))
		}
		s.ask(asked...)
		s.once()
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeAccepted {
				t.Fatalf("%s is %s (%s), want it accepted", a.Sandbox, got.Outcome, got.Detail)
			}
		}
		time.Sleep(time.Minute) // until they are gone
		s.cloud.Inject(simulated.Fault{On: simulated.Get, Delay: time.Second})
		k := s.whole()
		began := time.Now()
		if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > many*time.Second/2 {
			t.Errorf("it took %s to look at %d that take a second each", took, many)
		}
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeConfirmed {
				t.Errorf("%s is %s (%s), want it confirmed", a.Sandbox, got.Outcome, got.Detail)
			}
		}
	})
}

// stageOfMany has many sandboxes whose termination was accepted a minute ago, in a cloud where they stay for so long.
func stageOfMany(t *testing.T, many int, stay time.Duration) (s *stage, asked []reconcile.Action) {
	t.Helper()
	s, asked = stageOfEnds(t, many, stay)
	s.once()
	for _, a := range asked {
		if got := s.became(a); got.Outcome != reconcile.OutcomeAccepted {
			t.Fatalf("%s is %s (%s), want it accepted", a.Sandbox, got.Outcome, got.Detail)
		}
	}
	time.Sleep(time.Minute)
	s.cloud.ResetCalls()
	return s, asked
}

// whole is a process that calls the provider itself, with all that it can.
func (s *stage) whole() *run.Reconciler {
	k := s.keeper("whole", &life{})
	k.Tasks, k.Ledger, k.Parallel = s.table, s.ledger, 0
	k.Providers = map[string]reconcile.Provider{lab: s.provider}
	return k
}

// Where many wait, a listing confirms them: some are got to see whether it is right, and not each.
func TestConfirmsManyByPages(t *testing.T) {
	const many = 120
	synctest.Test(t, func(t *testing.T) {
		s, asked := stageOfMany(t, many, 20*time.Second)
		if _, err := s.whole().Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeConfirmed {
				t.Errorf("%s is %s (%s), want it confirmed", a.Sandbox, got.Outcome, got.Detail)
			}
		}
		if gets := s.calls(simulated.Get); len(gets) > many/2 {
			t.Errorf("%d of %d were got one by one", len(gets), many)
		}
	})
}

// A listing that leaves out what is there confirms nothing.
func TestConfirmsNothingByPagesThatLie(t *testing.T) {
	const many = 60
	synctest.Test(t, func(t *testing.T) {
		s, asked := stageOfMany(t, many, 24*time.Hour)
		s.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Omit,
			Omits: func(b simulated.Sandbox) bool { return b.State == reconcile.SandboxDeleting }})
		if _, err := s.whole().Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeAccepted {
				t.Errorf("%s is %s (%s), want it to be waited for: it is there", a.Sandbox, got.Outcome, got.Detail)
			}
		}
	})
}

// unlogged is a provider that has no logs.
type unlogged struct{ reconcile.Provider }

// The ruling rests on one look, and so does the delete, unless it took so long that it may not hold: then the ruling makes
// another one, and the adapter one of its own. Before it comes the pass's, for a listing may have lost the label that says
// whose the sandbox is.
func TestOneLookOfARuling(t *testing.T) {
	for name, c := range map[string]struct {
		slow time.Duration
		want []simulated.Kind
	}{
		"quick": {0, []simulated.Kind{simulated.Get, simulated.Get, simulated.Delete}},
		"slow": {3 * time.Second, []simulated.Kind{simulated.Get, simulated.Get, simulated.Get, simulated.Get,
			simulated.Delete}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, "orphan")
				k := s.whole()
				k.Providers = map[string]reconcile.Provider{lab: unlogged{s.provider}}
				s.cloud.Inject(simulated.Fault{On: simulated.Get, ID: "sb-orphan", Delay: c.slow})
				s.cloud.ResetCalls()
				if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
					t.Fatal(err)
				}
				var kinds []simulated.Kind
				for _, call := range s.cloud.Calls() {
					if call.ID == "sb-orphan" {
						kinds = append(kinds, call.Kind)
					}
				}
				until := slices.Index(kinds, simulated.Delete) + 1
				if !slices.Equal(kinds[:until], c.want) {
					t.Errorf("the calls up to the delete are %v, want %v", kinds[:until], c.want)
				}
			})
		})
	}
}

// Many that were ended a moment ago are listed when the last of them had time to go: one listing tells then, and none of
// them is waited for one by one.
func TestManyThatGoSoonAreListedOnce(t *testing.T) {
	const many = 60
	synctest.Test(t, func(t *testing.T) {
		s := openedIn(t, simulated.Options{DeleteAfter: time.Second})
		s.policy.Limits.PerHour = 10 * many
		var asked []reconcile.Action
		for i := range many {
			id := fmt.Sprintf("sb-asked-%03d", i)
			s.cloud.Put(simulated.Sandbox{ID: id, CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
			asked = append(asked, reconcile.AskTerminate(reconcile.RuleOperator, labRef(id), "", reconcile.AskOptions{}))
		}
		s.ask(asked...)
		k := s.whole()
		s.cloud.ResetCalls()
		if _, err := k.Once(t.Context(), reconcile.Full, time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeConfirmed {
				t.Errorf("%s is %s (%s), want it confirmed", a.Sandbox, got.Outcome, got.Detail)
			}
		}
		if lists := s.calls(simulated.List)[""]; lists > 2 {
			t.Errorf("%d pages were read for %d, want those of the pass and of one listing after their ends", lists, many)
		}
	})
}
