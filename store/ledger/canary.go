package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Canaries are the sandboxes that sandkeeper makes itself to be found.
type Canaries struct{ *base }

// PlantCanary takes the right to make one now, and reports whether it did: once in each slot of time over all replicas,
// none while one is still there, and only so many a day. Only its provider and name are read.
func (g *Canaries) PlantCanary(ctx context.Context, c reconcile.Canary, p reconcile.CanaryPolicy) (bool, error) {
	now, err := g.Now(ctx)
	if err != nil {
		return false, err
	}
	day := now.Add(-24 * time.Hour)
	if _, err := exec(ctx, g.pool, "canary_seen", pgx.StrictNamedArgs{"day": day}); err != nil {
		return false, fmt.Errorf("find the canaries that were made: %w", err)
	}
	tag, err := exec(ctx, g.pool, "canary_plant", pgx.StrictNamedArgs{
		"slot": protocol.CanarySlot(now, p.Every), "provider": clean(c.Provider), "name": clean(c.Name), "now": now,
		"day": day, "per_day": p.PerDay,
	})
	if err != nil {
		return false, fmt.Errorf("plant canary %s: %w", c.Name, err)
	}
	return tag.RowsAffected() > 0, nil
}

// CanaryPlanted keeps what its provider said: the id of its sandbox, or why there is none.
func (g *Canaries) CanaryPlanted(ctx context.Context, name, sandbox, failed string) error {
	_, err := exec(ctx, g.pool, "canary_planted", pgx.StrictNamedArgs{"name": clean(name), "sandbox": clean(sandbox),
		"error": clean(failed)})
	if err != nil {
		return fmt.Errorf("remember canary %s: %w", name, err)
	}
	return nil
}

// canaryReading reads the newest ones.
func canaryReading(into *[]reconcile.Canary) reading {
	args := pgx.StrictNamedArgs{"most": reconcile.MostCanaries, "rule": reconcile.CanaryRule}
	return each("canaries", args, scanCanary, func(c reconcile.Canary) { *into = append(*into, c) })
}

func scanCanary(r pgx.Rows) (reconcile.Canary, error) {
	var c reconcile.Canary
	err := r.Scan(&c.ID, &c.Provider, &c.Name, &c.Sandbox, &c.Error, at(&c.PlantedAt), at(&c.FoundAt), at(&c.JudgedAt),
		at(&c.ActedAt), at(&c.GoneAt), &c.GoneByUs)
	return c, err
}
