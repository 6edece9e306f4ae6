package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Controls reads the operators' requests that are in force now.
func (g *Ledger) Controls(ctx context.Context) (reconcile.Controls, error) {
	var c reconcile.Controls
	err := g.locked(ctx, func(now time.Time) error {
		c = g.controls(now)
		return nil
	})
	return c, err
}

func (g *tables) controls(now time.Time) reconcile.Controls {
	c := reconcile.Controls{
		Modes: maps.Clone(g.modes), Lowered: maps.Clone(g.lowered), Breakers: maps.Clone(g.breakers),
		Incidents: g.openIncidents(), Arms: maps.Clone(g.arms), Grace: map[string]time.Time{},
		Proofs: slices.Clone(g.proofs), Learned: slices.Clone(g.learned),
	}
	for rule, until := range g.grace {
		if until.After(now) {
			c.Grace[rule] = until
		}
	}
	for _, p := range g.pauses {
		if protocol.InForce(p.Until, now) {
			c.Pauses = append(c.Pauses, p)
		}
	}
	for _, h := range g.holds {
		if protocol.InForce(h.Until, now) {
			c.Holds = append(c.Holds, h)
		}
	}
	for _, r := range g.releases {
		if protocol.InForce(r.Until, now) {
			c.Releases = append(c.Releases, r)
		}
	}
	return c
}

// operatorRequest does what an operator asked for, and tells of it.
func (g *Operators) operatorRequest(
	ctx context.Context, by reconcile.Attribution, do func(now time.Time) ([]line, error),
) error {
	if err := protocol.CheckSigned(by.Author, by.Reason); err != nil {
		return err
	}
	return g.locked(ctx, func(now time.Time) error {
		lines, err := do(now)
		if err != nil {
			return err
		}
		for _, t := range lines {
			g.tell(reconcile.TimelineEvent{At: now, Subject: t.subject, Kind: "operator", What: protocol.Asked(by, t.what)})
		}
		return nil
	})
}

type line struct{ subject, what string }

// SetMode lowers a rule's mode at once, to off or observe.
func (g *Operators) SetMode(ctx context.Context, rule string, mode reconcile.Mode, by reconcile.Attribution) error {
	if err := protocol.CheckMode(rule, mode); err != nil {
		return err
	}
	return g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		g.modes[rule], g.lowered[rule] = mode, reconcile.Lowering{Attribution: by, At: now}
		return []line{{"rule:" + rule, "mode " + string(mode)}}, nil
	})
}

// ClearMode takes a lowered mode back, and forgives what the rule got wrong so far.
func (g *Operators) ClearMode(ctx context.Context, rule string, by reconcile.Attribution) error {
	return g.operatorRequest(ctx, by, func(time.Time) ([]line, error) {
		if _, lowered := g.modes[rule]; !lowered {
			return nil, fmt.Errorf("clear mode of %s: %w", rule, reconcile.ErrNotFound)
		}
		delete(g.modes, rule)
		delete(g.lowered, rule)
		g.armed[rule] = g.lastVerdict()
		return []line{{"rule:" + rule, "mode of the config again"}}, nil
	})
}

// Pause stops acting on its scope, in the place of a pause before.
func (g *Operators) Pause(ctx context.Context, p reconcile.Pause) error {
	if err := protocol.CheckScope(p.Scope); err != nil {
		return err
	}
	return g.operatorRequest(ctx, reconcile.Attribution{Author: p.Author, Reason: p.Reason},
		func(now time.Time) ([]line, error) {
			if err := protocol.CheckUntil("pause "+p.Scope, p.Until, now); err != nil {
				return nil, err
			}
			p.At = now
			g.pauses = append(g.unpaused(p.Scope), p)
			return []line{{p.Scope, "paused" + protocol.Until(p.Until)}}, nil
		})
}

func (g *requestTable) unpaused(scope string) []reconcile.Pause {
	return slices.DeleteFunc(slices.Clone(g.pauses), func(p reconcile.Pause) bool { return p.Scope == scope })
}

// Resume ends the pause of a scope.
func (g *Operators) Resume(ctx context.Context, scope string, by reconcile.Attribution) error {
	return g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		inForce := slices.ContainsFunc(g.pauses, func(p reconcile.Pause) bool {
			return p.Scope == scope && protocol.InForce(p.Until, now)
		})
		if !inForce {
			return nil, fmt.Errorf("resume %s: %w", scope, reconcile.ErrNotFound)
		}
		g.pauses = g.unpaused(scope)
		return []line{{scope, "resumed"}}, nil
	})
}

// Hold keeps a target from being acted on, and returns the hold's number.
func (g *Operators) Hold(ctx context.Context, h reconcile.Hold) (int64, error) {
	if err := protocol.CheckTarget(h.Target); err != nil {
		return 0, err
	}
	by := reconcile.Attribution{Author: h.Author, Reason: h.Reason}
	err := g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		if err := protocol.CheckUntil("hold "+h.Target, h.Until, now); err != nil {
			return nil, err
		}
		h.ID, h.At = g.nextRequest(), now
		g.holds = append(g.holds, h)
		return []line{{h.Target, "held" + protocol.Until(h.Until)}}, nil
	})
	if err != nil {
		return 0, err
	}
	return h.ID, nil
}

func (g *requestTable) nextRequest() int64 {
	g.lastRequest++
	return g.lastRequest
}

// Unhold lifts the hold of this number, or all holds on this target.
func (g *Operators) Unhold(ctx context.Context, target string, by reconcile.Attribution) (int, error) {
	var lines []line
	err := g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		var left []reconcile.Hold
		for _, h := range g.holds {
			if meant := h.Target == target || strconv.FormatInt(h.ID, 10) == target; meant && protocol.InForce(h.Until, now) {
				lines = append(lines, line{h.Target, "hold lifted"})
				continue
			}
			left = append(left, h)
		}
		if len(lines) == 0 {
			return nil, fmt.Errorf("unhold %s: %w", target, reconcile.ErrNotFound)
		}
		g.holds = left
		return lines, nil
	})
	return len(lines), err
}

// Release lets the listed subjects pass a breaker or a freeze until a time.
func (g *Operators) Release(ctx context.Context, r reconcile.Release) (int64, error) {
	by := reconcile.Attribution{Author: r.Author, Reason: r.Reason}
	err := g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		if err := protocol.CheckRelease(r, now); err != nil {
			return nil, err
		}
		r.ID, r.At, r.Subjects = g.nextRequest(), now, slices.Clone(r.Subjects)
		g.releases = append(g.releases, r)
		return released(r), nil
	})
	if err != nil {
		return 0, err
	}
	return r.ID, nil
}

func released(r reconcile.Release) []line {
	until := protocol.Until(r.Until)
	lines := []line{{r.What, fmt.Sprintf("%d subjects released%s", len(r.Subjects), until)}}
	for _, s := range r.Subjects {
		lines = append(lines, line{s, "released from " + r.What + until})
	}
	return lines
}
