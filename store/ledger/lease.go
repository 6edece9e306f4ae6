package ledger

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// How often it is tried to take a lease that others take or renew between reading and taking, and how far apart.
const (
	takeTries = 5
	takeEach  = 20 * time.Millisecond
)

// TakeLease takes the pass lease, or fails with a [reconcile.HeldError]. It waits for
// writes under the lease before, which are still good, and refuses all later ones.
func (g *Keeper) TakeLease(ctx context.Context, holder string, ttl time.Duration) (reconcile.Lease, error) {
	var read leaseRead
	for range takeTries {
		taken, done, err := g.takeLease(ctx, holder, ttl, &read)
		if done {
			return taken, nil
		}
		if err == nil {
			err = reconcile.Sleep(ctx, takeEach)
		}
		if err != nil {
			return reconcile.Lease{}, fmt.Errorf("take pass lease: %w", err)
		}
	}
	held := &reconcile.HeldError{Holder: cmp.Or(read.Holder, "others by turns"), Until: read.now}
	return reconcile.Lease{}, fmt.Errorf("take pass lease in %d tries: %w", takeTries, held)
}

// takeLease tries once. It is not done where somebody else took or renewed the lease after it was read.
func (g *Keeper) takeLease(ctx context.Context, holder string, ttl time.Duration, read *leaseRead,
) (taken reconcile.Lease, done bool, err error) {
	if err := g.readLease(ctx, read); err != nil {
		return taken, false, err
	}
	if taken, err = protocol.Take(read.Lease, holder, read.now, ttl); err != nil {
		return taken, false, err
	}
	tag, err := exec(ctx, g.pool, "lease_take", pgx.StrictNamedArgs{
		"holder": taken.Holder, "epoch": taken.Epoch, "now": read.now, "until": taken.Until,
		"read_holder": read.Holder, "read_epoch": read.Epoch, "read_until": read.until,
	})
	return taken, err == nil && tag.RowsAffected() > 0, err
}

// A leaseRead is who holds the lease, and the ledger's clock.
type leaseRead struct {
	reconcile.Lease
	until pgtype.Timestamptz // as it stands in the row, where an operator may have written -infinity
	now   time.Time
}

// readLease reads the lease of a ledger that this program can use.
func (g *Keeper) readLease(ctx context.Context, read *leaseRead) error {
	if g.fit.Load() == 0 {
		if err := g.usable(ctx, g.pool); err != nil {
			return err
		}
	}
	var now time.Time
	var version int
	var name *string
	before := time.Now()
	err := one(ctx, g.pool, "lease_read", nil, &now, &version, &name, &read.Holder, &read.Epoch,
		&read.until, at(&read.At))
	if err == nil && g.clock == nil {
		g.drift.measured(before, time.Now(), now)
	}
	if err = g.stillFits(ctx, g.pool, version, name, err); err != nil {
		return err
	}
	if err = at(&read.Until).ScanTimestamptz(read.until); err != nil {
		return err
	}
	read.now, err = g.Now(ctx)
	return err
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
