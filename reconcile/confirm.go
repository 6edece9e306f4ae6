package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// confirm looks at what was accepted until the provider says gone, or until waiting ends.
// What is not confirmed stays accepted, and the next run looks again.
func (r *run) confirm(ctx context.Context) error {
	wait := 200 * time.Millisecond
	for ctx.Err() == nil {
		left, err := r.confirmAll(ctx)
		if left == 0 || !time.Now().Add(wait).Before(r.until) {
			return err
		}
		r.k.progress(fmt.Sprintf("confirming %d", left))
		if pause(ctx, wait) != nil {
			return nil
		}
		wait = min(2*wait, 2*time.Second)
	}
	return nil
}

// confirmAll looks once at every accepted action and returns how many are left that are worth
// waiting for.
func (r *run) confirmAll(ctx context.Context) (left int, err error) {
	var errs []error
	for _, a := range r.accepted() {
		after, err := r.confirmAction(ctx, a)
		r.keep(after)
		if after.Outcome == OutcomeAccepted && a.Step != StepActivate { // a template takes minutes
			left++
		}
		errs = append(errs, err)
	}
	return left, errors.Join(errs...)
}

func (r *run) accepted() []Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Action
	for _, id := range sortedKeys(r.done) {
		if a := r.done[id]; a.Outcome == OutcomeAccepted {
			out = append(out, a)
		}
	}
	return out
}

// confirmAction looks once more and writes down that it is done, or, past the deadline, asks
// for it once more, with pauses that double.
func (r *run) confirmAction(ctx context.Context, a Action) (Action, error) {
	if _, ok := r.k.Providers[a.Provider]; !ok {
		return a, nil
	}
	look := r.confirmOne(ctx, a)
	if !look.Outcome.Closed() && !r.overdue(&a) {
		return a, nil
	}
	controls, err := r.k.Ledger.Controls(ctx)
	if err != nil {
		return a, fmt.Errorf("read the controls before the confirmation of %s: %w", a.what(), err)
	}
	claimed, err := r.claim(ctx, Claim{Action: a.ID, Pass: r.result.Pass, TTL: claimTTL,
		Total: r.policy.Limits.PerPass, Shared: r.policy.Limits.PerPass, Hour: r.policy.Limits.PerHour})
	if errors.Is(err, ErrHeld) {
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("claim the confirmation of %s: %w", a.what(), err)
	}
	defer r.claims.Delete(a.ID)
	if look.Outcome.Closed() {
		claimed.Outcome, claimed.Detail, claimed.ClosedAt = look.Outcome, look.Detail, look.ClosedAt
		return r.settle(ctx, claimed)
	}
	return r.settle(ctx, r.insist(ctx, claimed, &controls))
}

// overdue reports whether a termination was accepted too long ago. It is asked for again
// at ages that double, and then once an hour: an accepted action is claimed for nothing else.
func (r *run) overdue(a *Action) bool {
	after := r.policy.Rules["terminating-stuck"].After
	if after <= 0 {
		after = 2 * time.Minute
	}
	const doublings = 6
	asked := max(a.Attempts-1, 0)
	return r.now.Sub(a.ActedAt) >= after<<min(asked, doublings) &&
		(asked <= doublings || r.now.Sub(a.ClaimedAt) >= time.Hour)
}

// insist asks the provider again for what it accepted long ago, unless somebody or something
// forbids it by now.
func (r *run) insist(ctx context.Context, a Action, controls *Controls) Action {
	a.Outcome = OutcomeAccepted
	a.Detail = fmt.Sprintf("accepted %s ago and still %s", short(r.now.Sub(a.ActedAt)), a.Step.undone())
	if holds := r.heldNow(&a, controls); len(holds) > 0 {
		a.Detail += ", not asked again: " + strings.Join(holds, "; ")
		return a
	}
	why, err := r.askAgain(ctx, &a)
	switch {
	case err != nil:
		a.Detail += ", asked again: " + clip(err.Error(), 200)
	case why != "":
		a.Detail += ", not asked again: " + why
	default:
		a.Detail += ", asked again"
	}
	return a
}

// undone is what the thing still is while the step is not done.
func (s Step) undone() string {
	switch s {
	case StepTerminate:
		return "there"
	case StepQuarantine:
		return "not stopped"
	case StepResume:
		return "not back"
	}
	return "not active"
}

// askAgain repeats a request on the same ground as the first one.
func (r *run) askAgain(ctx context.Context, a *Action) (why string, err error) {
	if a.Step == StepActivate {
		return r.activateAgain(ctx, a)
	}
	sb, err := r.k.Providers[a.Provider].Get(ctx, a.Sandbox)
	if err != nil {
		return "", err
	}
	if why, err := r.groundAgain(ctx, a, &sb); err != nil || why != "" {
		return why, err
	}
	if waits := r.heldWith(ctx, a, sb); waits != "" {
		return waits, nil
	}
	if suspender, ok := r.k.Providers[a.Provider].(Suspender); ok && a.Step == StepResume {
		return "", suspender.Resume(ctx, sb)
	}
	_, err = r.end(ctx, a, sb)
	return "", err
}

// groundAgain says why a sandbox must not be touched a second time.
func (r *run) groundAgain(ctx context.Context, a *Action, sb *Sandbox) (why string, err error) {
	switch {
	case sb.ID != a.Sandbox || !sb.Owned && !r.policy.Providers[a.Provider].Referenced:
		return "it is not proven ours any more", nil
	case a.Step == StepResume:
		return "", nil
	case a.asked():
		users, err := r.users(ctx, a, sb)
		if err != nil {
			return "", err
		}
		if why := r.refuses(a, sb, users); why != "" {
			return why, nil
		}
		return r.heldFor(ctx, a, sb, users), nil
	}
	return r.linkedAgain(ctx, a, *sb)
}

func (r *run) activateAgain(ctx context.Context, a *Action) (why string, err error) {
	templates, ok := r.k.Providers[a.Provider].(Templates)
	if !ok {
		return "it has no templates", nil
	}
	t, err := templates.Template(ctx, a.template())
	if err != nil || t.State != TemplateInactive {
		return "it is " + firstOf(clip(t.Raw, 60), "not known"), err
	}
	controls, why := r.controlsNow(ctx, a)
	if why == "" {
		why = strings.Join(stepHolds(&controls, a, r.target(a)), "; ")
	}
	if why != "" {
		return why, nil
	}
	return "", templates.Activate(ctx, a.template())
}

// confirmOne looks once whether what was asked for is done. It is only when the provider,
// asked again, says so.
func (r *run) confirmOne(ctx context.Context, a Action) Action {
	a.Outcome = OutcomeAccepted
	if a.Step == StepActivate {
		return r.confirmTemplate(ctx, a)
	}
	look := r.k.lookAt(ctx, Ref{a.Provider, a.Sandbox})
	gone := look.Gone || look.Sandbox.State == SandboxEnded
	state := look.Sandbox.State
	back := state == SandboxRunning || state == SandboxCreating
	switch {
	case look.Error != "":
		return a
	case a.Step == StepTerminate && gone:
		a.Outcome = OutcomeConfirmed
	case a.Step == StepQuarantine && gone:
		a.Outcome, a.Detail = OutcomeDone, joined(a.Detail, "it is gone")
	case a.Step == StepResume && gone:
		a.Outcome, a.Detail = OutcomeFailed, "the sandbox is gone: it cannot come back"
	case a.Step == StepQuarantine && state.atRest(), a.Step == StepResume && back:
		a.Outcome = OutcomeDone
	default:
		return a
	}
	a.ClosedAt = r.ledgerNow(ctx)
	return a
}

func (r *run) confirmTemplate(ctx context.Context, a Action) Action {
	templates, ok := r.k.Providers[a.Provider].(Templates)
	if !ok {
		return a
	}
	t, err := templates.Template(ctx, a.template())
	if err == nil && t.State == TemplateActive {
		a.Outcome, a.ClosedAt = OutcomeConfirmed, r.ledgerNow(ctx)
	}
	return a
}
