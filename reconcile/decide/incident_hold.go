package decide

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// underIncidents holds what would end something, or try it again, while an incident of the
// same signature is open. The row of a task is failed all the same: who waits for it must
// hear of it.
func underIncidents(drafts []*draft, incidents []reconcile.Incident) {
	held := reconcile.Controls{Incidents: incidents}
	for _, r := range drafts {
		id := held.Incident(r.signature)
		if id == "" {
			continue
		}
		by := reconcile.Held{Kind: reconcile.HeldIncident, What: id}
		//guard:incident-holds-end P7
		if !r.steps[0].Step.OnRow() {
			r.holds = append(r.holds, by)
			continue
		}
		//guard:incident-no-requeue P7
		r.steps[0].Step = reconcile.StepFail
		//guard:incident-holds-later P7
		if !reconcile.RuleNamed(r.finding.Rule).Authoritative {
			r.incident = reconcile.HeldBy{by}
		}
	}
}

// stillHeld shows the steps that wait in the ledger because an incident holds them, or because
// their rule only reports by now: their row is over or their sandbox stands still, so no
// finding speaks of them any more.
func stillHeld(v *view.View, out *Plan, incidents []reconcile.Incident) {
	held := reconcile.Controls{Incidents: incidents}
	for i := range v.S.Memory.Actions {
		a := &v.S.Memory.Actions[i]
		holds := a.Incidents(&held)
		if a.InQuarantine() && !a.NextAttempt.After(v.Now) && endsNothing(rules.PolicyOf(v, a.Rule).Remedy) {
			holds = append(holds, reconcile.HeldReported())
		}
		shown := func(s PlannedStep) bool { return s.ID == a.ID }
		if len(holds) == 0 || a.Seq == 0 || a.Begun() || slices.ContainsFunc(out.Steps, shown) {
			continue
		}
		out.Steps = append(out.Steps, PlannedStep{
			Action: *a, Mode: rules.PolicyOf(v, a.Rule).Mode, HeldBy: holds})
	}
}

// demote holds the remedies of rules that went back to observe in this very pass.
func demote(drafts []*draft, demoted []reconcile.Demotion) {
	for _, r := range drafts {
		//guard:demoted-holds P9
		if slices.ContainsFunc(demoted, func(d reconcile.Demotion) bool { return d.Rule == r.finding.Rule }) {
			r.mode, r.holds = reconcile.Observe, r.holds.With(reconcile.Observe.Held())
		}
	}
}

// refute holds the remedies of rules for the tenants about whose tasks they were wrong.
func refute(v *view.View, drafts []*draft, refuted map[string][]string) {
	for _, r := range drafts {
		tenants := refuted[r.finding.Rule]
		if len(tenants) == 0 {
			continue
		}
		//guard:refuted-holds harm
		//guard:refuted-unknown harm
		if of := v.TenantOfSubject(r.finding.Subject); of == "" || slices.Contains(tenants, of) {
			r.holds = r.holds.With(reconcile.HeldByRefuted(r.finding.Rule, tenants))
		}
	}
}

// holdsOf is what holds one step of the remedy.
func (r *draft) holdsOf(a *reconcile.Action) reconcile.HeldBy {
	if a.Step.OnRow() {
		return r.holds
	}
	return append(slices.Clip(r.holds), r.incident...)
}

// openIncidents are the ids of those that are open, released or not, by signature.
func openIncidents(incidents []reconcile.Incident) map[string]string {
	open := map[string]string{}
	for i := range incidents {
		if in := &incidents[i]; in.ClosedAt.IsZero() {
			open[in.Signature] = in.ID
		}
	}
	return open
}
