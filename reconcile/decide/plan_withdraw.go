package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// withdrawn are the open actions that nobody has begun and that this pass does not call
// for any more, or that are held now. What a person asked for is not withdrawn by a pass,
// and a later step follows its remedy: one that an incident holds waits until that is over, unless
// its sandbox is in use again.
func withdrawn(v *view.View, drafts []*draft, incidents []reconcile.Incident, reused map[string]string) []string {
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
		if a := &v.S.Memory.Actions[i]; remedies[a.Remedy] || reused[a.ID] != "" {
			out = append(out, a.ID)
		}
	}
	return out
}

// reused are the ends that nobody has begun of sandboxes that are in use again, with the reason: of what a quarantine
// stopped, and of what waits behind a row that we wrote and that its platform has handed out since. Once that work is
// over as well, nothing of the row tells any more that there was some, and its user may go on with what it left.
func reused(v *view.View, subjects []*reconcile.Subject) map[string]string {
	out := v.ReusedInQuarantine(subjects)
	later := laterEnds(v.S.Memory.Actions)
	if len(later) == 0 {
		return out
	}
	for _, s := range subjects {
		if s.Task == nil || s.Task.State.Terminal() {
			continue
		}
		for i := range s.Boxes {
			b := &s.Boxes[i]
			a := later[b.Ref]
			if a == nil || a.Task != s.Task.ID {
				continue
			}
			//guard:later-live-again harm
			if why := stands(v, s.Task, a, b.Sandbox); why != "" {
				if out == nil {
					out = map[string]string{}
				}
				out[a.ID] = why
			}
		}
	}
	return out
}

// laterEnds are the ends that follow a row that was written, and that nobody has begun, by sandbox.
func laterEnds(open []reconcile.Action) map[reconcile.Ref]*reconcile.Action {
	undone, stopped := map[string]bool{}, reconcile.StoppedFirst(open)
	for i := range open {
		if a := &open[i]; a.Seq == 0 {
			undone[a.Remedy] = true
		}
	}
	out := map[reconcile.Ref]*reconcile.Action{}
	for i := range open {
		a := &open[i]
		ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
		waits := !a.Begun() && a.Outcome == reconcile.OutcomePending && !a.Asked()
		if ends(a) && a.Seq > 0 && waits && !undone[a.Remedy] && stopped[ref] != a {
			out[ref] = a
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
