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
	for {
		taken, done, err := g.takeLease(ctx, holder, ttl)
		if err != nil {
			return reconcile.Lease{}, fmt.Errorf("take pass lease: %w", err)
		}
		if done {
			return taken, nil
		}
	}
}

// takeLease tries once. It is not done where somebody else took or renewed the lease after it was read.
func (g *Keeper) takeLease(ctx context.Context, holder string, ttl time.Duration,
) (taken reconcile.Lease, done bool, err error) {
	present, now, err := g.readLease(ctx)
	if err != nil {
		return taken, false, err
	}
	if taken, err = protocol.Take(present, holder, now, ttl); err != nil {
		return taken, false, err
	}
	tag, err := exec(ctx, g.pool, "lease_take", pgx.StrictNamedArgs{
		"holder": taken.Holder, "epoch": taken.Epoch, "now": now, "until": taken.Until,
		"read_holder": present.Holder, "read_epoch": present.Epoch, "read_until": stamp(present.Until),
	})
	return taken, tag.RowsAffected() > 0, err
}

// readLease reads who holds the lease of a ledger that this program can use, and the ledger's clock.
func (g *Keeper) readLease(ctx context.Context) (present reconcile.Lease, now time.Time, err error) {
	if g.fit.Load() == 0 {
		if err := g.usable(ctx, g.pool); err != nil {
			return present, now, err
		}
	}
	var version int
	var name *string
	before := time.Now()
	err = one(ctx, g.pool, "lease_read", nil, &now, &version, &name, &present.Holder, &present.Epoch,
		at(&present.Until), at(&present.At))
	if err == nil && g.clock == nil {
		g.drift.measured(before, time.Now(), now)
	}
	if err = g.stillFits(ctx, g.pool, version, name, err); err != nil {
		return present, now, err
	}
	now, err = g.Now(ctx)
	return present, now, err
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
