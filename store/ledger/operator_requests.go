package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// SetMode lowers a rule's mode at once, to off or observe.
func (g *Operators) SetMode(ctx context.Context, rule string, mode reconcile.Mode, by reconcile.Attribution) error {
	if err := protocol.CheckMode(rule, mode); err != nil {
		return err
	}
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		return []line{{"rule:" + rule, "mode " + string(mode)}}, g.putMode(ctx, tx, rule, mode, by, now)
	})
	if err != nil {
		return fmt.Errorf("set mode of %s: %w", rule, err)
	}
	return nil
}

// ClearMode takes a lowered mode back: the config decides again, and what the rule got wrong
// so far is forgiven.
// [reconcile.ErrNotFound] means that it was not lowered.
func (g *Operators) ClearMode(ctx context.Context, rule string, by reconcile.Attribution) error {
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		own := pgx.StrictNamedArgs{"rule": rule}
		asked, err := all(ctx, tx, "mode_of", own, scanMode)
		if _, lowered := g.seals.Load().Modes(asked)[rule]; err == nil && !lowered {
			err = reconcile.ErrNotFound
		}
		if err == nil {
			err = g.putMode(ctx, tx, rule, protocol.ModeConfig, by, now)
		}
		if err == nil {
			_, err = exec(ctx, tx, "arm", own)
		}
		return []line{{"rule:" + rule, "mode of the config again"}}, err
	})
	if err != nil {
		return fmt.Errorf("clear mode of %s: %w", rule, err)
	}
	return nil
}

func (g *Operators) putMode(ctx context.Context, tx pgx.Tx, rule string, mode reconcile.Mode, by reconcile.Attribution,
	now time.Time,
) error {
	m := protocol.ModeRequest{Attribution: by, Rule: rule, Mode: mode, At: now}
	_, err := exec(ctx, tx, "set_mode", pgx.StrictNamedArgs{
		"rule": rule, "mode": string(mode), "author": clean(by.Author), "reason": clean(by.Reason), "now": now,
		"seal": g.seals.Load().Sign(protocol.ModeOf(&m)),
	})
	return err
}

// Pause stops acting on its scope, until a time or until it is resumed. A pause of the
// same scope takes the place of the one before.
func (g *Operators) Pause(ctx context.Context, p reconcile.Pause) error {
	if err := protocol.CheckScope(p.Scope); err != nil {
		return err
	}
	by := reconcile.Attribution{Author: p.Author, Reason: p.Reason}
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		if err := protocol.CheckUntil("pause", p.Until, now); err != nil {
			return nil, err
		}
		if _, err := g.liftPauses(ctx, tx, p.Scope, by, now); err != nil {
			return nil, err
		}
		_, err := exec(ctx, tx, "pause_add", pgx.StrictNamedArgs{
			"scope": p.Scope, "author": clean(p.Author), "reason": clean(p.Reason), "now": now, "until": stamp(p.Until),
		})
		return []line{{p.Scope, "paused" + protocol.Until(p.Until)}}, err
	})
	if err != nil {
		return fmt.Errorf("pause %s: %w", p.Scope, err)
	}
	return nil
}

// Resume ends the pause of a scope. [reconcile.ErrNotFound] means that none was in force.
func (g *Operators) Resume(ctx context.Context, scope string, by reconcile.Attribution) error {
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		inForce, err := g.liftPauses(ctx, tx, scope, by, now)
		if err == nil && !inForce {
			err = reconcile.ErrNotFound
		}
		return []line{{scope, "resumed"}}, err
	})
	if err != nil {
		return fmt.Errorf("resume %s: %w", scope, err)
	}
	return nil
}

// Hold keeps a target from being acted on, until a time or until it is lifted, and returns
// the hold's number.
func (g *Operators) Hold(ctx context.Context, h reconcile.Hold) (int64, error) {
	if err := protocol.CheckTarget(h.Target); err != nil {
		return 0, err
	}
	var id int64
	by := reconcile.Attribution{Author: h.Author, Reason: h.Reason}
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		if err := protocol.CheckUntil("hold", h.Until, now); err != nil {
			return nil, err
		}
		err := one(ctx, tx, "hold_add", pgx.StrictNamedArgs{
			"target": clean(h.Target), "author": clean(h.Author), "reason": clean(h.Reason), "now": now,
			"until": stamp(h.Until),
		}, &id)
		return []line{{h.Target, "held" + protocol.Until(h.Until)}}, err
	})
	if err != nil {
		return 0, fmt.Errorf("hold %s: %w", h.Target, err)
	}
	return id, nil
}

// Unhold lifts the hold of this number, or all holds on this target, and returns how many.
// [reconcile.ErrNotFound] means that none was in force.
func (g *Operators) Unhold(ctx context.Context, target string, by reconcile.Attribution) (int, error) {
	var lifted []string
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		var err error
		lifted, err = g.liftHolds(ctx, tx, target, by, now)
		if err == nil && len(lifted) == 0 {
			err = reconcile.ErrNotFound
		}
		return column(lifted, func(t string) line { return line{t, "hold lifted"} }), err
	})
	if err != nil {
		return 0, fmt.Errorf("unhold %s: %w", target, err)
	}
	return len(lifted), nil
}

// Release lets the listed subjects pass a breaker or a freeze until a time, and returns
// the release's number.
func (g *Operators) Release(ctx context.Context, r reconcile.Release) (int64, error) {
	var id int64
	by := reconcile.Attribution{Author: r.Author, Reason: r.Reason}
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		if err := protocol.CheckRelease(r, now); err != nil {
			return nil, err
		}
		r.At = now
		err := one(ctx, tx, "release_add", pgx.StrictNamedArgs{
			"what": clean(r.What), "subjects": cleaned(r.Subjects), "hash": clean(r.Hash),
			"author": clean(r.Author), "reason": clean(r.Reason), "now": now, "until": stamp(r.Until),
			"seal": g.seals.Load().Sign(protocol.ReleaseOf(&r)),
		}, &id)
		return released(r), err
	})
	if err != nil {
		return 0, fmt.Errorf("release %s: %w", r.What, err)
	}
	return id, nil
}

// released tells of a release on each of its subjects, and on what was released.
func released(r reconcile.Release) []line {
	what := "released from " + r.What + protocol.Until(r.Until)
	lines := []line{{r.What, fmt.Sprintf("%d subjects released%s", len(r.Subjects), protocol.Until(r.Until))}}
	return append(lines, column(r.Subjects, func(s string) line { return line{s, what} })...)
}
