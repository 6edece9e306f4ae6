package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// withdrawn are the open actions that nobody has begun and that this pass does not call
// for any more, or that are held now. What a person asked for is not withdrawn by a pass,
// and a later step follows its remedy: one that an incident holds waits until that is over.
// The end of a quarantine goes when its sandbox is in use again.
func withdrawn(v *view.View, drafts []*draft, incidents []reconcile.Incident, awakened map[string]string) []string {
	wanted := wantedSteps(drafts)
	held := reconcile.Controls{Incidents: incidents}
	remedies := map[string]bool{}
	for i := range v.S.Memory.Actions {
		a := &v.S.Memory.Actions[i]
		//guard:withdraw-begun lost
		//guard:withdraw-asked lost
		if a.Begun() || a.Outcome != reconcile.OutcomePending || a.Asked() {
			continue
		}
		underIncident := a.Step != reconcile.StepFail && held.Incident(a.Signature) != ""
		if a.Seq == 0 && (underIncident || v.S.Kind == reconcile.Full && wanted[actionKey(a)] != a.Step) {
			remedies[a.Remedy] = true
		}
	}
	var out []string
	for i := range v.S.Memory.Actions {
		if a := &v.S.Memory.Actions[i]; remedies[a.Remedy] || awakened[a.ID] != "" {
			out = append(out, a.ID)
		}
	}
	return out
}

// wantedSteps are the steps that the pass calls for and nothing holds.
func wantedSteps(drafts []*draft) map[reconcile.StepKey]reconcile.Step {
	wanted := map[reconcile.StepKey]reconcile.Step{}
	for _, r := range drafts {
		for i := range r.steps {
			if a := &r.steps[i]; len(r.holdsOf(a)) == 0 {
				wanted[actionKey(a)] = a.Step
			}
		}
	}
	return wanted
}
