package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much garbage may lie about before it is collected: as much as this, but no more and no less of what lives than
// these parts. So a small fleet is a tenth faster, for nearly all that a pass allocates is garbage when it ends; of a
// large one memory is what costs, and time too, for a page of memory has to be made before it is used.
const (
	spareBytes          = 24 << 20
	seldomest, oftenest = 400, 25 // percent
)

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
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(percentOf(live[0].Value.Uint64()))
		pace(c)
	})
}

// percentOf is how much garbage is left, in percent of what lives.
func percentOf(live uint64) int {
	return int(min(max(spareBytes*100/max(live, 1), oftenest), seldomest))
}
