package decide

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A draft is one remedy before budgets.
type draft struct {
	finding   *reconcile.Finding
	subject   *reconcile.Subject // nil for what is no subject's
	mode      reconcile.Mode
	holds     reconcile.HeldBy
	steps     []reconcile.Action
	rowOnly   bool
	signature string           // of a failure of work; "" for others
	incident  reconcile.HeldBy // what holds the steps that end something, while the row may be written
}

// drafts are the remedies that the decisions call for, before what depends on all of them.
func drafts(v *view.View, decisions []Decision) []*draft {
	var out []*draft
	open := openActions(v)
	for i := range decisions {
		if len(decisions[i].Findings) == 0 {
			continue
		}
		if r := draftFor(v, &decisions[i], open); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// ofItsOwn is a copy that a plan may change.
func (r *draft) ofItsOwn() *draft {
	own := *r
	own.holds, own.steps = slices.Clone(r.holds), slices.Clone(r.steps)
	return &own
}

// draftFor chooses the decisive finding of a subject: the first that may act, else the first
// that is due.
func draftFor(v *view.View, d *Decision, open map[reconcile.StepKey]*reconcile.Action) *draft {
	var chosen *draft
	for i := range d.Findings {
		f := &d.Findings[i]
		//guard:plan-due harm
		//guard:plan-report harm
		if !f.Due || d.Remedies[i] == reconcile.Report {
			continue
		}
		r := &draft{finding: f, subject: d.Subject, mode: v.P.Rules[f.Rule].Mode, holds: holds(v, d, f)}
		if chosen == nil || len(chosen.holds) > 0 && len(r.holds) == 0 {
			r.steps = remedySteps(v, d, f, d.Remedies[i])
			if len(r.steps) > 0 {
				chosen = r
			}
		}
	}
	if chosen == nil {
		return nil
	}
	//guard:plan-begun once
	if alreadyBegun(v, chosen, open) {
		return nil // its remedy is under way and follows its own actions
	}
	chosen.rowOnly = rowOnly(v, d, chosen.steps)
	chosen.signature = signature(v, d.Subject, chosen.finding)
	for i := range chosen.steps {
		chosen.steps[i].Signature = chosen.signature
	}
	return chosen
}

// alreadyBegun reports whether the first step is under way already, or any of them waits under
// another remedy: that one ends or is withdrawn first, so that a sandbox never goes before
// the row that this remedy writes.
func alreadyBegun(v *view.View, r *draft, open map[reconcile.StepKey]*reconcile.Action) bool {
	for i := range r.steps {
		step := &r.steps[i]
		a := open[actionKey(step)]
		//guard:plan-later live
		if a != nil && i == 0 && a.Seq > 0 {
			return true // it follows its own first step: to plan it anew would only take a place in the budgets
		}
		if a != nil && (i == 0 && a.Begun() || a.Rule != r.finding.Rule || a.Subject != r.finding.Subject) {
			return true
		}
		//guard:plan-handled once
		if step.Sandbox != "" && handled(step, open) {
			return true
		}
	}
	return false
}

// quarantineTries is how often a sandbox was asked to stop before a quarantine that does not
// come about keeps no other rule from ending it.
const quarantineTries = 3

// handled reports whether another remedy, or a person, has a step of another kind open on
// the sandbox.
func handled(step *reconcile.Action, open map[reconcile.StepKey]*reconcile.Action) bool {
	for _, kind := range []reconcile.Step{reconcile.StepTerminate, reconcile.StepQuarantine, reconcile.StepResume} {
		a := open[reconcile.StepKey{Step: kind, Provider: step.Provider, Id: step.Sandbox}]
		if a == nil {
			continue
		}
		if a.Step == reconcile.StepQuarantine && a.Attempts >= quarantineTries && step.Step == reconcile.StepTerminate {
			continue
		}
		// planned before the remedy changed
		harsher := step.Step == reconcile.StepQuarantine && kind == reconcile.StepTerminate && a.Seq == 0
		if harsher || a.Rule != step.Rule || a.Subject != step.Subject {
			return true
		}
	}
	return false
}

// restraints are what the judgement, the mode and the rollout hold of a finding.
func restraints(v *view.View, f *reconcile.Finding, s *reconcile.Subject) reconcile.HeldBy {
	p := rules.PolicyOf(v, f.Rule)
	//guard:plan-freezes harm
	holds := slices.Clone(f.HeldBy)
	//guard:plan-mode live
	if p.Mode != reconcile.Enforce {
		holds = append(holds, p.Mode.Held())
	}
	//guard:plan-unproven P9
	holds = append(holds, unproven(v, &v.S.Memory.Controls, f.Rule, s)...)
	//guard:plan-rollout live
	if !reconcile.RolledOut(f.Rule, f.Subject, p.Rollout) {
		holds = append(holds, reconcile.HeldByRollout(p.Rollout))
	}
	return holds
}

// holds are all that keeps a due finding from being repaired, before budgets.
func holds(v *view.View, d *Decision, f *reconcile.Finding) reconcile.HeldBy {
	holds := restraints(v, f, d.Subject)
	c := v.S.Memory.Controls
	c.Modes = nil // already in the policy
	on := func(b *reconcile.Sandbox) reconcile.HeldBy {
		return reconcile.ControlHolds(&c, reconcile.ControlTarget{
			Rule: f.Rule, Subject: f.Subject, Provider: b.Provider, Sandbox: b.ID, Task: f.Task,
			Names: []string{b.Name, b.AltKey}, Labels: b.Labels})
	}
	for i := range d.Subject.Boxes {
		//guard:plan-holds P8
		holds = holds.With(on(d.Subject.Boxes[i].Sandbox)...)
	}
	if len(c.Holds) > 0 {
		for _, b := range view.NamedElsewhere(v, d.Subject) {
			//guard:plan-holds-named P8
			holds = holds.With(on(b)...)
		}
	}
	if len(d.Subject.Boxes) == 0 {
		//guard:plan-holds-task P8
		holds = holds.With(reconcile.ControlHolds(&c, reconcile.ControlTarget{Rule: f.Rule,
			Subject: f.Subject, Task: f.Task})...)
		//guard:plan-provider-pauses P8
		holds = holds.With(providerPauses(v, d)...)
	}
	return holds
}

// providerPauses hold a task without a sandbox when every provider that it may be at is
// paused or held.
func providerPauses(v *view.View, d *Decision) reconcile.HeldBy {
	var all reconcile.HeldBy
	for _, name := range providersOf(v, d.Subject) {
		c := v.S.Memory.Controls
		c.Modes = nil
		holds := reconcile.ControlHolds(&c, reconcile.ControlTarget{Provider: name})
		if len(holds) == 0 {
			return nil
		}
		all = all.With(holds...)
	}
	return all
}

// complete fills in what [Judge] finds out of all decisions, in a judgement that somebody put
// together for one subject: the incidents are those of the ledger.
func (j *Judgement) complete() {
	if j.drafts == nil {
		j.drafts = drafts(j.View, j.Decisions)
	}
	if j.Incidents == nil {
		j.Incidents = j.View.S.Memory.Controls.Incidents
	}
}
