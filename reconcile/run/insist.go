package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// insist asks the provider again for what it accepted long ago, on the ground of now. When
// that is gone the action is over; when somebody or something only forbids it, it waits.
func (r *run) insist(ctx context.Context, a reconcile.Action, controls *reconcile.Controls) reconcile.Action {
	a.Outcome = reconcile.OutcomeAccepted
	age := text.Duration(r.now.Sub(a.ActedAt))
	a.Detail = fmt.Sprintf("accepted %s ago and still %s", age, stepUndone(a.Step))
	//guard:insist-held P9
	if holds := r.heldNow(&a, controls); len(holds) > 0 {
		a.Detail += ", not asked again: " + holds.String()
		return a
	}
	if a.Step == reconcile.StepActivate {
		return r.activateAgain(ctx, a)
	}
	sb, out, settled := r.groundAgain(ctx, a)
	switch {
	case !settled:
		a.Detail += ", asked again"
		if err := r.repeat(ctx, &a, sb); err != nil {
			a.Detail += ": " + text.Clip(err.Error(), 200)
		}
	case out.Outcome == reconcile.OutcomeWithdrawn:
		return r.withdraw(a, fmt.Sprintf("accepted %s ago, never carried out, and not asked again: %s", age, out.Detail))
	case out.Outcome.Closed():
		return out
	default:
		a.Detail += ", not asked again: " + out.Detail
	}
	return a
}

// repeat makes the same request once more.
func (r *run) repeat(ctx context.Context, a *reconcile.Action, sb reconcile.Sandbox) error {
	a.AskedAt = r.ledgerNow(ctx)
	if a.Step != reconcile.StepResume {
		_, err := r.end(ctx, a, sb)
		return err
	}
	suspender, ok := r.k.Providers[a.Provider].(reconcile.Suspender)
	if !ok {
		return errors.New(a.Provider + " cannot bring a sandbox back")
	}
	return suspender.Resume(ctx, sb)
}

// groundAgain settles whether a sandbox may be touched a second time. What somebody may use is
// judged like the first time; what comes back, or is on its way out, is only asked to hurry.
func (r *run) groundAgain(ctx context.Context, a reconcile.Action) (reconcile.Sandbox, reconcile.Action, bool) {
	look := r.k.lookAt(ctx, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	switch {
	case look.Error != "":
		return reconcile.Sandbox{}, r.later(a, "look at the sandbox: "+look.Error), true
	case look.Gone:
		return reconcile.Sandbox{}, r.later(a, "it is gone"), true // which the next look confirms
	case a.Step == reconcile.StepResume, a.Step == reconcile.StepTerminate &&
		look.Sandbox.State == reconcile.SandboxDeleting:
		why, err := r.mayHurry(ctx, &a, &look.Sandbox)
		if err != nil {
			why = err.Error()
		}
		if why != "" {
			return reconcile.Sandbox{}, r.later(a, why), true
		}
		return look.Sandbox, a, false
	}
	if out, stop := r.probeBefore(ctx, a, look.Sandbox); stop {
		return reconcile.Sandbox{}, out, true
	}
	return r.ground(ctx, a)
}

// mayHurry says why a sandbox that comes back, or is on its way out, is left alone all the
// same.
func (r *run) mayHurry(ctx context.Context, a *reconcile.Action, sb *reconcile.Sandbox) (why string, err error) {
	switch {
	//guard:hurry-owned P1
	case !sb.Owned && !r.policy.Providers[a.Provider].ByRow(sb):
		return "it is not proven ours any more", nil
	case a.Step == reconcile.StepResume:
	case a.Asked():
		users, err := r.users(ctx, a, sb)
		if err != nil {
			return "", err
		}
		if why := r.refuses(a, sb, users); why != "" {
			return why, nil
		}
		return r.heldFor(ctx, a, sb, users), nil
	default:
		if why, err := r.linkedAgain(ctx, a, *sb); err != nil || why != "" {
			return why, err
		}
	}
	//guard:hurry-held P4
	return r.heldWith(ctx, a, *sb), nil
}

// activateAgain asks once more for a template that is still inactive.
func (r *run) activateAgain(ctx context.Context, a reconcile.Action) reconcile.Action {
	why, err := r.activateOnceMore(ctx, &a)
	switch {
	case err != nil:
		a.Detail += ", asked again: " + text.Clip(err.Error(), 200)
	case why != "":
		a.Detail += ", not asked again: " + why
	default:
		a.Detail += ", asked again"
	}
	return a
}

func (r *run) activateOnceMore(ctx context.Context, a *reconcile.Action) (why string, err error) {
	templates, ok := r.k.Providers[a.Provider].(reconcile.Templates)
	if !ok {
		return "it has no templates", nil
	}
	t, err := templates.Template(ctx, actionTemplate(a))
	if err != nil || t.State != reconcile.TemplateInactive {
		return "it is " + reconcile.FirstOf(text.Clip(t.Raw, 60), "not known"), err
	}
	controls, why := r.controlsNow(ctx, a)
	if why == "" {
		why = reconcile.StepHolds(&controls, a, r.target(a)).String()
	}
	if why != "" {
		return why, nil
	}
	a.AskedAt = r.ledgerNow(ctx)
	return "", templates.Activate(ctx, actionTemplate(a))
}
