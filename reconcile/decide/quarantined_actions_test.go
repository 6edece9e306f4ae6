package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestAsleep: both sides of the end of a quarantine, and all that is no quarantine.
func TestAsleep(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stop := reconcile.Action{ID: "q", Remedy: "r", Step: reconcile.StepQuarantine}
	for name, c := range map[string]struct {
		change func(*reconcile.Action)
		beside []reconcile.Action
		want   bool
	}{
		"it waits":                           {want: true},
		"its time is over":                   {change: func(a *reconcile.Action) { a.NextAttempt = now }},
		"it was tried":                       {change: func(a *reconcile.Action) { a.Attempts = 1 }},
		"it was claimed":                     {change: func(a *reconcile.Action) { a.ClaimedAt = now }},
		"it follows no quarantine":           {change: func(a *reconcile.Action) { a.Evidence = nil }},
		"it is the first step":               {change: func(a *reconcile.Action) { a.Seq = 0 }},
		"the stop before it is still open":   {beside: []reconcile.Action{stop}},
		"the stop of another remedy is open": {beside: []reconcile.Action{{ID: "q", Remedy: "other", Step: reconcile.StepQuarantine}}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := reconcile.Action{ID: "a", Remedy: "r", Seq: 1, Step: reconcile.StepTerminate, NextAttempt: now.Add(1),
				Evidence: []reconcile.Evidence{{Source: reconcile.Quarantined}}}
			if c.change != nil {
				c.change(&a)
			}
			got := reconcile.QuarantinedActions(append(c.beside, a), now)
			if got["a"] != c.want || len(got) > 1 {
				t.Errorf("asleep = %v, want %v", got, c.want)
			}
		})
	}
}
