package run

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// notAgain stands before the reason why what was accepted long ago is not asked for again.
const notAgain = ", not asked again: "

// reissue asks the provider again for what it accepted long ago, on the ground of now. When
// that is gone the action is over; when somebody or something only forbids it, it waits.
func (r *executor) reissue(ctx context.Context, a reconcile.Action, controls *reconcile.Controls) reconcile.Action {
	a.Outcome, a.WaitsFor = reconcile.OutcomeAccepted, nil
	age := text.Duration(r.now.Sub(a.ActedAt))
	said := fmt.Sprintf("accepted %s ago and still %s", age, stepUndone(a.Step))
	a.Detail = reconcile.FirstOf(a.How.Words(), said)
	if holds := r.heldNow(&a, controls); len(holds) > 0 { // nothing has to be looked at
		a.Detail, a.WaitsFor = a.Detail+notAgain+holds.String(), holds
		return a
	}
	f := r.gatherReissue(ctx, &a)
	ruling := r.rule(&a, f)
	switch {
	case ruling.Goes():
		a.Detail = said + ", asked again"
		heard, err := r.repeat(ctx, &a, f, ruling)
		if err != nil {
			a.Detail += ": " + text.Clip(err.Error(), 200)
			return a
		}
		//guard:reissue-heard lost
		if !heard && a.How != "" {
			a.How = unheard(a.How)
			return a // it is gone, and still no answer said that what was asked for was heard
		}
		a.How = ""
	case ruling.Outcome == reconcile.OutcomeWithdrawn:
		return r.withdraw(a, fmt.Sprintf("accepted %s ago, never carried out, and not asked again: %s", age, ruling.Why))
	case ruling.Outcome.Closed():
		return r.instead(a, ruling)
	default:
		a.Detail, a.WaitsFor = a.Detail+notAgain+text.Clip(ruling.Why, 500), ruling.HeldBy
	}
	return a
}

// unheard is in which way a sandbox went for which no answer ever said that our request was heard: one of ours may have
// been, but for what nobody here had asked for.
func unheard(how reconcile.How) reconcile.How {
	if how == reconcile.HowAdopted {
		return how
	}
	return reconcile.HowUnheard
}

// repeat makes the same request once more, and reports whether the answer says that it was heard.
func (r *executor) repeat(ctx context.Context, a *reconcile.Action, f *gathered, ruling decide.Ruling) (bool, error) {
	a.AskedAt = f.acted
	switch a.Step {
	case reconcile.StepResume:
		return true, r.k.effects().resume(ctx, ruling, a, f.Lookup.Sandbox)
	case reconcile.StepActivate:
		return true, r.k.effects().activate(ctx, ruling, a)
	}
	said, err := r.k.effects().end(ctx, ruling, a, f.Lookup.Sandbox)
	return said == reconcile.TerminateAccepted || said == reconcile.TerminateDone, err
}
