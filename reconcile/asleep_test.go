package reconcile

import (
	"testing"
	"time"
)

// TestAsleep: both sides of the end of a quarantine, and all that is no quarantine.
func TestAsleep(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stop := Action{ID: "q", Remedy: "r", Step: StepQuarantine}
	for name, c := range map[string]struct {
		change func(*Action)
		beside []Action
		want   bool
	}{
		"it waits":                           {want: true},
		"its time is over":                   {change: func(a *Action) { a.NextAttempt = now }},
		"it was tried":                       {change: func(a *Action) { a.Attempts = 1 }},
		"it was claimed":                     {change: func(a *Action) { a.ClaimedAt = now }},
		"it follows no quarantine":           {change: func(a *Action) { a.Evidence = nil }},
		"it is the first step":               {change: func(a *Action) { a.Seq = 0 }},
		"the stop before it is still open":   {beside: []Action{stop}},
		"the stop of another remedy is open": {beside: []Action{{ID: "q", Remedy: "other", Step: StepQuarantine}}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := Action{ID: "a", Remedy: "r", Seq: 1, Step: StepTerminate, NextAttempt: now.Add(1),
				Evidence: []Evidence{{Source: quarantined}}}
			if c.change != nil {
				c.change(&a)
			}
			got := Asleep(append(c.beside, a), now)
			if got["a"] != c.want || len(got) > 1 {
				t.Errorf("asleep = %v, want %v", got, c.want)
			}
		})
	}
}
