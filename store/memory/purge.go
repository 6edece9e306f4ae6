package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Purge deletes what ended before the given time and returns how many rows that were.
// What is open, what the budgets count and what explains a sandbox that exists stays.
func (g *Ledger) Purge(ctx context.Context, before time.Time, _ int) (int64, error) {
	var deleted int
	err := g.locked(ctx, func(now time.Time) error {
		rows := g.rows()
		g.purgeLists(before)
		g.purgeActions(before, now)
		g.purgePasses(before)
		g.purgeWorld(before)
		g.purgeVerdicts(before)
		deleted = rows - g.rows()
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}
	return int64(deleted), nil
}

// rows counts everything that can be purged.
func (g *tables) rows() int {
	return len(g.findings) + len(g.actions) + len(g.probes) + len(g.timeline) + len(g.passes) +
		len(g.sandboxes) + len(g.tasks) + len(g.pauses) + len(g.holds) + len(g.releases) +
		len(g.verdicts) + len(g.incidents) + len(g.notices) + len(g.hours) + len(g.canaries)
}

func over(end, before time.Time) bool { return !end.IsZero() && end.Before(before) }

func (g *tables) purgeLists(before time.Time) {
	g.findings = slices.DeleteFunc(g.findings, func(f *reconcile.FindingSeen) bool { return over(f.ResolvedAt, before) })
	g.probes = slices.DeleteFunc(g.probes, func(p reconcile.ProbeResult) bool { return p.At.Before(before) })
	g.timeline = slices.DeleteFunc(g.timeline, func(e reconcile.TimelineEvent) bool { return e.At.Before(before) })
	g.pauses = slices.DeleteFunc(g.pauses, func(p reconcile.Pause) bool { return over(p.Until, before) })
	g.holds = slices.DeleteFunc(g.holds, func(h reconcile.Hold) bool { return over(h.Until, before) })
	g.canaries = slices.DeleteFunc(g.canaries, func(c reconcile.Canary) bool { return c.PlantedAt.Before(before) })
	g.releases = slices.DeleteFunc(g.releases, func(r reconcile.Release) bool { return over(r.Until, before) })
}

// purgeActions deletes whole remedies only: a step that is open, or was closed recently,
// still needs those before it.
func (g *actionTable) purgeActions(before, now time.Time) {
	needed := map[string]bool{}
	for _, a := range g.actions {
		//guard:purge-hour P7
		if !over(a.ClosedAt, before) || a.begunAt.After(now.Add(-protocol.Hour)) {
			needed[a.Remedy] = true
		}
	}
	maps.DeleteFunc(g.actions, func(_ string, a action) bool { return !needed[a.Remedy] })
}

// purgePasses keeps those that the next pass measures itself against.
func (g *passTable) purgePasses(before time.Time) {
	needed := map[int64]bool{g.lastPass: true}
	var complete, full int
	for _, p := range slices.Backward(g.passes) {
		if !p.Complete {
			continue
		}
		complete++
		if p.Kind == reconcile.Full {
			full++
		}
		if complete <= protocol.MostGaps+1 || p.Kind == reconcile.Full && full == 1 {
			needed[p.ID] = true
		}
	}
	g.passes = slices.DeleteFunc(g.passes, func(p reconcile.PassSeen) bool {
		return p.BeganAt.Before(before) && !needed[p.ID]
	})
}

func (g *tables) purgeWorld(before time.Time) {
	busyTasks, busySandboxes := map[string]bool{}, map[reconcile.Ref]bool{}
	for _, a := range g.openActions() {
		busyTasks[a.Task], busySandboxes[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}] = true, true
	}
	maps.DeleteFunc(g.sandboxes, func(ref reconcile.Ref, s reconcile.SandboxSeen) bool {
		return over(s.GoneAt, before) && !g.tasks[s.Task].Live && !busySandboxes[ref]
	})
	maps.DeleteFunc(g.sums, func(ref reconcile.Ref, _ reconcile.ProbeSeen) bool {
		_, known := g.sandboxes[ref]
		return !known
	})
	named := g.named()
	maps.DeleteFunc(g.tasks, func(id string, t task) bool {
		return !t.Live && t.changedAt.Before(before) && !named[id] && !busyTasks[id]
	})
}
