package alerts

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// outcomes are those that a step comes to. A row is written at no provider.
var outcomes = []struct {
	step     reconcile.Step
	onRow    bool
	outcomes []reconcile.Outcome
}{
	{reconcile.StepFail, true, written},
	{reconcile.StepRequeue, true, written},
	{reconcile.StepTerminate, false, []reconcile.Outcome{reconcile.OutcomeAccepted,
		reconcile.OutcomeConfirmed, reconcile.OutcomeWithdrawn, reconcile.OutcomeFailed}},
}

// written are the outcomes of a step on a row.
var written = []reconcile.Outcome{reconcile.OutcomeDone, reconcile.OutcomeWithdrawn, reconcile.OutcomeFailed}

// actions begin at 0 for what can be foreseen, see totals.
func actions(r *reading, put put) {
	r.everywhere(func(rule, provider string) {
		for _, o := range outcomes {
			if o.onRow != (provider == "") {
				continue
			}
			for _, outcome := range o.outcomes {
				put(0, rule, provider, string(o.step), string(outcome))
			}
		}
	})
	for _, c := range r.counters("actions") {
		step, outcome, _ := strings.Cut(c.What, ":")
		put(float64(c.Value), c.Rule, c.Provider, step, outcome)
	}
}

func actionsOpen(r *reading, put put) {
	for _, a := range r.Actions {
		put(float64(a.Count), a.Rule, a.Provider, string(a.Step), string(a.Outcome))
	}
}

func overdue(r *reading, put put) { put(float64(r.Overdue)) }

func notices(r *reading, put put) { put(float64(r.Notices)) }
