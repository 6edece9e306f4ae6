package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// installation is the name that a ledger in memory goes by.
const installation = "memory"

// Overview reads what the status page shows, each list cut to most.
func (g *Ledger) Overview(ctx context.Context, most int) (reconcile.Overview, error) {
	var o reconcile.Overview
	err := g.locked(ctx, func(now time.Time) error {
		o = g.overview(now, max(most, 0))
		return nil
	})
	if err != nil {
		return reconcile.Overview{}, fmt.Errorf("read overview: %w", err)
	}
	return o, nil
}

func (g *tables) overview(now time.Time, most int) reconcile.Overview {
	newest := protocol.Newest(g.passes)
	open := g.openActions()
	o := reconcile.Overview{
		Now: now, Installation: installation,
		Passes: g.lastPasses(most), LastPass: newest[reconcile.Quick].EndedAt, LastFull: newest[reconcile.Full].EndedAt,
		Findings: cut(g.openFindings(), most), FindingsOpen: map[string]int{}, Resolved: cut(g.resolved(), most),
		Open: cut(open, most), OpenTotal: len(open), Recent: cut(g.closedActions(), most),
		Sources: g.sourceList(), Templates: g.templateList(), Controls: g.controls(now), Counts: protocol.Counts(g.passes),
	}
	o.Incidents, o.FalsePositives = cut(g.allIncidents(most), most), cut(g.regretted(), most)
	o.Tallies, _ = g.tallies()
	o.Scores = protocol.Score(g.facts(now))
	if g.lease.Holder != "" && g.lease.Until.After(now) {
		o.Lease = g.lease
	}
	for key := range g.open {
		o.FindingsOpen[key.Rule]++
	}
	o.Canaries = g.canariesNow()
	protocol.WithoutCanaries(&o)
	protocol.Belong(o.Findings, o.Controls.Incidents)
	return o
}

func cut[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// resolved are the findings that are over, newest first.
func (g *findingTable) resolved() []reconcile.FindingSeen {
	var over []reconcile.FindingSeen
	for _, f := range slices.Backward(g.findings) {
		if !f.ResolvedAt.IsZero() {
			over = append(over, copiedFinding(*f))
		}
	}
	slices.SortStableFunc(over, func(a, b reconcile.FindingSeen) int {
		return cmp.Or(b.ResolvedAt.Compare(a.ResolvedAt), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	return over
}

// closedActions are the actions that are over, newest first.
func (g *actionTable) closedActions() []reconcile.Action {
	newest := func(a, b action) int { return cmp.Or(b.ClosedAt.Compare(a.ClosedAt), cmp.Compare(a.ID, b.ID)) }
	var over []reconcile.Action
	for _, a := range sorted(g.actions, newest, func(a action) bool { return a.Outcome.Closed() }) {
		over = append(over, copied(a.Action))
	}
	return over
}

func (g *worldTable) sourceList() []reconcile.SourceSeen {
	list := slices.Collect(maps.Values(g.sources))
	protocol.SortSources(list)
	return list
}

func (g *worldTable) templateList() []reconcile.TemplateSeen {
	list := slices.Collect(maps.Values(g.templates))
	protocol.SortTemplates(list)
	return list
}
