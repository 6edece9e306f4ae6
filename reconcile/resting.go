package reconcile

// resting says that the sandboxes of a subject are in quarantine: nothing is judged of them
// until that is over. A live task is judged, whatever became of a sandbox of it.
func (v *view) resting(s *Subject) (kept, by string) {
	if len(v.quarantine) == 0 || s.Fate == FateLive && s.Task != nil {
		return "", ""
	}
	for i := range s.Boxes {
		b := &s.Boxes[i]
		a := v.quarantine[b.Ref]
		if a == nil && b.Here && b.State.Exists() {
			return "", ""
		}
		if a != nil {
			kept, by = "in quarantine until "+stamp(a.NextAttempt), quarantined
		}
	}
	return kept, by
}

// stopping are the remedies with a quarantine that is not done.
func (v *view) stopping() map[string]bool {
	stopping := map[string]bool{}
	for i := range v.s.Memory.Actions {
		if a := &v.s.Memory.Actions[i]; a.Step == StepQuarantine {
			stopping[a.Remedy] = true
		}
	}
	return stopping
}

// quarantines are the open terminates whose sandbox was stopped or paused and is to be kept
// for a while yet.
func (v *view) quarantines() map[Ref]*Action {
	stopping := v.stopping()
	var out map[Ref]*Action
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		if !a.inQuarantine() || stopping[a.Remedy] || a.begun() || !a.NextAttempt.After(v.now) {
			continue
		}
		if out == nil {
			out = map[Ref]*Action{}
		}
		out[Ref{a.Provider, a.Sandbox}] = a
	}
	return out
}
