package reconcile

import (
	"context"
	"errors"
	"fmt"
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
	claimed, err := r.k.Ledger.Claim(ctx, r.lease, Claim{Action: a.ID, Pass: r.result.Pass, TTL: claimTTL,
		Total: r.policy.Limits.PerPass, Shared: r.policy.Limits.PerPass, Hour: r.policy.Limits.PerHour})
	if errors.Is(err, ErrHeld) {
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("claim the confirmation of %s: %w", a.what(), err)
	}
	if look.Outcome == OutcomeConfirmed {
		claimed.Outcome, claimed.ClosedAt = OutcomeConfirmed, look.ClosedAt
		return r.settle(ctx, claimed)
	}
	return r.settle(ctx, r.insist(ctx, claimed))
}

// overdue reports whether a termination was accepted too long ago.
func (r *run) overdue(a *Action) bool {
	after := r.policy.Rules["terminating-stuck"].After
	if after <= 0 {
		after = 2 * time.Minute
	}
	return r.view.now.Sub(a.ActedAt) >= after<<min(max(a.Attempts-1, 0), 6)
}

// insist asks the provider again to end a sandbox that it accepted to end long ago.
func (r *run) insist(ctx context.Context, a Action) Action {
	sb, err := r.k.Providers[a.Provider].Get(ctx, a.Sandbox)
	if err == nil && sb.ID == a.Sandbox && sb.Owned {
		_, err = r.k.Providers[a.Provider].Terminate(ctx, sb)
	}
	a.Outcome = OutcomeAccepted
	a.Detail = fmt.Sprintf("accepted %s ago and still there, asked again", short(r.view.now.Sub(a.ActedAt)))
	if err != nil {
		a.Detail += ": " + clip(err.Error(), 200)
	}
	return a
}
