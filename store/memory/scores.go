package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// facts are what the scores of the window that ends now are made of.
func (g *tables) facts(now time.Time) protocol.Facts {
	from := now.Add(-protocol.Window)
	f := protocol.Facts{Passes: g.passes}
	for _, a := range g.actions {
		if a.Step == reconcile.StepTerminate && begun(a.Action, from, now) {
			f.Ends = append(f.Ends, protocol.Terminate{
				Rule: a.Rule, Outcome: a.Outcome, Began: a.Began, FirstActed: a.FirstActed, Ended: a.ClosedAt,
			})
		}
	}
	for _, v := range g.verdicts {
		if !v.At.After(from) {
			continue
		}
		one := protocol.RuleVerdicts{Rule: v.Rule, All: 1}
		if !v.Began.IsZero() {
			one.Known = 1
			if v.Late <= protocol.FastSeen {
				one.Soon = 1
			}
		}
		f.Verdicts = append(f.Verdicts, one)
	}
	for h, value := range g.hours {
		f.Hours = append(f.Hours, protocol.HourSum{
			Lately: h.hour.After(protocol.Overlaps(from)), Name: h.name, What: h.what, Value: value,
		})
	}
	return f
}

// begun reports whether a terminate was begun, and was settled since a time or is overdue.
func begun(a reconcile.Action, from, now time.Time) bool {
	asked := !a.FirstActed.IsZero()
	if !a.Outcome.Closed() {
		return asked && !a.FirstActed.After(now.Add(-protocol.MostOverdue))
	}
	failed := a.Outcome == reconcile.OutcomeFailed
	return a.ClosedAt.After(from) && (failed || a.Outcome == reconcile.OutcomeConfirmed && asked && a.Claimable())
}

// Report reads what each rule came to since so long ago, by rule.
func (g *Ledger) Report(ctx context.Context, since time.Duration) ([]reconcile.RuleReport, error) {
	rules := protocol.Reports{}
	err := g.locked(ctx, func(now time.Time) error {
		g.reportVerdicts(rules, now, now.Add(-since))
		g.reportFindings(rules, now.Add(-since))
		g.reportGroups(rules, now.Add(-since))
		for _, m := range g.saved(now, now.Add(-since)) {
			rules.Of(m.Rule).Count(reconcile.RuleMoney{Provider: m.Provider, Saved: m.USD})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read report of the last %s: %w", text.Duration(since), err)
	}
	return rules.Sorted(), nil
}

func (g *tables) reportVerdicts(rules protocol.Reports, now, from time.Time) {
	type place struct {
		rule string
		what any
	}
	seen := map[place]bool{}
	first := func(rule string, what any) bool {
		at := place{rule, what}
		was := seen[at]
		seen[at] = true
		return !was
	}
	for _, v := range g.verdicts {
		if !v.At.After(from) {
			continue
		}
		r := rules.Of(v.Rule)
		r.Verdicts++
		if !v.ActedAt.IsZero() {
			r.Acted++
		}
		if first(v.Rule, v.Subject) {
			r.Subjects++
		}
		if ref := (reconcile.Ref{Provider: v.Provider, ID: v.Sandbox}); first(v.Rule, ref) {
			r.Count(reconcile.RuleMoney{Provider: v.Provider, Cost: g.costs(v, ref, now), UntilFound: untilFound(v)})
		}
	}
	for _, v := range g.regretted() {
		if r := rules.Of(v.Rule); v.At.After(from) {
			r.FalsePositives++
			r.Examples = cut(append(r.Examples, v), protocol.MostExamples)
		}
	}
}

// untilFound is what a sandbox had cost by its verdict, from what it found began, else from its start.
func untilFound(v reconcile.Verdict) float64 {
	if v.Began.IsZero() {
		return v.Cost
	}
	return min(v.Cost, v.PerHour*max(0, v.At.Sub(v.Began).Hours()))
}

// costs are what a sandbox cost from a verdict on it until it was gone.
func (g *worldTable) costs(v reconcile.Verdict, ref reconcile.Ref, now time.Time) float64 {
	s, known := g.sandboxes[ref]
	if !known {
		return 0
	}
	if !s.GoneAt.IsZero() {
		now = s.GoneAt
	}
	return v.PerHour * max(0, now.Sub(v.At).Hours())
}

func (g *tables) reportFindings(rules protocol.Reports, from time.Time) {
	for _, f := range g.findings {
		r := rules.Of(f.Rule)
		if r.FirstSeen.IsZero() || f.OpenedAt.Before(r.FirstSeen) {
			r.FirstSeen = f.OpenedAt
		}
		if !f.ResolvedAt.After(from) {
			continue
		}
		switch own, asked, other := g.repairs(f); {
		case own: // among its verdicts
		case asked:
			r.ByOperator++
		case other:
			r.ByRule++
		default:
			r.Resolved++
		}
	}
}

// seenFrom is when the finding was first seen: by the pass's own now, a moment before its
// record opened it.
func seenFrom(f *reconcile.FindingSeen) time.Time {
	if f.FirstSeen.IsZero() || f.OpenedAt.Before(f.FirstSeen) {
		return f.OpenedAt
	}
	return f.FirstSeen
}

// repairs reports whose steps may be why the finding resolved: its own rule's, an operator's,
// another rule's.
func (g *actionTable) repairs(f *reconcile.FindingSeen) (own, asked, other bool) {
	for _, a := range g.actions {
		// Nobody knows what came of it, or of what gave way to an operator's.
		under := (!a.Outcome.Closed() || a.How == reconcile.HowTakenBack) && a.Attempts > 0
		done := a.Outcome == reconcile.OutcomeDone || a.Outcome == reconcile.OutcomeConfirmed ||
			a.Outcome == reconcile.OutcomeAccepted || !a.FirstActed.IsZero() || slices.Contains(reconcile.Tried, a.How) || under
		same := a.Subject == f.Subject || a.Sandbox != "" && a.Sandbox == f.Sandbox && a.Provider == f.Provider
		// A row that we wrote may be why what is found of its sandbox is over; what is nobody's may name any task.
		same = same || a.Step.OnRow() && f.Task != "" && a.Task == f.Task && f.Rule != protocol.RuleNobodys
		// An attempt of a process that died may have ended it as well.
		tried := a.Step != reconcile.StepTerminate || !a.FirstActed.IsZero() || a.Attempts > 1 || under
		over := !a.ClosedAt.IsZero() && reconcile.Latest(a.PlannedAt, a.ActedAt, a.ClosedAt).Before(seenFrom(f))
		// What was to go goes because of that, however long its provider still lists it.
		over = over && !(f.Rule == protocol.RuleGoing && a.Step == reconcile.StepTerminate)
		setBack := f.ResolvedAt.Before(f.OpenedAt) // the ledger's clock was: it tells no order
		if !done || !same || !tried || a.How == reconcile.HowAdopted || a.PlannedAt.After(f.ResolvedAt) && !setBack || over {
			continue
		}
		switch {
		case a.Rule == f.Rule:
			own = true
		case a.Asked():
			asked = true
		default:
			other = true
		}
	}
	return own, asked, other
}

// reportGroups counts what each rule came to by the labels of the sandboxes.
func (g *tables) reportGroups(rules protocol.Reports, from time.Time) {
	type place struct{ rule, label, subject string }
	wrong := map[place]bool{}
	for _, v := range g.verdicts {
		for _, label := range v.Kinds {
			if at := (place{v.Rule, label, v.Subject}); v.At.After(from) {
				wrong[at] = wrong[at] || !v.FalsePositiveAt.IsZero()
			}
		}
	}
	groups := map[string]map[string]reconcile.LabelGroup{}
	for at, is := range wrong {
		if groups[at.rule] == nil {
			groups[at.rule] = map[string]reconcile.LabelGroup{}
		}
		one := groups[at.rule][at.label]
		one.Label = at.label
		one.Subjects++
		if is {
			one.FalsePositives++
		}
		groups[at.rule][at.label] = one
	}
	for rule, byLabel := range groups {
		rules.Of(rule).Groups = reconcile.Telling(slices.Collect(maps.Values(byLabel)))
	}
}
