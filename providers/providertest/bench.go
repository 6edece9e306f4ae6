package providertest

import (
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Fleet fills a world with owned sandboxes for [Bench].
func Fleet(w *simulated.World, n int) {
	for i := range n {
		task := "task-" + time.Duration(i).String()
		w.Put(simulated.Sandbox{Name: "mine-" + task, Template: "base",
			Labels: map[string]string{"project": "mine", "task_id": task, "language": "python"}})
	}
}

// Bench measures a listing of a fleet by the adapter, whose transport is the tape: how many
// sandboxes it reads in a second of one core's time, and how its time compares with bare
// JSON decoding of the same answers.
func Bench(b *testing.B, p reconcile.Provider, tape *wiretest.Tape, fleet int) {
	list := func() {
		n := 0
		listing, err := p.List(b.Context(), func(page []reconcile.Sandbox) error { n += len(page); return nil })
		if err != nil || !listing.Complete || n != fleet {
			b.Fatalf("List read %d sandboxes, %+v, %v; want %d", n, listing, err, fleet)
		}
	}
	list() // what is replayed is asked for once
	bodies := tape.Bodies()
	var ours, bare time.Duration
	for b.Loop() {
		began := busy(b)
		list()
		middle := busy(b)
		for _, body := range bodies {
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				b.Fatal(err)
			}
		}
		ours += middle - began
		bare += busy(b) - middle
	}
	b.ReportMetric(float64(fleet)*float64(b.N)/ours.Seconds(), "sandboxes/s")
	b.ReportMetric(float64(ours)/float64(bare), "x-bare")
}

// busy is the time that this process was on a core: what the machine does besides does not
// count.
func busy(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
