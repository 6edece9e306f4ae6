package reconcile

import "time"

// QuarantinedActions are the ids of those open terminates that wait for the end of a quarantine: their
// sandboxes are stopped or paused, and can come back until then.
func QuarantinedActions(open []Action, now time.Time) map[string]bool {
	asleep := map[string]bool{}
	for _, a := range StoppedFirst(open) {
		if a.NextAttempt.After(now) {
			asleep[a.ID] = true
		}
	}
	return asleep
}

// StoppedFirst are the open terminates, not begun, whose sandbox a quarantine has stopped or
// paused: by sandbox, each of which has at most one.
func StoppedFirst(open []Action) map[Ref]*Action {
	type stop struct {
		remedy string
		Ref
	}
	var out map[Ref]*Action
	stopping := map[stop]bool{}
	for i := range open {
		if a := &open[i]; a.Step == StepQuarantine {
			stopping[stop{a.Remedy, Ref{a.Provider, a.Sandbox}}] = true
		}
	}
	for i := range open {
		a := &open[i]
		ref := Ref{a.Provider, a.Sandbox}
		if !a.InQuarantine() || a.Begun() || stopping[stop{a.Remedy, ref}] {
			continue
		}
		if out == nil {
			out = map[Ref]*Action{}
		}
		out[ref] = a
	}
	return out
}

// EndHeldBy reports whether a source that is not trusted holds the end of the action's quarantine, which is due: it
// comes long after its verdict, so that no finding need be open by then that a release could name.
func (a *Action) EndHeldBy(source string, now time.Time) bool {
	return a.InQuarantine() && !a.Begun() && !a.NextAttempt.After(now) &&
		(source == SourceTasks || source == SourceLink || source == ListingOf(a.Provider))
}
