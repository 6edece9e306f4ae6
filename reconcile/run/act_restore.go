package run

import (
	"context"
	"errors"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// carryResume brings a quarantined sandbox back. It is done when the sandbox runs or comes up.
func (r *run) carryResume(ctx context.Context, a reconcile.Action) reconcile.Action {
	look := r.k.lookAt(ctx, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	if look.Error != "" {
		return r.laterOrNever(a, "look at the sandbox: "+look.Error)
	}
	if out, settled := r.cameBack(a, look); settled {
		return out
	}
	sb := look.Sandbox
	suspender, ok := r.k.Providers[a.Provider].(reconcile.Suspender)
	if !ok {
		return r.giveUp(a, a.Provider+" cannot bring a sandbox back")
	}
	//guard:resume-owned P1
	if !sb.Owned && !r.policy.Providers[a.Provider].ByRow(&sb) {
		return r.withdraw(a, "the sandbox is not proven ours any more")
	}
	//guard:resume-held P8
	if waits := r.heldWith(ctx, &a, sb); waits != "" {
		return r.later(a, waits)
	}
	a.ActedAt = r.ledgerNow(ctx)
	err := suspender.Resume(ctx, sb)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return r.giveUp(a, "the sandbox is gone: "+err.Error())
	case err != nil:
		return r.laterOrNever(a, err.Error())
	}
	return r.confirmOne(ctx, a)
}

// cameBack settles the return of a sandbox that runs already, or that never will.
func (r *run) cameBack(a reconcile.Action, look reconcile.Look) (reconcile.Action, bool) {
	switch state := look.Sandbox.State; {
	case look.Gone, state == reconcile.SandboxEnded, state == reconcile.SandboxDeleting:
		return r.giveUp(a, "the sandbox is gone: it cannot come back"), true
	//guard:resume-running once
	case state == reconcile.SandboxRunning, state == reconcile.SandboxCreating:
		a.Outcome, a.ClosedAt, a.Detail = reconcile.OutcomeDone, r.now,
			"it is "+reconcile.FirstOf(text.Clip(look.Sandbox.Raw, 60), string(state))
		return a, true
	}
	return a, false
}

// carryRestore sets a task row back to what it was before our own write, if it has not moved
// since: nobody's work is undone but ours. A row that is back already is done.
func (r *run) carryRestore(ctx context.Context, a reconcile.Action) reconcile.Action {
	restorer, ok := r.k.Tasks.(reconcile.Restorer)
	if !ok || a.Before == nil {
		return r.giveUp(a, "nothing is known of the row as it was")
	}
	controls, why := r.controlsNow(ctx, &a)
	if why == "" {
		why = reconcile.StepHolds(&controls, &a, r.target(&a)).String()
	}
	//guard:restore-held P8
	if why != "" {
		return r.later(a, why)
	}
	written, err := restorer.Restore(ctx, a.Task, *a.Before)
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
