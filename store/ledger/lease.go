package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// TakeLease takes the pass lease, or fails with a [reconcile.HeldError]. It waits for
// writes under the lease before, which are still good, and refuses all later ones.
func (g *Keeper) TakeLease(ctx context.Context, holder string, ttl time.Duration) (reconcile.Lease, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return reconcile.Lease{}, err
	}
	if err := g.usable(ctx, g.pool); err != nil {
		return reconcile.Lease{}, fmt.Errorf("take pass lease: %w", err)
	}
	var taken reconcile.Lease
	err = pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		taken, err = takeLease(ctx, tx, holder, now, ttl)
		return err
	})
	if err != nil {
		return reconcile.Lease{}, fmt.Errorf("take pass lease: %w", err)
	}
	return taken, nil
}

func takeLease(ctx context.Context, tx pgx.Tx, holder string, now time.Time, ttl time.Duration,
) (reconcile.Lease, error) {
	var present reconcile.Lease
	err := one(ctx, tx, "lease_lock", nil, &present.Holder, &present.Epoch, at(&present.Until),
		at(&present.At))
	if err != nil {
		return reconcile.Lease{}, err
	}
	taken, err := protocol.Take(present, holder, now, ttl)
	if err != nil {
		return reconcile.Lease{}, err
	}
	_, err = exec(ctx, tx, "lease_take", pgx.StrictNamedArgs{
		"holder": taken.Holder, "epoch": taken.Epoch, "now": now, "until": taken.Until,
	})
	return taken, err
}

// RenewLease extends the lease by ttl from now, while it stands.
func (g *Keeper) RenewLease(ctx context.Context, l reconcile.Lease, ttl time.Duration) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	err = counted(ctx, g.pool, "lease_renew", pgx.StrictNamedArgs{
		"holder": l.Holder, "epoch": l.Epoch, "now": now, "until": now.Add(ttl),
	}, protocol.Fenced(l))
	if err != nil {
		return fmt.Errorf("renew pass lease: %w", err)
	}
	return nil
}

// DropLease gives the lease up at once, also one that has ended meanwhile.
func (g *Keeper) DropLease(ctx context.Context, l reconcile.Lease) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	err = counted(ctx, g.pool, "lease_drop", pgx.StrictNamedArgs{
		"holder": l.Holder, "epoch": l.Epoch, "now": now,
	}, protocol.Fenced(l))
	if err != nil {
		return fmt.Errorf("drop pass lease: %w", err)
	}
	return nil
}
