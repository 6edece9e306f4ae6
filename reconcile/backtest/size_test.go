package backtest

import (
	"runtime"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestReplayStaysSmall: what is kept of a finished task is some bytes for each rule, so that a million of them, and what
// is made of them, stay below 256 MB.
func TestReplayStaysSmall(t *testing.T) {
	const tasks, most = 40_000, 150 // bytes of a task, five rules together
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	replay := New(policy(), day0, day0.Add(30*24*time.Hour))
	before := heap()
	for i := range tasks {
		made := day0.Add(time.Duration(i) * time.Minute)
		replay.Add((*reconcile.PastTask)(silentOnce("a", made, time.Duration(10+i%30)*time.Second)))
	}
	if each := (heap() - before) / tasks; each > most {
		t.Errorf("%d bytes are kept of each task, more than %d", each, most)
	}
	if got := resultOf(t, replay, "heartbeat-lost"); got.Samples != tasks {
		t.Errorf("%d of %d tasks count", got.Samples, tasks)
	}
}
