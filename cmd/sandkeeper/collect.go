package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// How much garbage may lie about before it is collected: as much as this, but no more and no less of what lives than
// these parts. So a small fleet is a tenth faster, for nearly all that a pass allocates is garbage when it ends; of a
// large one memory is what costs, and time too, for a page of memory has to be made before it is used.
const (
	spareBytes          = 24 << 20
	seldomest, oftenest = 400, 25 // percent
)

// A process that stays rests between two full passes: of what little it allocates then, as in quick passes by what has
// changed, a collection now and then is enough, also where less may lie about. So it does when the one before was
// longer ago than that. What the busy time before needed besides is given back to the system.
const (
	restsAfter = 5 * time.Second
	restBytes  = 4 << 20
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
		pace(&collected{at: time.Now()}, time.AfterFunc(restsAfter, goToRest))
	}
}

// goToRest collects all garbage, after which little may lie about, and gives back what is not used.
func goToRest() {
	if !ending.Load() {
		debug.FreeOSMemory()
	}
}

// Collected is garbage: that it was collected tells that a collection took place.
type collected struct{ at time.Time }

// pace sets after each collection when the next one is. One that comes soon after another puts off the time of rest,
// which begins with a collection of its own.
func pace(c *collected, resting *time.Timer) {
	runtime.SetFinalizer(c, func(c *collected) {
		now := time.Now()
		spare, soon := spareOf(now.Sub(c.at), ending.Load())
		if soon {
			resting.Reset(restsAfter)
		}
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		percent, heap := paceOf(sample[0].Value.Uint64(), spare, expected.Load())
		if debug.SetGCPercent(percent); ending.Load() {
			expected.Store(heap)
		}
		pace(&collected{at: now}, resting)
	})
}

// spareOf is how much garbage may lie about, by how long ago the collection before was, and whether that was so short a
// time that a rest is still to come.
func spareOf(ago time.Duration, ending bool) (spare uint64, soon bool) {
	if soon = ago < restsAfter; soon || ending {
		return spareBytes, soon
	}
	return restBytes, false
}

// paceOf is how much garbage is left, in percent of what lives, and how large the heap gets with that.
func paceOf(live, spare, expected uint64) (percent int, heap uint64) {
	live = max(live, 1)
	least := oftenest * spare / spareBytes
	most := min(max(spare*100/live, least), seldomest)
	if expected > live {
		most = max(most, (expected-live)*100/live)
	}
	return int(most), max(expected, live+live*most/100)
}
