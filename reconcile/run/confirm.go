package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// confirm looks at what was accepted until the provider says gone, or until waiting ends.
// What is not confirmed stays accepted, and the next run looks again.
func (r confirmer) confirm(ctx context.Context) error {
	ctx = reconcile.InLane(ctx, reconcile.LaneAction)
	wait := 200 * time.Millisecond
	for ctx.Err() == nil {
		r.letSettle(ctx)
		left, err := r.confirmAll(ctx, func(accepted []reconcile.Action) told { return r.listed(ctx, accepted) })
		if left == 0 || !time.Now().Add(wait).Before(r.until) {
			return err
		}
		r.k.progress(fmt.Sprintf("confirming %d", left))
		if reconcile.Sleep(ctx, wait) != nil {
			return nil
		}
		wait = min(2*wait, 2*time.Second)
	}
	return nil
}

// confirmAll looks once at every accepted action, and returns how many are left that are worth waiting for: at many in
// what was listed of them, at others side by side. One after the other, a slow provider would keep the run waiting for
// each.
func (r confirmer) confirmAll(ctx context.Context, listed func([]reconcile.Action) told) (left int, err error) {
	type looked struct {
		left int
		err  error
	}
	accepted := r.accepted()
	seen := listed(accepted)
	if len(seen.looks) > 0 {
		accepted = r.confirmGone(ctx, accepted, seen)
	}
	all := inParallel(accepted, r.k.parallel(actors), func(a reconcile.Action) (out looked) {
		after, err := r.confirmAction(ctx, a, seen)
		r.keep(after)
		if after.Outcome == reconcile.OutcomeAccepted && a.Step != reconcile.StepActivate { // a template takes minutes
			out.left = 1
		}
		out.err = err
		return out
	})
	errs := make([]error, len(all))
	for i, one := range all {
		left, errs[i] = left+one.left, one.err
	}
	return left, errors.Join(errs...)
}

func (r confirmer) accepted() []reconcile.Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []reconcile.Action
	for _, id := range reconcile.SortedKeys(r.done) {
		if a := r.done[id]; a.Outcome == reconcile.OutcomeAccepted {
			out = append(out, a)
		}
	}
	return out
}

// confirmAction looks once more and writes down that it is done, or, past the deadline, asks
// for it once more, with pauses that double.
func (r confirmer) confirmAction(ctx context.Context, a reconcile.Action, listed told) (reconcile.Action, error) {
	if _, ok := r.k.Providers[a.Provider]; !ok {
		return a, nil
	}
	look := r.confirmBy(ctx, a, listed)
	if !look.Outcome.Closed() && !r.overdue(&a, r.now) {
		return a, nil // nothing to claim it for
	}
	controls, err := r.controlsBefore(ctx, look, listed)
	if err != nil {
		return a, fmt.Errorf("read the controls before the confirmation of %s: %w", actionWhat(&a), err)
	}
	claimed, err := r.claim(ctx, reconcile.Claim{Action: a.ID, Pass: r.result.Pass, TTL: claimTTL,
		Total: r.policy.Limits.PerPass, Shared: r.policy.Limits.PerPass, Hour: r.policy.Limits.PerHour})
	if errors.Is(err, reconcile.ErrHeld) {
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("claim the confirmation of %s: %w", actionWhat(&a), err)
	}
	held, done := r.holdClaim(ctx, claimed)
	defer done()
	if look.Outcome.Closed() {
		claimed.Outcome, claimed.Detail, claimed.ClosedAt = look.Outcome, look.Detail, look.ClosedAt
		return r.settle(ctx, claimed)
	}
	if claimed.Attempts != a.Attempts+1 {
		return r.settle(ctx, claimed) // somebody else was at it since it was found overdue
	}
	//guard:confirm-patience once
	if !r.overdue(&a, claimed.ClaimedAt) {
		return r.settle(ctx, claimed) // the ledger's clock was set back since this run began: it was asked for just now
	}
	return r.settle(ctx, r.reissue(held, claimed, &controls))
}

// controlsBefore reads what may forbid to ask again. Many that a listing shows to be over are not asked for again.
func (r confirmer) controlsBefore(ctx context.Context, look reconcile.Action, listed told) (reconcile.Controls, error) {
	if len(listed.looks) > 0 && look.Outcome.Closed() {
		return reconcile.Controls{}, nil
	}
	return r.actions.Controls(ctx)
}

// overdue reports whether a termination was accepted too long ago. It is asked for again
// at ages that double, and then once an hour, however often it was tried before it was accepted.
// What may not be asked for is claimed after pauses that grow with its age.
func (r confirmer) overdue(a *reconcile.Action, now time.Time) bool {
	if r.leavesToFull(a) {
		return false
	}
	after := r.policy.Rules["terminating-stuck"].After
	if after <= 0 {
		after = 2 * time.Minute
	}
	age, asked := now.Sub(a.ActedAt), max(a.AskedAt.Sub(a.ActedAt), 0)
	next := max(after, min(2*asked, asked+time.Hour))
	return age >= next && now.Sub(a.ClaimedAt) >= min(age/4, time.Hour)
}

// stepUndone is what the thing still is while the step is not done.
func stepUndone(s reconcile.Step) string {
	switch s {
	case reconcile.StepTerminate:
		return "there"
	case reconcile.StepQuarantine:
		return "not stopped"
	case reconcile.StepResume:
		return "not back"
	}
	return "not active"
}

// confirmOne looks once whether what was asked for is done. It is only when the provider,
// asked again, says so.
func (r confirmer) confirmOne(ctx context.Context, a reconcile.Action) reconcile.Action {
	return r.confirmBy(ctx, a, told{})
}

// confirmBy is confirmOne, but for what a listing has just shown.
func (r confirmer) confirmBy(ctx context.Context, a reconcile.Action, listed told) reconcile.Action {
	a.Outcome = reconcile.OutcomeAccepted
	if a.Step == reconcile.StepActivate {
		return r.confirmTemplate(ctx, a)
	}
	ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
	look, known := listed.looks[ref]
	if !known {
		look = r.k.observer().lookupOne(ctx, ref)
	}
	gone := look.Gone || look.Sandbox.State == reconcile.SandboxEnded
	state := look.Sandbox.State
	back := state == reconcile.SandboxRunning || state == reconcile.SandboxCreating
	switch {
	case look.Error != "":
		return a
	//guard:confirm-gone lost
	case a.Step == reconcile.StepTerminate && gone:
		a.Outcome = reconcile.OutcomeConfirmed
	case a.Step == reconcile.StepQuarantine && gone:
		a.Outcome, a.Detail = reconcile.OutcomeDone, reconcile.Joined(a.Detail, "it is gone")
	case a.Step == reconcile.StepResume && gone:
		a.Outcome, a.Detail = reconcile.OutcomeFailed, "the sandbox is gone: it cannot come back"
	case a.Step == reconcile.StepQuarantine && state.AtRest(), a.Step == reconcile.StepResume && back:
		a.Outcome = reconcile.OutcomeDone
	default:
		return a
	}
	if a.ClosedAt = listed.at; !known {
		a.ClosedAt = r.ledgerNow(ctx)
	}
	return a
}

func (r confirmer) confirmTemplate(ctx context.Context, a reconcile.Action) reconcile.Action {
	templates := reconcile.CapabilitiesOf(r.k.Providers[a.Provider]).Templates
	if templates == nil {
		return a
	}
	t, err := templates.Template(ctx, actionTemplate(&a))
	if err == nil && t.State == reconcile.TemplateActive {
		a.Outcome, a.ClosedAt = reconcile.OutcomeConfirmed, r.ledgerNow(ctx)
	}
	return a
}

// confirmer is the part of an [executor] that makes sure of what was done.
type confirmer struct{ *executor }

func (r *executor) confirmer() confirmer { return confirmer{r} }
