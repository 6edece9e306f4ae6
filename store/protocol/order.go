package protocol

import (
	"cmp"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The orders in which readers get what has no time of its own. They are Go's: a database's
// depends on its locale.

// SortSources sorts by name.
func SortSources(sources []reconcile.SourceSeen) {
	slices.SortFunc(sources, func(a, b reconcile.SourceSeen) int { return cmp.Compare(a.Name, b.Name) })
}

// SortTemplates sorts by provider and name.
func SortTemplates(templates []reconcile.TemplateSeen) {
	slices.SortFunc(templates, func(a, b reconcile.TemplateSeen) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
}

// SortActionCounts sorts by rule, provider, step and outcome.
func SortActionCounts(counts []reconcile.ActionCount) {
	slices.SortFunc(counts, func(a, b reconcile.ActionCount) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Provider, b.Provider),
			cmp.Compare(a.Step, b.Step), cmp.Compare(a.Outcome, b.Outcome))
	})
}

// SortCounters sorts by name, rule, provider and what.
func SortCounters(counters []reconcile.Counter) {
	slices.SortFunc(counters, func(a, b reconcile.Counter) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.What, b.What))
	})
}
