package run

import (
	"context"
	"errors"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// carryResume brings a quarantined sandbox back. It is done when the sandbox runs or comes up.
func (r *executor) carryResume(ctx context.Context, a reconcile.Action) reconcile.Action {
	f := r.factsOf(&a)
	if r.lookUp(ctx, &a, f) {
		if reconcile.CapabilitiesOf(r.k.Providers[a.Provider]).Suspender == nil {
			return r.giveUp(a, a.Provider+" cannot bring a sandbox back")
		}
		r.readWishes(ctx, &a, f)
	}
	ruling := r.rule(&a, f)
	if !ruling.Goes() {
		return r.instead(a, ruling)
	}
	a.ActedAt = f.acted
	err := r.k.effects().resume(ctx, ruling, &a, f.Lookup.Sandbox)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return r.giveUp(a, "the sandbox is gone: "+err.Error())
	case err != nil:
		return r.laterOrNever(a, err.Error())
	}
	return r.confirmer().confirmOne(ctx, a)
}

// carryRestore sets a task row back to what it was before our own write, if it has not moved
// since: nobody's work is undone but ours. A row that is back already is done.
func (r *executor) carryRestore(ctx context.Context, a reconcile.Action) reconcile.Action {
	if _, ok := r.k.Tasks.(reconcile.Restorer); !ok || a.Before == nil {
		return r.giveUp(a, "nothing is known of the row as it was")
	}
	f := r.factsOf(&a)
	r.readWishes(ctx, &a, f)
	ruling := r.rule(&a, f)
	if !ruling.Goes() {
		return r.instead(a, ruling)
	}
	written, err := r.k.effects().restore(ctx, ruling, &a)
	switch {
	case err != nil:
		return r.laterOrNever(a, err.Error())
	//guard:restore-moved lost
	case written != reconcile.WriteDone:
		return r.withdraw(a, "the row has moved since our own write: it is left as it is")
	}
	a.Outcome, a.Detail, a.ActedAt, a.ClosedAt = reconcile.OutcomeDone, "", r.now, r.now
	return a
}
