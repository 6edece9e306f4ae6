package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Measures reads the numbers for metrics in one snapshot. All is counted by the database;
// the cost follows what is open, never the history. A ledger that cannot be read is an
// error: no number is better than a wrong 0.
func (g *Ledger) Measures(ctx context.Context) (reconcile.Measures, error) {
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
	readings = append(readings, tallies(m.Tallies, nil),
		each("notices_open", nil, scanCount, func(n int) { m.Notices = n }))
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
