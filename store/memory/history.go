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

// OpenFindings reads the findings that are open, oldest first.
func (g *Ledger) OpenFindings(ctx context.Context) ([]reconcile.FindingSeen, error) {
	var open []reconcile.FindingSeen
	err := g.locked(ctx, func(time.Time) error {
		open = g.openFindings()
		return nil
	})
	return open, err
}

func (g *findingTable) openFindings() []reconcile.FindingSeen {
	var open []reconcile.FindingSeen
	for _, f := range g.open {
		open = append(open, copiedFinding(*f))
	}
	slices.SortStableFunc(open, func(a, b reconcile.FindingSeen) int {
		return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	return open
}

func copiedFinding(f reconcile.FindingSeen) reconcile.FindingSeen {
	f.Evidence, f.HeldBy = slices.Clone(f.Evidence), slices.Clone(f.HeldBy)
	return f
}

// LastPasses reads the newest n passes, newest first, those under way included.
func (g *Ledger) LastPasses(ctx context.Context, n int) ([]reconcile.PassSeen, error) {
	var last []reconcile.PassSeen
	err := g.locked(ctx, func(time.Time) error {
		last = g.lastPasses(n)
		return nil
	})
	return last, err
}

func (g *passTable) lastPasses(n int) []reconcile.PassSeen {
	var last []reconcile.PassSeen
	for i := len(g.passes) - 1; i >= 0 && len(last) < n; i-- {
		p := g.passes[i]
		p.Counts = maps.Clone(p.Counts)
		last = append(last, p)
	}
	return last
}

// Counters reads all totals.
func (g *Ledger) Counters(ctx context.Context) ([]reconcile.Counter, error) {
	var found []reconcile.Counter
	err := g.locked(ctx, func(time.Time) error {
		found = g.countersNow()
		return nil
	})
	return found, err
}

func (g *journal) countersNow() []reconcile.Counter {
	var found []reconcile.Counter
	for c, value := range g.counters {
		found = append(found, reconcile.Counter{
			Name: c.name, Rule: c.rule, Provider: c.provider, What: c.what, Value: value,
		})
	}
	protocol.SortCounters(found)
	return found
}

// Subject reads everything that is known of a task or a sandbox.
// [reconcile.ErrNotFound] means nothing.
func (g *Ledger) Subject(ctx context.Context, id string) (reconcile.History, error) {
	var h reconcile.History
	err := g.locked(ctx, func(time.Time) error {
		sought := protocol.Subject(id)
		g.world(sought, &h)
		g.events(sought, &h)
		if h.Empty() {
			return reconcile.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return reconcile.History{}, fmt.Errorf("read history of %s: %w", id, err)
	}
	return h, nil
}

// world finds the tasks and sandboxes that are meant.
func (g *worldTable) world(sought protocol.Sought, h *reconcile.History) {
	linked := map[string]bool{sought.ID: true}
	h.Sandboxes = sorted(g.sandboxes, newestSandbox, func(s reconcile.SandboxSeen) bool {
		return s.Ref == sought.Ref || s.ID == sought.ID || (s.Name == sought.ID || s.Task == sought.ID) && sought.ID != ""
	})
	for _, s := range h.Sandboxes {
		linked[s.Task] = true
	}
	tasks := sorted(g.tasks, newestTask, func(t task) bool {
		return linked[t.ID] || t.Sandbox == sought.ID && sought.ID != ""
	})
	for _, t := range tasks {
		h.Tasks = append(h.Tasks, t.TaskSeen)
	}
}

func newestSandbox(a, b reconcile.SandboxSeen) int {
	return cmp.Or(b.FirstSeen.Compare(a.FirstSeen), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
}

func newestTask(a, b task) int { return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID)) }

// events finds what happened to the tasks and sandboxes of h, newest first.
func (g *tables) events(sought protocol.Sought, h *reconcile.History) {
	tasks, refs := sought.Tasks(*h), sought.Refs(*h)
	about := func(subject, task string, ref reconcile.Ref) bool {
		return subject == sought.Given || task != "" && slices.Contains(tasks, task) ||
			ref.ID != "" && slices.Contains(refs, ref)
	}
	for _, f := range slices.Backward(g.findings) {
		if about(f.Subject, f.Task, reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}) {
			h.Findings = append(h.Findings, copiedFinding(*f))
		}
	}
	meant := func(a action) bool {
		return about(a.Subject, a.Task, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}) || a.ID == sought.Given
	}
	for _, a := range slices.Backward(sorted(g.actions, byPlan, meant)) {
		h.Actions = append(h.Actions, copied(a.Action))
	}
	for _, v := range slices.Backward(g.verdicts) {
		if about(v.Subject, v.Task, reconcile.Ref{Provider: v.Provider, ID: v.Sandbox}) {
			h.Verdicts = append(h.Verdicts, v)
		}
	}
	for _, p := range slices.Backward(g.probes) {
		if slices.Contains(refs, p.Ref) {
			h.Probes = append(h.Probes, p)
		}
	}
	subjects := sought.Subjects(*h)
	for _, e := range slices.Backward(g.timeline) {
		if slices.Contains(subjects, e.Subject) {
			h.Timeline = append(h.Timeline, e)
		}
	}
}
