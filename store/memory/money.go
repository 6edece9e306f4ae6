package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// leaking is what the sandboxes cost an hour that a clean-up rule found due and that are still there. One that several
// rules found counts for the one that says it costs the most.
func (g *tables) leaking() []reconcile.Money {
	most := map[reconcile.Ref]reconcile.Verdict{}
	for _, f := range g.open {
		ref := reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}
		seen, known := g.sandboxes[ref]
		v, judged := g.newestVerdict(f.Subject, f.Rule)
		leak := f.Due && f.Sandbox != "" && reconcile.RuleNamed(f.Rule).Family == reconcile.CleanUp
		if !leak || !known || !seen.GoneAt.IsZero() || !judged {
			continue
		}
		if now, other := most[ref]; !other || v.PerHour > now.PerHour || v.PerHour == now.PerHour && v.Rule < now.Rule {
			most[ref] = v
		}
	}
	sums := amounts{}
	for ref, v := range most {
		sums.add(v.Rule, ref.Provider, v.PerHour)
	}
	return sums.sorted()
}

// newestVerdict is the last one of a rule on a subject.
func (g *verdictTable) newestVerdict(subject, rule string) (reconcile.Verdict, bool) {
	for _, v := range slices.Backward(g.verdicts) {
		if v.Subject == subject && v.Rule == rule {
			return v, true
		}
	}
	return reconcile.Verdict{}, false
}

// saved is what those sandboxes would have cost since they were gone that we ended since a time, for the newest rule
// that found them. What went while no answer said that we were heard, somebody else may have ended.
func (g *tables) saved(now, from time.Time) []reconcile.Money {
	newest := map[reconcile.Ref]reconcile.Verdict{}
	for _, v := range g.verdicts {
		if v.Sandbox != "" {
			newest[reconcile.Ref{Provider: v.Provider, ID: v.Sandbox}] = v
		}
	}
	for _, a := range g.actions {
		if protocol.EndsSandbox(a.Action) && a.How == reconcile.HowUnheard {
			delete(newest, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
		}
	}
	sums := amounts{}
	for ref, v := range newest {
		if s := g.sandboxes[ref]; s.GoneByUs && !s.GoneAt.Before(from) && !s.GoneAt.After(now) {
			sums.add(v.Rule, ref.Provider, v.PerHour*now.Sub(s.GoneAt).Hours())
		}
	}
	return sums.sorted()
}

// amounts are sums of money by rule and provider.
type amounts map[[2]string]reconcile.Money

func (a amounts) add(rule, provider string, usd float64) {
	key := [2]string{rule, provider}
	a[key] = reconcile.Money{Rule: rule, Provider: provider, Count: a[key].Count + 1, USD: a[key].USD + usd}
}

func (a amounts) sorted() []reconcile.Money {
	var out []reconcile.Money
	for _, m := range a {
		out = append(out, m)
	}
	slices.SortFunc(out, func(x, y reconcile.Money) int {
		return cmp.Or(cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Provider, y.Provider))
	})
	return out
}
