package alerts

import (
	"slices"
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

// actions begin at 0 for what can be foreseen, see totals: the steps of the remedies that may act.
func actions(r *reading, put put) {
	r.everywhere(func(rule, provider string) {
		for _, o := range outcomes {
			if o.onRow != (provider == "") || !r.takes(rule, o.step) {
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

// takes reports whether the rule may act here, and its remedy has the step.
func (r *reading) takes(rule string, step reconcile.Step) bool {
	p, known := r.policy.Rules[rule]
	if !known || p.Mode != reconcile.Enforce {
		return false
	}
	switch p.Remedy {
	case reconcile.Fail:
		return step != reconcile.StepRequeue
	case reconcile.Requeue:
		return step != reconcile.StepFail
	case reconcile.Terminate, reconcile.Quarantine:
		return step == reconcile.StepTerminate
	case reconcile.Stop:
		return step == reconcile.StepQuarantine
	}
	return false
}

func actionsOpen(r *reading, put put) {
	for _, a := range r.Actions {
		put(float64(a.Count), a.Rule, a.Provider, string(a.Step), string(a.Outcome))
	}
}

func overdue(r *reading, put put) { put(float64(r.Overdue)) }

func notices(r *reading, put put) { put(float64(r.Notices)) }

func noticesDone(r *reading, put put) {
	if len(r.counters("notices")) == 0 && r.Notices == 0 {
		return // there is nobody to tell
	}
	done := map[string]int64{"told": 0, "given-up": 0}
	for _, c := range r.counters("notices") {
		done[c.What] += c.Value
	}
	for outcome, n := range done {
		put(float64(n), outcome)
	}
}

func notifications(r *reading, put put) {
	for _, c := range r.counters("notifications") {
		receiver, outcome, _ := strings.Cut(c.What, ":")
		put(float64(c.Value), receiver, outcome)
	}
}

func requests(r *reading, put put) {
	done := map[string]int64{}
	for _, c := range r.counters("actions") {
		if slices.Contains(reconcile.AskedRules, c.Rule) {
			done[c.What] += c.Value
		}
	}
	for what, n := range done {
		step, outcome, _ := strings.Cut(what, ":")
		put(float64(n), step, outcome)
	}
}

func requestsOpen(r *reading, put put) {
	open := map[reconcile.Step]int{}
	for _, a := range r.Actions {
		if slices.Contains(reconcile.AskedRules, a.Rule) {
			open[a.Step] += a.Count
		}
	}
	for step, n := range open {
		put(float64(n), string(step))
	}
}
