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
func (g *Keeper) Controls(ctx context.Context) (reconcile.Controls, error) {
	var c reconcile.Controls
	now, err := g.Now(ctx)
	if err != nil {
		return c, err
	}
	err = pgx.BeginTxFunc(ctx, g.pool, snapshot, func(tx pgx.Tx) error {
		return readFilled(ctx, tx, controlReadings(&c, now, g.seals.Load()))
	})
	if err != nil {
		return reconcile.Controls{}, fmt.Errorf("read controls: %w", err)
	}
	return c, nil
}

func controlReadings(c *reconcile.Controls, now time.Time, seals *protocol.Seals) []reading {
	c.Modes, c.Breakers = map[string]reconcile.Mode{}, map[string]reconcile.Breaker{}
	c.Lowered = map[string]reconcile.Lowering{}
	lifted := pgx.StrictNamedArgs{"now": now, "sealed": seals.On()}
	return append(proofReadings(c, now, seals), []reading{
		each("modes", nil, scanMode, func(m protocol.ModeRequest) { seals.AddMode(c, m) }),
		each("pauses", lifted, scanPause, func(p pauseRow) { seals.AddPause(c, p.id, p.Pause, p.lift) }),
		each("holds", lifted, scanHold, func(h holdRow) { seals.AddHold(c, h.Hold, h.lift) }),
		each("releases", pgx.StrictNamedArgs{"now": now}, scanRelease, func(r releaseRow) {
			seals.AddRelease(c, r.Release, r.seal)
		}),
		each("breakers", nil, scanBreaker, func(b reconcile.Breaker) { c.Breakers[b.Rule] = b }),
		each("open_incidents", nil, scanIncident, func(i incidentRow) { seals.AddIncident(c, i.Incident, i.seal) }),
	}...)
}

// pauseRow and holdRow are a pause and a hold with who lifted it.
type pauseRow struct {
	id int64
	reconcile.Pause
	lift protocol.Lift
}

type holdRow struct {
	reconcile.Hold
	lift protocol.Lift
}

type releaseRow struct {
	reconcile.Release
	seal string
}

func liftColumns(l *protocol.Lift) []any { return []any{at(&l.At), &l.Author, &l.Reason, &l.Seal} }

func scanMode(r pgx.Rows) (protocol.ModeRequest, error) {
	var m protocol.ModeRequest
	return m, r.Scan(&m.Rule, (*string)(&m.Mode), &m.Author, &m.Reason, at(&m.At), &m.Seal)
}

func scanPause(r pgx.Rows) (pauseRow, error) {
	var p pauseRow
	err := r.Scan(append([]any{&p.id, &p.Scope, &p.Reason, &p.Author, at(&p.At), at(&p.Until)},
		liftColumns(&p.lift)...)...)
	return p, err
}

func scanHold(r pgx.Rows) (holdRow, error) {
	var h holdRow
	err := r.Scan(append([]any{&h.ID, &h.Target, &h.Reason, &h.Author, at(&h.At), at(&h.Until)},
		liftColumns(&h.lift)...)...)
	return h, err
}

func scanRelease(r pgx.Rows) (releaseRow, error) {
	var l releaseRow
	err := r.Scan(&l.ID, &l.What, &l.Subjects, &l.Hash, &l.Reason, &l.Author, at(&l.At), at(&l.Until), &l.seal)
	return l, err
}

func scanBreaker(r pgx.Rows) (reconcile.Breaker, error) {
	var b reconcile.Breaker
	err := r.Scan(&b.Rule, at(&b.OpenedAt), &b.Subjects, &b.Hash)
	return b, err
}

// operatorRequest runs do in a transaction, after the ledger has proven to be usable, and adds to the
// timeline what an operator asked for.
func (g *Operators) operatorRequest(ctx context.Context, by reconcile.Attribution,
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
