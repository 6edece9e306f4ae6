package reconcile

import "time"

// Asleep are the ids of those open terminates that wait for the end of a quarantine: their
// sandboxes are stopped or paused, and can come back until then.
func Asleep(open []Action, now time.Time) map[string]bool {
	stopping, asleep := map[string]bool{}, map[string]bool{}
	for i := range open {
		if open[i].Step == StepQuarantine {
			stopping[open[i].Remedy] = true
		}
	}
	for i := range open {
		a := &open[i]
		if a.inQuarantine() && !stopping[a.Remedy] && !a.begun() && a.NextAttempt.After(now) {
			asleep[a.ID] = true
		}
	}
	return asleep
}
