package reconcile

import (
	"context"
	"errors"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// carryResume brings a quarantined sandbox back. It is done when the sandbox runs or comes up.
func (r *run) carryResume(ctx context.Context, a Action) Action {
	look := r.k.lookAt(ctx, Ref{a.Provider, a.Sandbox})
	if look.Error != "" {
		return r.laterOrNever(a, "look at the sandbox: "+look.Error)
	}
	if out, settled := r.cameBack(a, look); settled {
		return out
	}
	sb := look.Sandbox
	suspender, ok := r.k.Providers[a.Provider].(Suspender)
	if !ok {
		return r.giveUp(a, a.Provider+" cannot bring a sandbox back")
	}
	//guard:resume-owned P1
	if !sb.Owned && !r.policy.Providers[a.Provider].byRow(&sb) {
		return r.withdraw(a, "the sandbox is not proven ours any more")
	}
	//guard:resume-held P8
	if waits := r.heldWith(ctx, &a, sb); waits != "" {
		return r.later(a, waits)
	}
	a.ActedAt = r.ledgerNow(ctx)
	err := suspender.Resume(ctx, sb)
	switch {
	case errors.Is(err, ErrNotFound):
		return r.giveUp(a, "the sandbox is gone: "+err.Error())
	case err != nil:
		return r.laterOrNever(a, err.Error())
	}
	return r.confirmOne(ctx, a)
}

// cameBack settles the return of a sandbox that runs already, or that never will.
func (r *run) cameBack(a Action, look Look) (Action, bool) {
	switch state := look.Sandbox.State; {
	case look.Gone, state == SandboxEnded, state == SandboxDeleting:
		return r.giveUp(a, "the sandbox is gone: it cannot come back"), true
	//guard:resume-running once
	case state == SandboxRunning, state == SandboxCreating:
		a.Outcome, a.ClosedAt, a.Detail = OutcomeDone, r.now, "it is "+firstOf(text.Clip(look.Sandbox.Raw, 60), string(state))
		return a, true
	}
	return a, false
}

// carryRestore sets a task row back to what it was before our own write, if it has not moved
// since: nobody's work is undone but ours. A row that is back already is done.
func (r *run) carryRestore(ctx context.Context, a Action) Action {
	restorer, ok := r.k.Tasks.(Restorer)
	if !ok || a.Before == nil {
		return r.giveUp(a, "nothing is known of the row as it was")
	}
	controls, why := r.controlsNow(ctx, &a)
	if why == "" {
		why = strings.Join(stepHolds(&controls, &a, r.target(&a)), "; ")
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
	case written != WriteDone:
		return r.withdraw(a, "the row has moved since our own write: it is left as it is")
	}
	a.Outcome, a.Detail, a.ActedAt, a.ClosedAt = OutcomeDone, "", r.now, r.now
	return a
}
