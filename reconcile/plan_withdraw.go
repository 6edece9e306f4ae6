package reconcile

// withdrawn are the open actions that nobody has begun and that this pass does not call
// for any more, or that are held now. What a person asked for is not withdrawn by a pass,
// and a later step follows its remedy: one that an incident holds waits until that is over.
// The end of a quarantine goes when its sandbox is in use again.
func (v *view) withdrawn(drafts []*draft, incidents []Incident, awakened map[string]string) []string {
	wanted := wantedSteps(drafts)
	held := Controls{Incidents: incidents}
	remedies := map[string]bool{}
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		//guard:withdraw-begun lost
		//guard:withdraw-asked lost
		if a.begun() || a.Outcome != OutcomePending || a.asked() {
			continue
		}
		underIncident := a.Step != StepFail && held.incident(a.Signature) != ""
		if a.Seq == 0 && (underIncident || v.s.Kind == Full && wanted[a.key()] != a.Step) {
			remedies[a.Remedy] = true
		}
	}
	var out []string
	for i := range v.s.Memory.Actions {
		if a := &v.s.Memory.Actions[i]; remedies[a.Remedy] || awakened[a.ID] != "" {
			out = append(out, a.ID)
		}
	}
	return out
}

// wantedSteps are the steps that the pass calls for and nothing holds.
func wantedSteps(drafts []*draft) map[stepKey]Step {
	wanted := map[stepKey]Step{}
	for _, r := range drafts {
		for i := range r.steps {
			if a := &r.steps[i]; len(r.holdsOf(a)) == 0 {
				wanted[a.key()] = a.Step
			}
		}
	}
	return wanted
}
