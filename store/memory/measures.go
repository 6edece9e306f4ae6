package memory

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Measures reads the numbers for metrics.
func (g *Ledger) Measures(ctx context.Context) (reconcile.Measures, error) {
	var m reconcile.Measures
	err := g.locked(ctx, func(now time.Time) error {
		m = g.measures(now)
		return nil
	})
	if err != nil {
		return reconcile.Measures{}, fmt.Errorf("read measures: %w", err)
	}
	return m, nil
}

func (g *tables) measures(now time.Time) reconcile.Measures {
	m := reconcile.Measures{
		Now: now, Passes: protocol.Newest(g.passes), Counts: protocol.Counts(g.passes), Counters: g.countersNow(),
		Sources: g.sourceList(), Templates: g.templateList(), Controls: g.controls(now),
	}
	groups := make([]protocol.Group, 0, len(g.open))
	for _, f := range g.open {
		if g.isCanary(f) {
			continue
		}
		groups = append(groups, protocol.Group{
			Rule: f.Rule, Provider: f.Provider, Due: f.Due, HeldBy: f.HeldBy.Texts(), Count: 1, Oldest: f.OpenedAt,
			Tenant: g.tasks[f.Task].Tenant, Open: now.Sub(f.OpenedAt),
		})
	}
	for kind, p := range m.Passes {
		p.Counts = maps.Clone(p.Counts)
		m.Passes[kind] = p
	}
	m.Findings, m.Held = protocol.Tally(groups)
	m.Shielded = protocol.Shielded(groups)
	m.Actions, m.Overdue = g.actionCounts(now)
	m.Tallies, _ = g.tallies()
	m.Notices = g.openNotices()
	m.Canaries = g.canariesNow()
	m.Leaking, m.Saved = g.leaking(), g.saved(now, now.Add(-protocol.Window))
	for _, a := range g.actions {
		if a.begunAt.After(now.Add(-protocol.Hour)) {
			m.Spent++
		}
	}
	return m
}

// actionCounts counts the open actions, and of these the terminates that the provider was
// first asked for long ago.
func (g *actionTable) actionCounts(now time.Time) (counts []reconcile.ActionCount, overdue int) {
	alike := map[reconcile.ActionCount]int{}
	for _, a := range g.actions {
		if a.Outcome.Closed() {
			continue
		}
		alike[reconcile.ActionCount{Rule: a.Rule, Provider: a.Provider, Step: a.Step, Outcome: a.Outcome}]++
		asked := a.Step == reconcile.StepTerminate && !a.FirstActed.IsZero()
		if asked && now.Sub(a.FirstActed) >= protocol.MostOverdue {
			overdue++
		}
	}
	for c, n := range alike {
		c.Count = n
		counts = append(counts, c)
	}
	protocol.SortActionCounts(counts)
	return counts, overdue
}
