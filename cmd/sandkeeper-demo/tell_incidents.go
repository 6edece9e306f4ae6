package main

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// incidents tells when many failures turn out to be one, and when that is over.
func (t *teller) incidents(all []reconcile.Incident) {
	for i := range all {
		in := &all[i]
		switch {
		case !t.once("incident " + in.ID):
		case in.Cause == "":
			t.line(t.paint.Yellow(mark("incident")), "%s: %d failures of %s are alike", in.ID, in.Count, in.Rule)
		default:
			t.line(t.paint.Yellow(mark("incident")), "%s: %d failures of %s are alike; likely cause: %s",
				in.ID, in.Count, in.Rule, text.Clip(in.Cause, width))
		}
		if !in.ClosedAt.IsZero() && t.once("closed "+in.ID) {
			t.line(t.paint.Green(mark("closed")), "%s, after %d failures", in.ID, in.Count)
		}
	}
}

// regrets tells of tasks that were marked failed and then lived: there should be none.
func (t *teller) regrets(all []reconcile.Verdict) {
	for i := range all {
		if v := &all[i]; t.once(fmt.Sprintf("false positive %d", v.Number)) {
			t.line(t.paint.Red(mark("regret")), "%s: task %s: %s", v.Rule, v.Task, text.Clip(v.FalsePositive, width))
		}
	}
}

// once reports whether something is to be told: only the first time.
func (t *teller) once(what string) bool {
	first := !t.said[what]
	t.said[what] = true
	return first
}
