package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// LastBegan reads when the newest pass of a kind began that also ended, and the ledger's
// now. A full pass counts as a quick one too. Zero means never.
func (g *Ledger) LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error) {
	err = g.locked(ctx, func(at time.Time) error {
		now = at
		for i := len(g.passes) - 1; i >= 0; i-- {
			p := &g.passes[i] // a copy of each would be most of a long simulated history's cost
			if !p.EndedAt.IsZero() && (p.Kind == reconcile.Full || kind == reconcile.Quick) {
				began = p.BeganAt
				break
			}
		}
		return nil
	})
	if err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("read when the last %s pass began: %w", kind, err)
	}
	return began, now, nil
}

// LastRecorded reads the number of the newest pass that ended; 0 when none did.
func (g *Ledger) LastRecorded(ctx context.Context) (int64, error) {
	var id int64
	err := g.locked(ctx, func(time.Time) error {
		for i := len(g.passes) - 1; i >= 0; i-- {
			if p := &g.passes[i]; !p.EndedAt.IsZero() {
				id = p.ID
				break
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the last recorded pass: %w", err)
	}
	return id, nil
}
