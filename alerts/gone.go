package alerts

import (
	"maps"
	"slices"
	"strconv"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A histogram is the ledger's, mostly of one rule at one provider. Its buckets are cumulative.
type histogram struct {
	labels  []string
	buckets map[float64]uint64
	count   uint64
	sum     float64
}

// timed reads the histograms of one name.
func timed(name string) func(*reading) []histogram {
	return func(r *reading) []histogram { return r.timed(name) }
}

// timed puts the histograms together from their counters.
func (r *reading) timed(name string) []histogram {
	type key struct{ rule, provider string }
	all := map[key]*histogram{}
	for _, c := range r.Counters {
		k := key{label(c.Rule), label(c.Provider)}
		h := all[k]
		if h == nil {
			h = &histogram{labels: []string{k.rule, k.provider}, buckets: map[float64]uint64{}}
		}
		if h.add(name, &c) {
			all[k] = h
		}
	}
	out := make([]histogram, 0, len(all))
	for _, h := range all {
		h.fill(reconcile.BoundsOf(name))
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b histogram) int {
		return slices.Compare(a.labels, b.labels)
	})
	return out
}

// add takes in one counter and reports whether it is one of the histogram of this name.
func (h *histogram) add(name string, c *reconcile.Counter) bool {
	switch c.Name {
	case name + "_count":
		h.count = uint64(c.Value)
	case name + "_milli_sum":
		h.sum = float64(c.Value) / 1000
	case name + "_bucket":
		bound, err := strconv.ParseFloat(c.What, 64)
		if err != nil || c.What == "+Inf" { // which is the count
			return false
		}
		h.buckets[bound] = uint64(c.Value)
	default:
		return false
	}
	return true
}

// fill adds the buckets that no counter was ever written for, so that the buckets of all of a name
// can be added up. They are cumulative: each has at least what the one below it has.
func (h *histogram) fill(bounds []int64) {
	for _, bound := range bounds {
		h.buckets[float64(bound)] += 0
	}
	below := uint64(0)
	for _, bound := range slices.Sorted(maps.Keys(h.buckets)) {
		below = max(below, h.buckets[bound])
		h.buckets[bound] = below
	}
}
