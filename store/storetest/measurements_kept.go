package storetest

import (
	"math"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// measured is an answered probe of sb-1 that measured this much CPU.
func measured(seconds int, cpu float64) reconcile.ProbeResult {
	p := probed(seconds, reconcile.Answered)
	p.Measurements = &reconcile.Measurements{At: p.At, CPU: &cpu}
	return p
}

// loads are the CPU percentages of measurements, -1 for what was not measured.
func loads(vs []reconcile.Measurements) []float64 {
	var cpu []float64
	for _, v := range vs {
		if v.CPU == nil {
			cpu = append(cpu, -1)
			continue
		}
		cpu = append(cpu, *v.CPU)
	}
	return cpu
}

// measurementsKept say what is kept of what was measured beside a probe.
var measurementsKept = map[string]func(*bench){
	"everything measured comes back, beside the probe and not in it": func(b *bench) {
		b.probing()
		p := measured(1, 97.5)
		p.Measurements.Memory = &reconcile.MemoryUse{Used: 7 << 30, Total: 8 << 30}
		p.Measurements.Executions = &reconcile.ExecutionsSeen{Queued: 2, Running: 1, QueuedFor: 90 * time.Second}
		p.Measurements.Signs = []string{"time-out"}
		seen := b.saved(p)
		b.equal("vitals", seen.Measurements, []reconcile.Measurements{*p.Measurements})
		p.Measurements = nil
		b.equal("last", seen.Last, p)
		b.equal("vitals after a probe without", len(b.saved(probed(2, reconcile.Hung)).Measurements), 1)
	},
	"of those that differ the newest ten are kept, oldest first, in whatever order they come": func(b *bench) {
		b.probing()
		b.saved(measured(3, 3), measured(2, 99))
		b.saved(measured(1, 1))
		b.equal("loads", loads(b.recall().Probes[ref("sb-1")].Measurements), []float64{1, 99, 3})
		for i := 4; i <= 12; i++ {
			b.saved(measured(i, []float64{99, float64(i)}[i%2]))
		}
		b.equal("loads", loads(b.saved(measured(0, 99)).Measurements), []float64{3, 99, 5, 99, 7, 99, 9, 99, 11, 99})
	},
	"of many alike the first is kept: it says since when": func(b *bench) {
		b.probing()
		for i := range 30 {
			b.saved(measured(i, 99))
		}
		kept := b.recall().Probes[ref("sb-1")].Measurements
		b.equal("count", len(kept), 10)
		b.equal("first", kept[0].At, measured(0, 99).At)
		b.equal("last", kept[9].At, measured(29, 99).At)
	},
	"a number that is none was not measured, and costs nobody the save": func(b *bench) {
		b.probing()
		nan, inf := measured(1, math.NaN()), measured(2, math.Inf(1))
		nan.Measurements.Signs = []string{"a\x00b\xff"}
		b.equal("loads", loads(b.saved(nan, inf, measured(3, 5)).Measurements), []float64{-1, -1, 5})
	},
	"what was measured outlives what a pass sees of the sandbox": func(b *bench) {
		b.probing()
		b.saved(measured(1, 5))
		b.probing()
		b.equal("loads", loads(b.recall().Probes[ref("sb-1")].Measurements), []float64{5})
	},
	"a memory of measurements is a copy": func(b *bench) {
		b.probing()
		b.saved(measured(1, 5))
		spoiled := b.recall().Probes[ref("sb-1")].Measurements
		spoiled[0].CPU = nil
		b.equal("loads", loads(b.recall().Probes[ref("sb-1")].Measurements), []float64{5})
	},
}
