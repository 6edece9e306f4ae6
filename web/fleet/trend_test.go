package fleet

import (
	"math"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestUnknownIsNoDrop: where a listing was not believed the line of sandboxes has a gap, and one that a new provider
// begins has none.
func TestUnknownIsNoDrop(t *testing.T) {
	gap := math.NaN()
	slot := func(counts map[string]int) reconcile.TrendSlot { return reconcile.TrendSlot{Counts: counts} }
	trends := &Trend{&reconcile.Trends{Slots: []reconcile.TrendSlot{
		slot(nil),
		slot(map[string]int{"owned:a": 200}),
		slot(map[string]int{"owned:a": 200, "owned:b": 50}),
		slot(map[string]int{"owned:a": 200, "foreign:b": 7}),
		slot(map[string]int{"owned:b": 50, "owned:gone": 9}),
		slot(map[string]int{"owned:a": 0, "owned:b": 50}),
	}}}
	want := []float64{gap, 200, 250, gap, gap, 50}
	for i, got := range trends.Listed([]string{"a", "b"}) {
		if got != want[i] && !(math.IsNaN(got) && math.IsNaN(want[i])) {
			t.Errorf("slot %d: %v, want %v", i, got, want[i])
		}
	}
}
