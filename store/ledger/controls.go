package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Controls reads the operators' requests that are in force now.
func (g *Ledger) Controls(ctx context.Context) (reconcile.Controls, error) {
	var c reconcile.Controls
	now, err := g.Now(ctx)
	if err != nil {
		return c, err
	}
	err = pgx.BeginTxFunc(ctx, g.pool, snapshot, func(tx pgx.Tx) error {
		return read(ctx, tx, controlReadings(&c, now))
	})
	if err != nil {
		return reconcile.Controls{}, fmt.Errorf("read controls: %w", err)
	}
	return c, nil
}

func controlReadings(c *reconcile.Controls, now time.Time) []reading {
	c.Modes, c.Breakers = map[string]reconcile.Mode{}, map[string]reconcile.Breaker{}
	c.Lowered = map[string]reconcile.Lowering{}
	at := pgx.StrictNamedArgs{"now": now}
	return []reading{
		each("modes", nil, scanMode, func(m lowered) {
			c.Modes[m.rule], c.Lowered[m.rule] = m.mode, m.by
		}),
		each("pauses", at, scanPause, func(p reconcile.Pause) { c.Pauses = append(c.Pauses, p) }),
		each("holds", at, scanHold, func(h reconcile.Hold) { c.Holds = append(c.Holds, h) }),
		each("releases", at, scanRelease, func(r reconcile.Release) { c.Releases = append(c.Releases, r) }),
		each("breakers", nil, scanBreaker, func(b reconcile.Breaker) { c.Breakers[b.Rule] = b }),
		each("open_incidents", nil, scanIncident, func(i reconcile.Incident) {
			c.Incidents = append(c.Incidents, i)
		}),
	}
}

type lowered struct {
	rule string
	mode reconcile.Mode
	by   reconcile.Lowering
}

func scanMode(r pgx.Rows) (lowered, error) {
	var m lowered
	return m, r.Scan(&m.rule, (*string)(&m.mode), &m.by.Author, &m.by.Reason, at(&m.by.At))
}

func scanPause(r pgx.Rows) (reconcile.Pause, error) {
	var p reconcile.Pause
	err := r.Scan(&p.Scope, &p.Reason, &p.Author, at(&p.At), at(&p.Until))
	return p, err
}

func scanHold(r pgx.Rows) (reconcile.Hold, error) {
	var h reconcile.Hold
	err := r.Scan(&h.ID, &h.Target, &h.Reason, &h.Author, at(&h.At), at(&h.Until))
	return h, err
}

func scanRelease(r pgx.Rows) (reconcile.Release, error) {
	var l reconcile.Release
	err := r.Scan(&l.ID, &l.What, &l.Subjects, &l.Hash, &l.Reason, &l.Author, at(&l.At), at(&l.Until))
	return l, err
}

func scanBreaker(r pgx.Rows) (reconcile.Breaker, error) {
	var b reconcile.Breaker
	err := r.Scan(&b.Rule, at(&b.OpenedAt), &b.Subjects, &b.Hash)
	return b, err
}

// operatorRequest runs do in a transaction, after the ledger has proven to be usable, and adds to the
// timeline what an operator asked for.
func (g *Ledger) operatorRequest(ctx context.Context, by reconcile.Attribution,
	do func(tx pgx.Tx, now time.Time) ([]line, error),
) error {
	if err := protocol.CheckSigned(by.Author, by.Reason); err != nil {
		return err
	}
	if err := g.usable(ctx, g.pool); err != nil {
		return err
	}
	now, err := g.setClock(ctx)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		lines, err := do(tx, now)
		if err != nil {
			return err
		}
		events := putEvents(column(lines, func(t line) reconcile.TimelineEvent { return t.event(by, now) }))
		_, err = exec(ctx, tx, events.query, events.args)
		return err
	})
}

// line is what an operator did to which subject.
type line struct{ subject, what string }

func (t line) event(by reconcile.Attribution, now time.Time) reconcile.TimelineEvent {
	return reconcile.TimelineEvent{At: now, Subject: t.subject, Kind: "operator", What: protocol.Asked(by, t.what)}
}
