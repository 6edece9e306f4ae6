package fleet

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/chart"
)

// A Trend is how the last hours went; Trends is nil where that is not known.
type Trend struct{ *reconcile.Trends }

// Each are one number of each slot of the trends; none where they are not known.
func (t *Trend) Each(of func(*reconcile.TrendSlot) float64) []float64 {
	if t.Trends == nil {
		return nil
	}
	values := make([]float64, len(t.Slots))
	for i := range values {
		values[i] = of(&t.Slots[i])
	}
	return values
}

// Span is the time that they are of, in words.
func (t *Trend) Span() string {
	if t.Trends == nil {
		return "not known"
	}
	return "the last " + text.Coarse(time.Duration(len(t.Slots))*t.Slot)
}

// Counted is one total of a slot, and a gap where it was not counted.
func Counted(what string) func(*reconcile.TrendSlot) float64 {
	return func(t *reconcile.TrendSlot) float64 {
		if n, ok := sum(t.Counts, what); ok {
			return float64(n)
		}
		return chart.Missing()
	}
}

// Listed are the sandboxes of each slot. Where one of the providers that were listed before is not known, the sum of
// the others would look like a drop: there the line has a gap.
func (t *Trend) Listed(providers []string) []float64 {
	of, known := Counted(reconcile.CountOwned), map[string]bool{}
	return t.Each(func(slot *reconcile.TrendSlot) float64 {
		n := of(slot)
		for _, name := range providers {
			_, here := slot.Counts[reconcile.Count{What: reconcile.CountOwned, Provider: name}.String()]
			if known[name] && !here {
				n = chart.Missing()
			}
			known[name] = known[name] || here
		}
		return n
	})
}

// before are the counts of the newest slot that began before a time and has the key.
func (t *Trend) before(at time.Time, key string) map[string]int {
	if t.Trends == nil || at.IsZero() {
		return nil
	}
	for i := len(t.Slots) - 1; i >= 0; i-- {
		began := t.From.Add(time.Duration(i) * t.Slot)
		if _, counted := t.Slots[i].Counts[key]; counted && began.Before(at) {
			return t.Slots[i].Counts
		}
	}
	return nil
}
