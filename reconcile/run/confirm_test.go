package run_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
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
		k := s.keeper("slow", &life{})
		k.Tasks, k.Ledger, k.Parallel = s.table, s.ledger, 0
		k.Providers = map[string]reconcile.Provider{lab: s.provider}
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
