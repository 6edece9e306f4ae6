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

// confirmAll looks once at every accepted action and returns how many are left.
func (r *run) confirmAll(ctx context.Context) (left int, err error) {
	var errs []error
	for _, a := range r.accepted() {
		after, err := r.confirmAction(ctx, a)
		r.keep(after)
		if after.Outcome == OutcomeAccepted {
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

// confirmAction looks at one sandbox and writes down that it is gone, or, past the
// deadline, asks for its end once more, with pauses that double.
func (r *run) confirmAction(ctx context.Context, a Action) (Action, error) {
	if _, ok := r.k.Providers[a.Provider]; !ok {
		return a, nil
	}
	look := r.confirmOne(ctx, a)
	if look.Outcome != OutcomeConfirmed && !r.overdue(&a) {
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
	if look.Outcome == OutcomeConfirmed {
		claimed.Outcome, claimed.ClosedAt = OutcomeConfirmed, look.ClosedAt
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

// insist asks the provider again to end a sandbox that it accepted to end long ago, unless
// somebody or something forbids it by now.
func (r *run) insist(ctx context.Context, a Action, controls *Controls) Action {
	a.Outcome = OutcomeAccepted
	a.Detail = fmt.Sprintf("accepted %s ago and still there", short(r.now.Sub(a.ActedAt)))
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

// askAgain repeats a terminate on the same ground as the first one.
func (r *run) askAgain(ctx context.Context, a *Action) (why string, err error) {
	sb, err := r.k.Providers[a.Provider].Get(ctx, a.Sandbox)
	if err != nil {
		return "", err
	}
	if sb.ID != a.Sandbox || !sb.Owned && !r.policy.Providers[a.Provider].Referenced {
		return "it is not proven ours any more", nil
	}
	if !r.policy.Tasks.None {
		if why, err := r.linkedAgain(ctx, a, sb); err != nil || why != "" {
			return why, err
		}
	}
	if waits := r.heldWith(ctx, a, sb); waits != "" {
		return waits, nil
	}
	_, err = r.k.Providers[a.Provider].Terminate(ctx, sb)
	return "", err
}
