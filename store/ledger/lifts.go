package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// liftPauses ends the pause of a scope, also one that somebody without the operator key has ended,
// and reports whether one was in force.
func (g *Operators) liftPauses(ctx context.Context, tx pgx.Tx, scope string, by reconcile.Attribution, now time.Time,
) (inForce bool, err error) {
	seals, l := g.seals.Load(), protocol.Lift{Attribution: by, At: now}
	found, err := all(ctx, tx, "pause_lock", pgx.StrictNamedArgs{
		"scope": scope, "now": now, "sealed": seals.On(),
	}, scanPause)
	found = slices.DeleteFunc(found, func(p pauseRow) bool {
		return !p.lift.At.IsZero() && seals.Holds(p.lift.Seal, protocol.PauseLift(p.id, &p.Pause, p.lift))
	})
	if err != nil || len(found) == 0 {
		return false, err
	}
	_, err = exec(ctx, tx, "pause_lift", liftArgs(l,
		column(found, func(p pauseRow) int64 { return p.id }),
		column(found, func(p pauseRow) string { return seals.Sign(protocol.PauseLift(p.id, &p.Pause, l)) })))
	return slices.ContainsFunc(found, func(p pauseRow) bool { return protocol.InForce(p.Until, now) }), err
}

// liftHolds lifts the holds with this number or on this target, also those that somebody without
// the operator key has lifted, and returns their targets.
func (g *Operators) liftHolds(ctx context.Context, tx pgx.Tx, target string, by reconcile.Attribution, now time.Time,
) ([]string, error) {
	seals, l := g.seals.Load(), protocol.Lift{Attribution: by, At: now}
	found, err := all(ctx, tx, "hold_lock", pgx.StrictNamedArgs{
		"target": target, "now": now, "sealed": seals.On(),
	}, scanHold)
	found = slices.DeleteFunc(found, func(h holdRow) bool {
		return !h.lift.At.IsZero() && seals.Holds(h.lift.Seal, protocol.HoldLift(&h.Hold, h.lift))
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	_, err = exec(ctx, tx, "hold_lift", liftArgs(l,
		column(found, func(h holdRow) int64 { return h.ID }),
		column(found, func(h holdRow) string { return seals.Sign(protocol.HoldLift(&h.Hold, l)) })))
	return column(found, func(h holdRow) string { return h.Target }), err
}

func liftArgs(l protocol.Lift, ids []int64, seals []string) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{
		"ids": ids, "seals": seals, "now": l.At, "author": clean(l.Author), "reason": clean(l.Reason),
	}
}
