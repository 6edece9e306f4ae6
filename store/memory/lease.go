package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// TakeLease takes the pass lease, or fails with a [reconcile.HeldError].
func (g *Ledger) TakeLease(ctx context.Context, holder string, ttl time.Duration) (reconcile.Lease, error) {
	var taken reconcile.Lease
	err := g.locked(ctx, func(now time.Time) (err error) {
		if taken, err = protocol.Take(g.lease, holder, now, ttl); err == nil {
			g.lease = taken
		}
		return err
	})
	if err != nil {
		return reconcile.Lease{}, fmt.Errorf("take pass lease: %w", err)
	}
	return taken, nil
}

// RenewLease extends the lease by ttl from now, while it stands.
func (g *Ledger) RenewLease(ctx context.Context, l reconcile.Lease, ttl time.Duration) error {
	err := g.fenced(ctx, l, func(now time.Time) error {
		g.lease.Until, g.lease.At = now.Add(ttl), now
		return nil
	})
	if err != nil {
		return fmt.Errorf("renew pass lease: %w", err)
	}
	return nil
}

// DropLease gives the lease up at once, also one that has ended meanwhile.
func (g *Ledger) DropLease(ctx context.Context, l reconcile.Lease) error {
	err := g.locked(ctx, func(now time.Time) error {
		//guard:drop-own once
		if !protocol.Same(g.lease, l) {
			return protocol.Fenced(l)
		}
		g.lease.Holder, g.lease.Until = "", now
		return nil
	})
	if err != nil {
		return fmt.Errorf("drop pass lease: %w", err)
	}
	return nil
}
