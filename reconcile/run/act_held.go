package run

import (
	"errors"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// heldBy is what holds a claim.
func heldBy(err error) reconcile.HeldBy {
	var refused *reconcile.ClaimError
	if errors.As(err, &refused) {
		return reconcile.HeldBy{refused.By}
	}
	return reconcile.HeldBy{{Kind: reconcile.HeldOther, Reason: err.Error()}}
}

// heldNow is what keeps an open action from being carried out, before anything is looked at for it.
func (r *executor) heldNow(a *reconcile.Action, controls *reconcile.Controls) reconcile.HeldBy {
	f := r.factsOf(a)
	f.Controls = *controls
	return decide.Holds(r.view, a, &f.Facts)
}
