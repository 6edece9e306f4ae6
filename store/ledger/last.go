package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// LastBegan reads when the newest pass of a kind began that also ended, and the ledger's
// now, in one round trip. A full pass counts as a quick one too. Zero means never.
func (g *Keeper) LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error) {
	before := time.Now()
	args := pgx.StrictNamedArgs{"quick": kind == reconcile.Quick}
	if err := one(ctx, g.pool, "last_began", args, at(&began), at(&now)); err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("read when the last %s pass began: %w", kind, err)
	}
	if g.clock != nil {
		return began, micro(g.clock()), nil
	}
	g.drift.measured(before, time.Now(), now)
	return began, now, nil
}

// LastRecorded reads the number of the newest pass that ended; 0 when none did.
func (g *Keeper) LastRecorded(ctx context.Context) (int64, error) {
	var id int64
	if err := one(ctx, g.pool, "last_recorded", nil, &id); err != nil {
		return 0, fmt.Errorf("read the last recorded pass: %w", err)
	}
	return id, nil
}
