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

// Recall reads what is known, in one snapshot that later writes do not change.
func (g *Ledger) Recall(ctx context.Context) (reconcile.Memory, error) {
	var m reconcile.Memory
	err := g.locked(ctx, func(now time.Time) error {
		m = g.recall(now)
		return nil
	})
	if err != nil {
		return reconcile.Memory{}, fmt.Errorf("recall: %w", err)
	}
	return m, nil
}

func (g *tables) recall(now time.Time) reconcile.Memory {
	m := reconcile.Memory{
		Now: now, WatchSince: g.watchSince, Known: protocol.Known(g.known),
		Tasks:     g.recentTasks(now),
		Sandboxes: g.inventory(now),
		Findings:  map[reconcile.FindingKey]reconcile.Finding{},
		Actions:   g.openActions(),
		Probes:    map[reconcile.Ref]reconcile.ProbeSeen{},
		Templates: maps.Clone(g.templates),
		Sources:   maps.Clone(g.sources),
		Controls:  g.controls(now),
		Verdicts:  g.recentVerdicts(now),
		Armed:     g.armings(),
	}
	m.Canaries = g.canariesNow()
	var about map[string][]string
	m.FalsePositives, about = g.tallies()
	m.RefutedBy = map[string][]string{}
	for rule, tasks := range about {
		m.RefutedBy[rule] = g.tenantsOf(tasks)
	}
	for _, f := range g.openFindings() {
		m.Findings[f.Key()] = f.Finding
	}
	for ref := range m.Sandboxes.Keys() {
		if sum, probed := g.sums[ref]; probed {
			sum.Failures, sum.Measurements = slices.Clone(sum.Failures), slices.Clone(sum.Measurements)
			m.Probes[ref] = sum
		}
	}
	for _, a := range g.actions {
		if a.begunAt.After(now.Add(-protocol.Hour)) {
			m.Spent.Hour++
		}
	}
	ends, full := g.ends()
	protocol.Remember(&m, ends, full)
	return m
}

// ends are the ends of the complete passes, newest first, and of the last full one.
func (g *passTable) ends() (ends []time.Time, full time.Time) {
	for _, p := range slices.Backward(g.passes) {
		if p.Complete && len(ends) <= protocol.MostGaps {
			ends = append(ends, p.EndedAt)
		}
		if p.Complete && p.Kind == reconcile.Full && full.IsZero() {
			full = p.EndedAt
		}
		if len(ends) > protocol.MostGaps && !full.IsZero() {
			break
		}
	}
	return ends, full
}

// Sources reads the trust in the sources as the last pass left it.
func (g *Ledger) Sources(context.Context) (map[string]reconcile.SourceSeen, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.sources), nil
}

// recentTasks are the live tasks, those that left recently, and those that a sandbox which
// exists still names.
func (g *worldTable) recentTasks(now time.Time) (recent reconcile.RememberedTasks) {
	named := g.named()
	for id, t := range g.tasks {
		if t.Live || t.changedAt.After(now.Add(-protocol.Recent)) || named[id] {
			recent.Put(id, t.TaskSeen)
		}
	}
	return recent
}

// named are the tasks that a sandbox which exists names.
func (g *worldTable) named() map[string]bool {
	named := map[string]bool{}
	for _, s := range g.sandboxes {
		if s.GoneAt.IsZero() && s.Task != "" {
			named[s.Task] = true
		}
	}
	return named
}

// inventory are the sandboxes that exist, those gone recently, and those whose task lives.
func (g *worldTable) inventory(now time.Time) (inventory reconcile.RememberedSandboxes) {
	for ref, s := range g.sandboxes {
		if s.GoneAt.IsZero() || s.GoneAt.After(now.Add(-protocol.Recent)) || g.tasks[s.Task].Live {
			inventory.Put(ref, s)
		}
	}
	return inventory
}
