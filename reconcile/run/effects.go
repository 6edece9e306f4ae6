package run

import (
	"context"
	"errors"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// effects carry out what changes something outside of the ledger, and nothing else does: each asks
// for the ruling that allows this very action. TestNoEffectWithoutARuling holds that.
type effects struct {
	providers map[string]reconcile.Provider
	tasks     reconcile.Tasks
}

func (k *Reconciler) effects() effects { return effects{k.Providers, k.Tasks} }

// rulingHolds is for how long after the last look a ruling allows its effect to begin: two waits for the provider's
// rate, that of the adapter's own look and that of the change.
const rulingHolds = time.Minute

// may is the context of the effect that the ruling allows. Whoever sends it asks [reconcile.TooLate] right before, for
// a process may stand still at any moment, and what it saw before says nothing of now.
func (e effects) may(ctx context.Context, ruling decide.Ruling, a *reconcile.Action) (context.Context, error) {
	if err := ruling.Allows(a); err != nil {
		return ctx, err
	}
	ctx = reconcile.NotAfter(ctx, ruling.Read.Add(rulingHolds))
	return ctx, reconcile.TooLate(ctx)
}

// probe looks inside of the sandbox.
func (e effects) probe(ctx context.Context, ruling decide.Ruling, sb reconcile.Sandbox, p reconcile.ProbePolicy,
) reconcile.ProbeResult {
	ctx, err := e.may(ctx, ruling, decide.ProbeOf(sb.Ref))
	if err != nil {
		return reconcile.ProbeResult{Outcome: reconcile.Infrastructure, Detail: err.Error()}
	}
	return e.providers[sb.Provider].Probe(ctx, sb, p)
}

// end terminates the sandbox, or stops it for a quarantine.
func (e effects) end(ctx context.Context, ruling decide.Ruling, a *reconcile.Action, sb reconcile.Sandbox,
) (reconcile.Termination, error) {
	ctx, err := e.may(ctx, ruling, a)
	if err != nil {
		return "", err
	}
	if a.Step != reconcile.StepQuarantine {
		return e.providers[a.Provider].Terminate(ctx, sb)
	}
	suspender := reconcile.CapabilitiesOf(e.providers[a.Provider]).Suspender
	if suspender == nil {
		return "", errors.New("quarantine: " + a.Provider + " cannot stop or pause")
	}
	return suspender.Suspend(ctx, sb)
}

// resume brings a quarantined sandbox back.
func (e effects) resume(ctx context.Context, ruling decide.Ruling, a *reconcile.Action, sb reconcile.Sandbox) error {
	ctx, err := e.may(ctx, ruling, a)
	if err != nil {
		return err
	}
	suspender := reconcile.CapabilitiesOf(e.providers[a.Provider]).Suspender
	if suspender == nil {
		return errors.New(a.Provider + " cannot bring a sandbox back")
	}
	return suspender.Resume(ctx, sb)
}

// activate makes an inactive template usable again.
func (e effects) activate(ctx context.Context, ruling decide.Ruling, a *reconcile.Action) error {
	ctx, err := e.may(ctx, ruling, a)
	if err != nil {
		return err
	}
	templates := reconcile.CapabilitiesOf(e.providers[a.Provider]).Templates
	if templates == nil {
		return errors.New(a.Provider + " has no templates")
	}
	return templates.Activate(ctx, actionTemplate(a))
}

// write fails or requeues a task by one guarded write.
func (e effects) write(ctx context.Context, ruling decide.Ruling, a *reconcile.Action, w reconcile.Write,
) (reconcile.Written, *reconcile.RowBefore, error) {
	ctx, err := e.may(ctx, ruling, a)
	if err != nil {
		return "", nil, err
	}
	return e.tasks.Write(ctx, w)
}

// retry has a task run again that our own write failed.
func (e effects) retry(ctx context.Context, ruling decide.Ruling, a *reconcile.Action) (reconcile.Written, error) {
	ctx, err := e.may(ctx, ruling, a)
	if err != nil {
		return "", err
	}
	retrier, ok := e.tasks.(reconcile.Retrier)
	if !ok {
		return "", errors.New("the task table cannot have a task run again")
	}
	return retrier.Retry(ctx, a.Task, *a.Before, a.Reason+" "+reconcile.Mark(a.ID))
}

// restore sets a task row back to what it was before our own write.
func (e effects) restore(ctx context.Context, ruling decide.Ruling, a *reconcile.Action) (reconcile.Written, error) {
	ctx, err := e.may(ctx, ruling, a)
	if err != nil {
		return "", err
	}
	restorer, ok := e.tasks.(reconcile.Restorer)
	if !ok {
		return "", errors.New("the task table cannot take a write back")
	}
	return restorer.Restore(ctx, a.Task, *a.Before)
}
