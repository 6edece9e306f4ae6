package run

import (
	"context"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// carryActivate makes an inactive template usable again: it looks, asks, and is confirmed
// when the template, looked at again, is active.
func (r *run) carryActivate(ctx context.Context, a reconcile.Action) reconcile.Action {
	templates, ok := r.k.Providers[a.Provider].(reconcile.Templates)
	if !ok {
		return r.later(a, "provider "+a.Provider+" has no templates, or is not configured any more")
	}
	name := actionTemplate(&a)
	t, err := templates.Template(ctx, name)
	if err != nil {
		return r.later(a, "look at the template: "+err.Error())
	}
	if out, settled := r.activeBefore(a, &t); settled {
		return out
	}
	controls, why := r.controlsNow(ctx, &a)
	if why == "" {
		why = reconcile.StepHolds(&controls, &a, r.target(&a)).String()
	}
	//guard:activate-held P8
	if why != "" {
		return r.later(a, why)
	}
	a.ActedAt = r.ledgerNow(ctx)
	if err := templates.Activate(ctx, name); err != nil {
		return r.later(a, err.Error())
	}
	return r.confirmOne(ctx, a)
}

// actionTemplate is the name of the template that an activate is about.
func actionTemplate(a *reconcile.Action) string { return reconcile.TemplateOf(a.Subject, a.Provider) }

// activeBefore settles the activation of a template that is usable, or on its way to be, or
// that asking would not help.
func (r *run) activeBefore(a reconcile.Action, t *reconcile.Template) (reconcile.Action, bool) {
	words := reconcile.FirstOf(text.Clip(t.Raw, 60), string(t.State), "in a state that is not known")
	switch t.State {
	case reconcile.TemplateActive:
		a.Outcome, a.Detail, a.ClosedAt = reconcile.OutcomeConfirmed, "is "+words, r.now
		return a, true
	case reconcile.TemplateBuilding:
		a.Outcome, a.Detail = reconcile.OutcomeAccepted, "is "+words
		if a.ActedAt.IsZero() {
			a.ActedAt = r.now
		}
		return a, true
	case reconcile.TemplateInactive:
		return a, false
	}
	return r.withdraw(a, "the template is "+words+": activating it would not help"), true
}
