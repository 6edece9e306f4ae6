package run

import (
	"context"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// carryActivate makes an inactive template usable again: it looks, asks, and is confirmed
// when the template, looked at again, is active.
func (r *executor) carryActivate(ctx context.Context, a reconcile.Action) reconcile.Action {
	f := r.factsOf(&a)
	r.lookUpTemplate(ctx, &a, f)
	ruling := r.rule(&a, f)
	if !ruling.Goes() {
		return r.instead(a, ruling)
	}
	a.ActedAt = f.acted
	if err := r.k.effects().activate(ctx, ruling, &a); err != nil {
		return r.later(a, err.Error())
	}
	return r.confirmer().confirmOne(ctx, a)
}

// actionTemplate is the name of the template that an activate is about.
func actionTemplate(a *reconcile.Action) string { return reconcile.TemplateOf(a.Subject, a.Provider) }

// lookUpTemplate reads the template and, while asking would help, the requests.
func (r *gatherer) lookUpTemplate(ctx context.Context, a *reconcile.Action, f *gathered) {
	templates := reconcile.CapabilitiesOf(r.k.Providers[a.Provider]).Templates
	if templates == nil {
		f.Unread = "provider " + a.Provider + " has no templates, or is not configured any more"
		return
	}
	t, err := templates.Template(ctx, actionTemplate(a))
	if err != nil {
		f.Unread = "look at the template: " + err.Error()
		return
	}
	f.Template = &t
	if !decide.Over(r.view, a, &f.Facts) {
		r.readWishes(ctx, a, f)
	}
}
