package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	place "github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// TestUnprovenRulesDoNothing: in random histories where proofs are asked for and none is there, with faults, crashes,
// replicas and operators, no rule begins anything; and of two that an operator has armed, nothing but they do.
func TestUnprovenRulesDoNothing(t *testing.T) {
	const most = 40
	armed := []string{"orphan", "assigned-stale"}
	done := map[string]int{}
	for seed := uint64(1); seed <= most; seed++ {
		script := history.Generate(seed)
		script.Setup = append(script.Setup, history.Event{Verb: "proof", Args: []string{"samples=200"}})
		var arms []string
		if seed%2 == 0 {
			arms = armed
		}
		r := simtest.Run(t, &script, simtest.Options{Begun: func(p *place.Platform) {
			for _, rule := range arms {
				if err := p.Ledger.Arm(context.Background(), rule, reconcile.Attribution{Author: "ana", Reason: "drill"}); err != nil {
					t.Error(err)
				}
			}
		}})
		if r.Err != nil || len(r.Violations) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, r.Err, whatBroke(r.Violations))
		}
		for what, n := range r.Coverage {
			rule, is := strings.CutPrefix(what, "do: ")
			rule, step, _ := strings.Cut(rule, " ")
			if !is || step == "activate" || rule == reconcile.RuleOperator || rule == reconcile.RuleEmergency {
				continue
			}
			done[rule] += n
			if n > 0 && (len(arms) == 0 || rule != armed[0] && rule != armed[1]) {
				t.Errorf("seed %d: %s, %d times, although it is not proven", seed, what, n)
			}
		}
	}
	for _, rule := range armed {
		if done[rule] == 0 {
			t.Errorf("%s was armed and never acted", rule)
		}
	}
}
