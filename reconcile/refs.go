package reconcile

import (
	"cmp"
	"slices"
)

// Holds reports whether a row holds the value and may mean a sandbox of the provider: it says so, or
// names none of our entries.
func Holds(linked map[Ref]bool, provider, value string) bool {
	return linked[Ref{provider, value}] || linked[Ref{"", value}]
}

// SortRefs orders by provider and id.
func SortRefs(refs []Ref) { slices.SortFunc(refs, CompareRefs) }

// CompareRefs compares by provider, then by id.
func CompareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
}
