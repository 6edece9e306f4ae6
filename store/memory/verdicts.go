package memory

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// putVerdicts writes what a pass came to say of failures.
func (g *tables) putVerdicts(r reconcile.Record, now time.Time) {
	for _, v := range r.Verdicts {
		g.numbered++
		v.Number, v.ActedAt, v.FailedAt = g.numbered, time.Time{}, time.Time{}
		v.Over, v.FalsePositiveAt, v.FalsePositive = false, time.Time{}, ""
		g.verdicts = append(g.verdicts, v)
		g.count("verdicts", v.Rule, v.Provider, applied(v))
	}
	for _, w := range r.FalsePositives {
		if v := g.numberedVerdict(w.Verdict); v != nil && v.FalsePositiveAt.IsZero() {
			v.FalsePositiveAt, v.FalsePositive, v.Over = w.At, w.What, true
			g.count("regrets", v.Rule, v.Provider, applied(*v))
		}
	}
	for _, number := range r.Over {
		if v := g.numberedVerdict(number); v != nil {
			v.Over = true
		}
	}
	g.putIncidents(r.Incidents)
	g.demote(r.Demoted, now)
	for _, c := range r.Tallies {
		g.countHourly(c, now)
	}
	for _, c := range r.Measured {
		g.counters[counter{c.Name, c.Rule, c.Provider, c.What}] += c.Value
	}
}

func applied(v reconcile.Verdict) string {
	if v.Enforced {
		return "enforced"
	}
	return "observed"
}

func (g *verdictTable) lastVerdict() int64 { return g.numbered }

func (g *verdictTable) numberedVerdict(number int64) *reconcile.Verdict {
	for i := range g.verdicts {
		if g.verdicts[i].Number == number {
			return &g.verdicts[i]
		}
	}
	return nil
}

// demote lowers rules to observe, unless they were lowered before.
func (g *tables) demote(ds []reconcile.Demotion, now time.Time) {
	for _, d := range ds {
		if _, lowered := g.modes[d.Rule]; lowered {
			continue
		}
		by := reconcile.Attribution{Author: reconcile.AuthorSelf, Reason: d.Reason}
		g.modes[d.Rule], g.lowered[d.Rule] = reconcile.Observe, reconcile.Lowering{Attribution: by, At: now}
		g.count("demotions", d.Rule, "", "")
		g.tell(reconcile.TimelineEvent{
			At: now, Subject: "rule:" + d.Rule, Kind: "operator", What: protocol.Asked(by, "mode "+string(reconcile.Observe)),
		})
	}
}

// carryOut marks the newest verdict of the action's rule on its subject.
func (g *verdictTable) carryOut(a reconcile.Action, now time.Time) {
	if !protocol.Repairs(a) {
		return
	}
	for i := len(g.verdicts) - 1; i >= 0; i-- {
		v := &g.verdicts[i]
		if v.Subject != a.Subject || v.Rule != a.Rule {
			continue
		}
		v.Enforced = true
		if v.ActedAt.IsZero() {
			v.ActedAt = now
		}
		if protocol.Fails(a) && v.FailedAt.IsZero() {
			v.FailedAt = now
		}
		return
	}
}

// recentVerdicts are those of the last hours that are of use, oldest first.
func (g *verdictTable) recentVerdicts(now time.Time) []reconcile.Verdict {
	return protocol.Useful(g.verdictsOf(func(v *reconcile.Verdict) bool { return v.At.After(now.Add(-protocol.Watched)) }))
}

// verdictsOf are the wanted verdicts, oldest first.
func (g *verdictTable) verdictsOf(wanted func(*reconcile.Verdict) bool) []reconcile.Verdict {
	var found []reconcile.Verdict
	for i := range g.verdicts {
		if wanted(&g.verdicts[i]) {
			found = append(found, g.verdicts[i])
		}
	}
	slices.SortStableFunc(found, func(a, b reconcile.Verdict) int { return a.At.Compare(b.At) })
	return found
}

// regretted are the verdicts that turned out to be wrong, newest first.
func (g *verdictTable) regretted() []reconcile.Verdict {
	found := g.verdictsOf(func(v *reconcile.Verdict) bool { return !v.FalsePositiveAt.IsZero() })
	slices.SortFunc(found, func(a, b reconcile.Verdict) int {
		return cmp.Or(b.FalsePositiveAt.Compare(a.FalsePositiveAt), cmp.Compare(b.Number, a.Number))
	})
	return found
}

// tallies say how often each rule was wrong recently, and about which tasks.
func (g *verdictTable) tallies() (tallies map[string]reconcile.Tally, about map[string][]string) {
	tallies, about = map[string]reconcile.Tally{}, map[string][]string{}
	for _, v := range slices.Backward(g.verdicts) {
		t := tallies[v.Rule]
		if !v.Enforced || v.ActedAt.IsZero() || v.Number <= g.armed[v.Rule] || t.Verdicts == protocol.MostTallied {
			continue
		}
		t.Verdicts++
		if !v.FalsePositiveAt.IsZero() {
			t.FalsePositives++
			about[v.Rule] = append(about[v.Rule], v.Task)
		}
		tallies[v.Rule] = t
	}
	return tallies, about
}

// tenantsOf are the tenants of tasks, once each.
func (g *tables) tenantsOf(tasks []string) (tenants []string) {
	for _, id := range tasks {
		tenants = append(tenants, g.tasks[id].Tenant)
	}
	slices.Sort(tenants)
	return slices.Compact(tenants)
}

// armings are the newest verdicts before the rules were armed last.
func (g *verdictTable) armings() map[string]int64 {
	armed := maps.Clone(g.armed)
	maps.DeleteFunc(armed, func(_ string, after int64) bool { return after == 0 })
	return armed
}

func (g *tables) purgeVerdicts(before time.Time) {
	g.verdicts = slices.DeleteFunc(g.verdicts, func(v reconcile.Verdict) bool { return v.At.Before(before) })
	for id, i := range g.incidents {
		if over(i.ClosedAt, before) {
			delete(g.incidents, id)
		}
	}
	for id, n := range g.notices {
		if over(n.closedAt, before) {
			delete(g.notices, id)
		}
	}
	for h := range g.hours {
		if h.hour.Before(before) {
			delete(g.hours, h)
		}
	}
}
