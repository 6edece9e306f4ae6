package providertest

import (
	"math"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// measured is what a sandbox of the suite uses.
var measured = reconcile.Resources{CPUPercent: 97.5, MemoryUsed: 1 << 20, MemoryTotal: 2 << 20,
	DiskUsed: 3 << 20, DiskTotal: 4 << 20}

// capable: what the keeper is told is what the facts of the adapter claim.
func capable(l *lab) {
	can := reconcile.CapabilitiesOf(l.Provider)
	for what, claimed := range map[string][2]bool{
		"terminate":                {!can.NoTerminate, !l.Can.ReadOnly},
		"probe":                    {!can.NoProbe, l.Can.Exec || l.Can.Files},
		"suspend":                  {can.Suspender != nil, l.Can.Suspends != ""},
		"stops that delete":        {can.StopMayDelete, l.Can.StopMayDelete},
		"canaries":                 {can.Planter != nil, l.Can.Plants > 0},
		"records of ends":          {can.Deaths != nil, l.Can.Deaths != ""},
		"templates":                {can.Templates != nil, len(l.Can.TemplateStates) > 0},
		"two stores":               {can.TwoStores, l.Can.TwoStores},
		"lag of the index":         {can.IndexLag == l.Can.IndexLag, true},
		"probes count as activity": {can.ProbeIsActivity, l.Can.ProbeIsActivity},
	} {
		if claimed[0] != claimed[1] {
			l.t.Errorf("%s: it says %t, and its facts claim %t", what, claimed[0], claimed[1])
		}
	}
}

func extras(l *lab) {
	s := l.put("t1", simulated.Sandbox{Log: "first line\nlast line\n", Usage: measured})
	seen := l.get(s.ID)
	can := reconcile.CapabilitiesOf(l.Provider)
	if can.Logs != nil {
		if got, err := can.Logs.Logs(l.t.Context(), seen, 10); err != nil || got != "last line\n" {
			l.t.Errorf("Logs = %q, %v; want the end", got, err)
		}
	}
	if p := can.Usage; p != nil {
		if got, err := p.Usage(l.t.Context(), seen); err != nil || !partOf(got, measured) {
			l.t.Errorf("Usage = %+v, %v; want %+v or a part of it", got, err, measured)
		}
	}
	l.executions()
	if p := can.Quotas; p != nil {
		got, err := p.Quotas(l.t.Context())
		if err != nil || len(got) == 0 || got[0].Limit <= 0 {
			l.t.Errorf("Quotas = %+v, %v; want limits", got, err)
		}
	}
	l.checks()
}

// partOf reports whether all that was measured is as it is. What a provider does not
// measure is 0, or no number.
func partOf(got, want reconcile.Resources) bool {
	same := func(got, want int64) bool { return got == 0 || got == want }
	return got != reconcile.Resources{} &&
		(got.CPUPercent == 0 || math.IsNaN(got.CPUPercent) || got.CPUPercent == want.CPUPercent) &&
		same(got.MemoryUsed, want.MemoryUsed) && same(got.MemoryTotal, want.MemoryTotal) &&
		same(got.DiskUsed, want.DiskUsed) && same(got.DiskTotal, want.DiskTotal)
}

func (l *lab) checks() {
	p := reconcile.CapabilitiesOf(l.Provider).Checker
	if p == nil {
		return // an optional part
	}
	lines := p.Check(l.t.Context())
	for _, line := range lines {
		if !line.OK || line.Fix != "" || line.Said == "" {
			l.t.Errorf("Check = %+v, want all well", line)
		}
	}
	if len(lines) == 0 {
		l.t.Error("Check tested nothing")
	}
	l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: 401})
	if lines := p.Check(l.t.Context()); len(lines) == 0 || lines[0].OK || lines[0].Fix == "" {
		l.t.Errorf("Check with a refused key = %+v, want a fix", lines)
	}
}

func (l *lab) executions() {
	p := reconcile.CapabilitiesOf(l.Provider).Executions
	if p == nil {
		return // an optional part
	}
	none := l.put("t1", simulated.Sandbox{})
	if got, err := p.Executions(l.t.Context(), l.get(none.ID)); err != nil || got != (reconcile.ExecutionsSeen{}) {
		l.t.Errorf("Executions of an idle one = %+v, %v; want none", got, err)
	}
	now := l.World.Now()
	s := l.put("t1", simulated.Sandbox{Queued: []time.Time{now.Add(-time.Minute), now.Add(-time.Hour)}, Running: 1})
	want := reconcile.ExecutionsSeen{Queued: 2, Running: 1, QueuedFor: time.Hour}
	seen := l.get(s.ID)
	if got, err := p.Executions(l.t.Context(), seen); err != nil || got != want {
		l.t.Errorf("Executions = %+v, %v; want %+v", got, err, want)
	}
	lift := l.World.Inject(simulated.Fault{On: simulated.Queue, Effect: simulated.Answer, Status: 503})
	defer lift()
	if got, err := p.Executions(l.t.Context(), seen); err == nil {
		l.t.Errorf("Executions with a 503 = %+v, nil; want an error: nothing is known", got)
	}
}
