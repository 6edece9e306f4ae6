package decide

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A Plan is what a pass will do, and what it will not do and why. Planning is pure.
type Plan struct {
	Steps     []PlannedStep
	Findings  []reconcile.Finding // all, with what holds them
	Actions   []reconcile.Action  // new ones, to be recorded
	Withdrawn []string            // open actions, not begun, whose finding no longer holds
	Reused    map[string]string   // of these, the ends of sandboxes that are used again: why, by id
	Breakers  map[string]reconcile.Breaker
	Kept      int // healthy subjects
	Unlooked  int // suspects whose turn to be looked at it was not: neither healthy nor found

	// Blind are those whose look failed, which is neither, too: how many by provider, and why the first of them did.
	Blind map[string]Blind
}

// Blind is what could not be looked at at one provider.
type Blind struct {
	Subjects int
	Subject  string // the first of them
	Why      string
}

// Blinds is how many suspects could not be looked at, at all providers.
func (p *Plan) Blinds() (n int) {
	for _, b := range p.Blind {
		n += b.Subjects
	}
	return n
}

// addBlind counts a suspect whose look failed.
func (p *Plan) addBlind(v *view.View, s *reconcile.Subject) {
	provider, why := rules.LookFailed(v, s)
	b, known := p.Blind[provider]
	if !known {
		b = Blind{Subject: s.ID, Why: why}
	}
	b.Subjects++
	if p.Blind == nil {
		p.Blind = map[string]Blind{}
	}
	p.Blind[provider] = b
}

// A PlannedStep is one step of one remedy with the verdict on it.
type PlannedStep struct {
	reconcile.Action
	Mode   reconcile.Mode
	HeldBy reconcile.HeldBy // none: do
}

// MakePlan turns a judgement into steps: modes, rollout, pauses, holds, incidents, breakers
// and budgets, in this order. pass is the number of the pass, 0 for a plan that is only shown.
func MakePlan(j *Judgement, pass int64) *Plan {
	v := j.View
	out := &Plan{Breakers: map[string]reconcile.Breaker{}}
	open := openActions(v)
	out.countHealthy(j)
	j.complete()
	drafts := make([]*draft, 0, len(j.drafts))
	for _, r := range j.drafts {
		drafts = append(drafts, r.ofItsOwn())
	}
	drafts = append(drafts, templateDrafts(v, j)...)
	demote(drafts, j.Demoted)
	refute(v, drafts, j.Refuted)
	underIncidents(drafts, j.Incidents)
	breakers(v, drafts, j, out)
	budgets(v, drafts, j.Fleet, open)
	for _, r := range drafts {
		emit(v, out, r, pass, open)
	}
	stillHeld(v, out, j.Incidents)
	out.Findings = allFindings(v, j, drafts)
	out.Reused = reused(v, j.subjects())
	out.Withdrawn = withdrawn(v, drafts, j.Incidents, out.Reused)
	return out
}

// countHealthy counts the subjects that nothing is found of. What an earlier pass found, and this one could not judge,
// is still suspected.
func (p *Plan) countHealthy(j *Judgement) {
	settled, suspects := map[reconcile.FindingKey]bool{}, map[string]bool{}
	for _, key := range j.Resolved {
		settled[key] = true
	}
	for key := range j.View.S.Memory.Findings {
		if !settled[key] {
			suspects[key.Subject] = true
		}
	}
	p.Kept = j.Plain()
	for i := range j.Decisions {
		switch d := &j.Decisions[i]; {
		//guard:plan-unlooked P12
		case d.Unlooked && len(d.Findings) == 0:
			p.Unlooked++
		//guard:plan-blind P12
		case d.Blind:
			p.addBlind(j.View, d.Subject)
		case len(d.Findings) == 0 && !suspects[d.Subject.ID]:
			p.Kept++
		}
	}
}

// openActions are the open actions by subject, step and sandbox.
func openActions(v *view.View) map[reconcile.StepKey]*reconcile.Action {
	open := map[reconcile.StepKey]*reconcile.Action{}
	for i := range v.S.Memory.Actions {
		a := &v.S.Memory.Actions[i]
		open[actionKey(a)] = a
	}
	return open
}

func actionKey(a *reconcile.Action) reconcile.StepKey {
	switch {
	case a.Step.OnRow():
		return reconcile.StepKey{Step: "row", Task: a.Task}
	case a.Step == reconcile.StepActivate:
		return reconcile.StepKey{Step: a.Step, Id: a.Subject}
	}
	return reconcile.StepKey{Step: a.Step, Provider: a.Provider, Id: a.Sandbox}
}

// emit adds a remedy's steps to the plan, and its actions when it may be done.
func emit(v *view.View, out *Plan, r *draft, pass int64, open map[reconcile.StepKey]*reconcile.Action) {
	remedy := ""
	for i := range r.steps {
		a := r.steps[i]
		heldBy := r.holdsOf(&a)
		a.Seq, a.Pass, a.PlannedAt, a.Outcome, a.RowOnly = i, pass, v.Now, reconcile.OutcomePending, r.rowOnly
		switch before := open[actionKey(&a)]; {
		//guard:plan-one-row-step once
		case before != nil && before.Step != a.Step:
			heldBy = append(slices.Clip(heldBy), reconcile.Held{Kind: reconcile.HeldWithdrawn,
				Reason: "the planned " + string(before.Step) + " is withdrawn first"})
		//guard:plan-open live
		case before != nil:
			a = *before
		default:
			a.ID = reconcile.ActionID(v.P.Installation, pass, v.Now.UnixNano(), &a)
			a.Remedy = reconcile.FirstOf(remedy, a.ID)
			//guard:plan-held-unrecorded harm
			if len(heldBy) == 0 || i > 0 && len(r.holds) == 0 {
				out.Actions = append(out.Actions, a) // what an incident holds waits in the ledger, behind its row
			}
		}
		remedy = reconcile.FirstOf(remedy, a.Remedy)
		out.Steps = append(out.Steps, PlannedStep{Action: a, Mode: r.mode, HeldBy: heldBy})
	}
}

// allFindings are the findings of the pass with what holds them.
func allFindings(v *view.View, j *Judgement, drafts []*draft) []reconcile.Finding {
	held := map[reconcile.FindingKey]reconcile.HeldBy{}
	for _, r := range drafts {
		held[r.finding.Key()] = r.holds
	}
	open := openIncidents(j.Incidents)
	var out []reconcile.Finding
	for i := range j.Decisions {
		for _, f := range j.Decisions[i].Findings {
			if holds, decisive := held[f.Key()]; decisive {
				f.HeldBy = holds
			}
			if len(open) > 0 && f.Due {
				f.Incident = open[signature(v, j.Decisions[i].Subject, &f)]
			}
			out = append(out, f)
		}
	}
	for _, f := range j.Reports {
		if holds, drafted := held[f.Key()]; drafted {
			f.HeldBy = holds
		}
		out = append(out, f)
	}
	return out
}
