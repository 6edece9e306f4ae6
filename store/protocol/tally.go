package protocol

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Group is open findings that are alike in all that is counted.
type Group struct {
	Rule, Provider string
	Due            bool
	HeldBy         []string // what holds each of them; only the first words count
	Tenant         string
	Count          int
	Oldest         time.Time
	Open           time.Duration // for how long they have been open, added up
}

// Tally counts open findings, and what holds those that are due: once for each kind.
func Tally(groups []Group) ([]reconcile.FindingCount, []reconcile.HeldCount) {
	type place struct{ rule, name string }
	open, held := map[place]reconcile.FindingCount{}, map[place]int{}
	for _, g := range groups {
		at := place{g.Rule, g.Provider}
		open[at] = counted(open[at], g)
		for kind := range kinds(g) {
			held[place{g.Rule, kind}] += g.Count
		}
	}
	byHold := make([]reconcile.HeldCount, 0, len(held))
	for at, n := range held {
		byHold = append(byHold, reconcile.HeldCount{Rule: at.rule, By: at.name, Count: n})
	}
	slices.SortFunc(byHold, func(a, b reconcile.HeldCount) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.By, b.By))
	})
	return slices.SortedFunc(maps.Values(open), func(a, b reconcile.FindingCount) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.Provider, b.Provider))
	}), byHold
}

// Shielded is for how long those that are due have been held by what a tenant can bring about, by tenant.
func Shielded(groups []Group) []reconcile.Shielded {
	type place struct{ tenant, by string }
	sum := map[place]reconcile.Shielded{}
	for _, g := range groups {
		kinds := map[string]bool{}
		for _, text := range g.HeldBy {
			if by := shields[reconcile.HeldKindOf(text)]; by != "" && g.Due {
				kinds[by] = true
			}
		}
		for by := range kinds {
			at := place{g.Tenant, by}
			s := sum[at]
			sum[at] = reconcile.Shielded{Tenant: g.Tenant, By: by, Count: s.Count + g.Count, Open: s.Open + g.Open}
		}
	}
	return slices.SortedFunc(maps.Values(sum), func(a, b reconcile.Shielded) int {
		return cmp.Or(cmp.Compare(b.Open, a.Open), strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.By, b.By))
	})
}

// shields are the kinds of what holds that the texts, rows and signs of a tenant can bring about.
var shields = map[reconcile.HeldKind]string{
	reconcile.HeldFreeze: "freeze", reconcile.HeldVeto: "veto",
	reconcile.HeldUnparsable: "link", reconcile.HeldNotExclusive: "link", reconcile.HeldUnmatched: "link",
	reconcile.HeldDoubtful: "link", reconcile.HeldUnmapped: "link", reconcile.HeldExplained: "link",
}

func counted(c reconcile.FindingCount, g Group) reconcile.FindingCount {
	c.Rule, c.Provider = g.Rule, g.Provider
	c.Open += g.Count
	if g.Due {
		c.Due += g.Count
	}
	if c.Oldest.IsZero() || g.Oldest.Before(c.Oldest) {
		c.Oldest = g.Oldest
	}
	return c
}

// kinds are what holds a group, none when it is not due: nothing is held that is not due.
func kinds(g Group) map[string]bool {
	found := map[string]bool{}
	for _, text := range g.HeldBy {
		if g.Due {
			found[reconcile.HeldLabel(text)] = true
		}
	}
	return found
}
