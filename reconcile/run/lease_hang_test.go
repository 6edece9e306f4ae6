package run

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A stuckLedger does not answer the first renewals, as one behind a connection that is broken
// in half. A lease or a claim ends after its time without one.
type stuckLedger struct {
	reconcile.Leases
	reconcile.Actions
	stuck int
	until time.Time
}

func (s *stuckLedger) renewed(ctx context.Context, ttl time.Duration) error {
	if s.stuck > 0 {
		s.stuck--
		<-ctx.Done()
		return ctx.Err()
	}
	if !time.Now().Before(s.until) {
		return reconcile.ErrFenced
	}
	s.until = time.Now().Add(ttl)
	return nil
}

func (s *stuckLedger) RenewLease(ctx context.Context, _ reconcile.Lease, ttl time.Duration) error {
	return s.renewed(ctx, ttl)
}

func (s *stuckLedger) RenewClaim(ctx context.Context, _ reconcile.Lease, _ reconcile.Action, ttl time.Duration) error {
	return s.renewed(ctx, ttl)
}

func (*stuckLedger) DropLease(context.Context, reconcile.Lease) error { return nil }

// One renewal that hangs does not take the time of those after it; two of them do.
func TestARenewalThatHangs(t *testing.T) {
	for stuck, lost := range map[int]bool{0: false, 1: false, 2: true} {
		synctest.Test(t, func(t *testing.T) {
			l := &stuckLedger{stuck: stuck, until: time.Now().Add(leaseTTL)}
			h := leaseholder{leases: l, log: slog.New(slog.DiscardHandler)}
			held, drop := h.hold(t.Context(), reconcile.Lease{})
			time.Sleep(2 * leaseTTL)
			if got := errors.Is(context.Cause(held.work), reconcile.ErrFenced); got != lost {
				t.Errorf("after %d renewals that hang the lease is lost: %t, want %t", stuck, got, lost)
			}
			drop()
		})
		synctest.Test(t, func(t *testing.T) {
			l := &stuckLedger{stuck: stuck, until: time.Now().Add(claimTTL)}
			r := &executor{}
			r.actions = l
			held, done := r.holdClaim(t.Context(), reconcile.Action{})
			time.Sleep(2 * claimTTL)
			if got := errors.Is(context.Cause(held), reconcile.ErrFenced); got != lost {
				t.Errorf("after %d renewals that hang the claim is lost: %t, want %t", stuck, got, lost)
			}
			done()
		})
	}
}
