package fleet

import (
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Configured is the overview without what the config no longer has: the ledger keeps the sources
// and templates of a provider that left, and nobody judges by them. Without any provider the
// policy is the one of a page that was told nothing, which denies nothing.
func Configured(o *reconcile.Overview, p *reconcile.Policy) *reconcile.Overview {
	out := *o
	if len(p.Providers) == 0 {
		return &out
	}
	out.Sources = slices.DeleteFunc(slices.Clone(o.Sources), func(s reconcile.SourceSeen) bool {
		return !p.Has(s.Name) || s.Trusted && s.Name == reconcile.SourceEvents && !p.Tasks.Events && !p.Tasks.Heartbeats
	})
	out.Templates = slices.DeleteFunc(slices.Clone(o.Templates), func(t reconcile.TemplateSeen) bool {
		_, ours := p.Providers[t.Provider]
		return !ours
	})
	return &out
}

// Unlisted are the providers whose listing is not trusted now.
func Unlisted(sources []reconcile.SourceSeen) []string {
	var names []string
	for _, s := range sources {
		if provider, ok := reconcile.OfKind(reconcile.SourceListing, s.Name); ok && !s.Trusted {
			names = append(names, provider)
		}
	}
	return names
}

// Trusted are the counts without those that were made by a listing that is not
// trusted: a cut one shows fewer sandboxes than there are.
func Trusted(o *reconcile.Overview) map[string]int {
	counts := maps.Clone(o.Counts)
	for _, provider := range Unlisted(o.Sources) {
		maps.DeleteFunc(counts, func(key string, _ int) bool {
			return reconcile.ParseCount(key).Provider == provider
		})
	}
	return counts
}
