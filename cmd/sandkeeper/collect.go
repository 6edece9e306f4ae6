package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// How much garbage may lie about before it is collected: as much as this, but no more and no less of what lives than
// these parts. So a small fleet is a tenth faster, for nearly all that a pass allocates is garbage when it ends; of a
// large one memory is what costs, and time too, for a page of memory has to be made before it is used.
const (
	spareBytes          = 24 << 20
	seldomest, oftenest = 400, 25 // percent
)

// How large the heap of a full pass gets by the end, for so many tasks and sandboxes, as these parts make it.
const heapBytes, heapEach = 16 << 20, 320

// expected is how large the heap of this process gets in any case; 0: nobody knows.
var expected atomic.Uint64

// ending is set in a process that makes one pass and ends: what it held once it need not give back before.
var ending atomic.Bool

// endWith says that this process ends with one pass, and about how many tasks and sandboxes that is; 0: nobody knows.
// As the heap gets so large in any case, what is collected on the way there, while what lives grows, is looked at for
// nothing.
func endWith(subjects int) {
	if ending.Store(true); subjects > 0 {
		expected.Store(heapBytes + uint64(subjects)*heapEach)
	}
}

// collectSeldom lets garbage grow longer than usual while little lives. The variable GOGC has the last word.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(seldomest)
		pace(&collected{})
	}
}

// Collected is garbage: that it was collected tells that a collection took place.
type collected struct{ _ [16]byte }

// pace sets after each collection when the next one is.
func pace(c *collected) {
	runtime.SetFinalizer(c, func(c *collected) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		percent, heap := paceOf(sample[0].Value.Uint64(), expected.Load())
		if debug.SetGCPercent(percent); ending.Load() {
			expected.Store(heap)
		}
		pace(c)
	})
}

// paceOf is how much garbage is left, in percent of what lives, and how large the heap gets with that.
func paceOf(live, expected uint64) (percent int, heap uint64) {
	live = max(live, 1)
	most := min(max(spareBytes*100/live, oftenest), seldomest)
	if expected > live {
		most = max(most, (expected-live)*100/live)
	}
	return int(most), max(expected, live+live*most/100)
}
