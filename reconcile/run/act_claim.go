package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// claimTTL is how long a claim stands without being renewed.
const claimTTL = 15 * time.Second

// holdClaim renews a claim until done is called. When it is lost the context ends.
func (r *executor) holdClaim(ctx context.Context, a reconcile.Action) (held context.Context, done func()) {
	held, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for reconcile.Sleep(held, leaseRenew) == nil {
			asked := time.Now()
			asking, stop := context.WithTimeout(held, leaseRenew/2) // one that hangs leaves time for another
			err := r.actions.RenewClaim(asking, r.lease, a, claimTTL)
			stop()
			if errors.Is(err, reconcile.ErrFenced) || errors.Is(err, reconcile.ErrHeld) {
				cancel(fmt.Errorf("renew the claim on %s: %w", actionWhat(&a), err))
			}
			if err == nil {
				r.claims.Store(a.ID, asked)
			}
		}
	})
	return held, func() {
		cancel(nil)
		wg.Wait()
		r.claims.Delete(a.ID)
	}
}

// claim takes the right to carry out an action and notes when it was asked for.
func (r *executor) claim(ctx context.Context, c reconcile.Claim) (reconcile.Action, error) {
	asked := time.Now()
	claimed, err := r.actions.Claim(ctx, r.lease, c)
	if err == nil {
		r.claims.Store(c.Action, asked)
	}
	return claimed, err
}

// expired says why the claim on an action may have ended. It is asked right before each
// action: a process that was frozen in between, or whose ledger does not answer, must not go
// on where it stopped, because another has the action by now. Both clocks are asked: the
// monotonic one stands still while a machine sleeps, the other may be set.
func (r *gatherer) expired(a *reconcile.Action) string {
	at, ok := r.claims.Load(a.ID)
	if !ok {
		return "its claim was given up"
	}
	asked := at.(time.Time) //nolint:errcheck,forcetypeassert // only claim and holdClaim store
	now := time.Now()
	if now.Sub(asked) < claimTTL && now.Round(0).Sub(asked.Round(0)) < claimTTL {
		return ""
	}
	return fmt.Sprintf("this process stood still for longer than its claim lasts, %s", claimTTL)
}
