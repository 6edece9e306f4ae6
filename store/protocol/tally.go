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
	Count          int
	Oldest         time.Time
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
