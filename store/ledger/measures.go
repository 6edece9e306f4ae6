package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Measures reads the numbers for metrics in one snapshot. All is counted by the database;
// the cost follows what is open, never the history. A ledger that cannot be read is an
// error: no number is better than a wrong 0.
func (g *Reader) Measures(ctx context.Context) (reconcile.Measures, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return reconcile.Measures{}, err
	}
	m := reconcile.Measures{Now: now}
	err = g.inSnapshot(ctx, func(tx pgx.Tx) error { return readMeasures(ctx, tx, &m, g.seals.Load()) })
	if err != nil {
		return reconcile.Measures{}, fmt.Errorf("read measures: %w", err)
	}
	return m, nil
}

func readMeasures(ctx context.Context, tx pgx.Tx, m *reconcile.Measures, seals *protocol.Seals) error {
	var passes []reconcile.PassSeen
	var groups []protocol.Group
	readings := append(measureReadings(m, &passes, &groups), trustReadings(&m.Sources, &m.Templates)...)
	readings = append(readings, controlReadings(&m.Controls, m.Now, seals)...)
	m.Tallies = map[string]reconcile.Tally{}
	readings = append(readings, moneyReadings(m)...)
	readings = append(readings, tallies(m.Tallies, nil),
		canaryReading(&m.Canaries), each("notices_open", nil, scanCount, func(n int) { m.Notices = n }))
	if err := read(ctx, tx, readings); err != nil {
		return err
	}
	m.Passes, m.Counts = protocol.Newest(passes), protocol.Counts(passes)
	m.Findings, m.Held = protocol.Tally(groups)
	m.Shielded = protocol.Shielded(groups)
	protocol.SortSources(m.Sources)
	protocol.SortTemplates(m.Templates)
	protocol.SortActionCounts(m.Actions)
	protocol.SortCounters(m.Counters)
	return nil
}

// measureReadings are those that the database counts.
func measureReadings(m *reconcile.Measures, passes *[]reconcile.PassSeen, groups *[]protocol.Group) []reading {
	overdue := pgx.StrictNamedArgs{"overdue": m.Now.Add(-protocol.MostOverdue)}
	return []reading{
		newestPasses(passes),
		each("measures_findings", pgx.StrictNamedArgs{"now": m.Now}, scanGroup,
			func(g protocol.Group) { *groups = append(*groups, g) }),
		each("measures_actions", overdue, scanActionCount, func(c actionCount) {
			m.Actions, m.Overdue = append(m.Actions, c.ActionCount), m.Overdue+c.overdue
		}),
		each("counters", nil, scanCounter, func(c reconcile.Counter) { m.Counters = append(m.Counters, c) }),
	}
}

// moneyReadings are what leaks cost and what ending them saved, the budget of the hour and the
// ledger's own size.
func moneyReadings(m *reconcile.Measures) []reading {
	return []reading{
		each("measures_leaking", cleanUps(), scanMoney, func(c reconcile.Money) { m.Leaking = append(m.Leaking, c) }),
		each("measures_saved", pgx.StrictNamedArgs{"from": m.Now.Add(-protocol.Window), "now": m.Now}, scanMoney,
			func(c reconcile.Money) { m.Saved = append(m.Saved, c) }),
		each("measures_self", pgx.StrictNamedArgs{"hour_ago": m.Now.Add(-protocol.Hour)}, scanSelf, func(s self) {
			m.Spent, m.Stamped, m.Bytes = s.spent, s.stamped, s.bytes
		}),
	}
}

func cleanUps() pgx.StrictNamedArgs { return pgx.StrictNamedArgs{"rules": reconcile.CleanUpRules()} }

func scanMoney(r pgx.Rows) (reconcile.Money, error) {
	var c reconcile.Money
	err := r.Scan(&c.Rule, &c.Provider, &c.Count, &c.USD)
	return c, err
}

// self is what the ledger knows of itself.
type self struct {
	spent   int
	stamped time.Time
	bytes   int64
}

func scanSelf(r pgx.Rows) (self, error) {
	var s self
	err := r.Scan(&s.spent, at(&s.stamped), &s.bytes)
	return s, err
}

func scanGroup(r pgx.Rows) (protocol.Group, error) {
	var g protocol.Group
	err := r.Scan(&g.Rule, &g.Provider, &g.Due, &g.HeldBy, &g.Tenant, &g.Count, at(&g.Oldest), &g.Open)
	return g, err
}

// actionCount is a count with how many of these are overdue.
type actionCount struct {
	reconcile.ActionCount
	overdue int
}

func scanActionCount(r pgx.Rows) (actionCount, error) {
	var c actionCount
	err := r.Scan(&c.Rule, &c.Provider, (*string)(&c.Step), (*string)(&c.Outcome), &c.Count, &c.overdue)
	return c, err
}
