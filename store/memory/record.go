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

// BeginPass records that a pass has begun and gives it its number.
func (g *Ledger) BeginPass(ctx context.Context, l reconcile.Lease, kind reconcile.PassKind, at time.Time,
) (int64, error) {
	var id int64
	err := g.fenced(ctx, l, func(time.Time) error {
		if kind != reconcile.Quick && kind != reconcile.Full {
			return fmt.Errorf("no such kind of pass")
		}
		g.lastPass++
		id = g.lastPass
		g.passes = append(g.passes, reconcile.PassSeen{
			ID: id, Kind: kind, Holder: l.Holder, BeganAt: at, Counts: map[string]int{},
		})
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("begin %s pass: %w", kind, err)
	}
	return id, nil
}

// Record writes everything that a pass came to, or nothing, and ends the pass.
func (g *Ledger) Record(ctx context.Context, l reconcile.Lease, r reconcile.Record) error {
	err := g.fenced(ctx, l, func(now time.Time) error {
		pass := g.openPass(r.Pass)
		if pass == nil {
			return fmt.Errorf("no pass of this number is open")
		}
		r.Tasks, r.Sandboxes = slices.Clip(r.Tasks), slices.Clip(r.Sandboxes)
		for _, t := range r.Heard {
			r.Tasks = append(r.Tasks, t.Seen())
		}
		for _, s := range r.Fresh {
			r.Sandboxes = append(r.Sandboxes, s.Seen())
		}
		if err := checkRecord(r); err != nil {
			return err
		}
		g.putWorld(r, now)
		g.putFindings(r, now)
		g.withdraw(r.Withdrawn, now)
		g.putActions(r.Actions)
		g.putBreakers(r.Breakers)
		g.putVerdicts(r, now)
		g.tell(r.Events...)
		g.endPass(pass, r, now)
		return nil
	})
	if err != nil {
		return fmt.Errorf("record pass %d: %w", r.Pass, err)
	}
	return nil
}

func (g *passTable) openPass(id int64) *reconcile.PassSeen {
	for i := len(g.passes) - 1; i >= 0; i-- {
		if g.passes[i].ID == id && g.passes[i].EndedAt.IsZero() {
			return &g.passes[i]
		}
	}
	return nil
}

func (g *tables) endPass(p *reconcile.PassSeen, r reconcile.Record, now time.Time) {
	p.EndedAt, p.Complete, p.Error, p.Kept = now, r.Complete, r.Error, r.Kept
	maps.Copy(p.Counts, r.Counts)
	what := string(p.Kind) + ":incomplete"
	if r.Complete {
		what = string(p.Kind) + ":complete"
	}
	g.count("passes", "", "", what)
}

func (g *tables) putWorld(r reconcile.Record, now time.Time) {
	if !r.WatchSince.IsZero() {
		g.watchSince = r.WatchSince
	}
	if g.known == nil && r.Known != nil {
		g.known = append([]string{}, r.Known...)
	}
	for _, t := range r.Tasks {
		if what := protocol.Ended(g.tasks[t.ID].TaskSeen, t); what != "" {
			g.countHourly(reconcile.Counter{Name: "tasks_ended", What: what, Value: 1}, now)
		}
		t.Attempts = slices.Clone(t.Attempts)
		g.tasks[t.ID] = task{t, now}
	}
	for _, s := range r.Sandboxes {
		//guard:gone-by-us P3
		s.GoneByUs = s.GoneByUs || g.sandboxes[s.Ref].GoneByUs
		g.sandboxes[s.Ref] = s
	}
	for _, s := range r.Sources {
		g.sources[s.Name] = s
	}
	for _, t := range r.Templates {
		g.templates[reconcile.Ref{Provider: t.Provider, ID: t.Name}] = t
	}
}

func (g *tables) putFindings(r reconcile.Record, now time.Time) {
	for _, k := range r.Resolved {
		if open := g.open[k]; open != nil {
			open.ResolvedAt = now
			delete(g.open, k)
			g.count("findings_resolved", open.Rule, open.Provider, "")
		}
	}
	for _, f := range r.Findings {
		f.Evidence, f.HeldBy = slices.Clone(f.Evidence), slices.Clone(f.HeldBy)
		if open := g.open[f.Key()]; open != nil {
			open.Finding = f
			continue
		}
		opened := &reconcile.FindingSeen{Finding: f, OpenedAt: now}
		g.findings, g.open[f.Key()] = append(g.findings, opened), opened
		g.count("findings_opened", f.Rule, f.Provider, "")
	}
}

func (g *requestTable) putBreakers(open map[string]reconcile.Breaker) {
	clear(g.breakers)
	for rule, b := range open {
		b.Rule, b.Subjects = rule, slices.Clone(b.Subjects)
		g.breakers[rule] = b
	}
}
