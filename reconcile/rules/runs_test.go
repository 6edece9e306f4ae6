package rules

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestAddVitalsKeepsRuns: what is left out never makes a run of what was none, whatever was
// measured: a dip of the memory, a queue that moved.
func TestAddVitalsKeepsRuns(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var kept, all []reconcile.Measurements
		for i := range 40 {
			m := reconcile.Measurements{At: worldtest.LedgerNow.Add(time.Duration(i) * time.Minute), Memory: &reconcile.MemoryUse{Total: 1000, Used: int64(i * 10)}}
			if rng.IntN(12) == 0 {
				m.Memory.Used -= 15 // a dip
			}
			cpu := 99.0
			if rng.IntN(12) == 0 {
				cpu = 50
			}
			m.CPU = &cpu
			m.Executions = &reconcile.ExecutionsSeen{Queued: min(rng.IntN(12), 1)}
			kept, all = reconcile.AddMeasurements(kept, m), append(all, m)
		}
		for name, run := range map[string]func([]reconcile.Measurements) []reconcile.Measurements{
			"busy": func(ms []reconcile.Measurements) []reconcile.Measurements {
				return view.Trailing(ms, func(m *reconcile.Measurements) bool { return reconcile.LoadOf(m.CPU) == reconcile.LoadBusy })
			},
			"growing": growing,
			"waiting": func(ms []reconcile.Measurements) []reconcile.Measurements {
				return view.Trailing(ms, func(m *reconcile.Measurements) bool { return reconcile.QueueOf(m.Executions) == reconcile.QueueWaiting })
			},
		} {
			got, want := run(kept), run(all)
			if len(got) > 0 && (len(want) == 0 || got[0].At.Before(want[0].At)) {
				t.Fatalf("seed %d: %s from %s of what is kept, want not before %+v", seed, name, got[0].At, want)
			}
		}
	}
}
