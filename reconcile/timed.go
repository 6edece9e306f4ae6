package reconcile

import (
	"slices"
	"strconv"
	"time"
)

// timedBounds are the upper bounds, in seconds, of the times that are counted by name. Each bucket
// holds the smaller ones too.
var (
	timedBounds = []int64{1, 2, 5, 10, 30, 60, 120, 300}
	slowBounds  = append(slices.Clone(timedBounds), 900, 3600)
)

// The names of the histograms that judging counts; those of settling are of store/protocol.
const (
	TimedDetection = "detection_seconds"
	TimedRepair    = "repair_seconds"
)

// BoundsOf are the upper bounds, in seconds, of the histogram of this name.
func BoundsOf(name string) []int64 {
	if name == TimedDetection || name == TimedRepair {
		return slowBounds
	}
	return timedBounds
}

// Timed is one measured time as what it adds to the totals of this name.
func Timed(name, rule, provider string, took time.Duration) []Counter {
	took = max(took, 0)
	add := func(name, what string, n int64) Counter {
		return Counter{Name: name, Rule: rule, Provider: provider, What: what, Value: n}
	}
	counts := []Counter{
		add(name+"_bucket", "+Inf", 1),
		add(name+"_count", "", 1),
		add(name+"_milli_sum", "", took.Milliseconds()),
	}
	for _, bound := range BoundsOf(name) {
		if took <= time.Duration(bound)*time.Second {
			counts = append(counts, add(name+"_bucket", strconv.FormatInt(bound, 10), 1))
		}
	}
	return counts
}

// What is counted of leaks: sandboxes that nobody needed any more.
const (
	Leaks        = "leaks"         // found
	LeakedMillis = "leaked_millis" // how long they were there, found or not yet found
	LeakedMicros = "leaked_micros" // millionths of a USD that they had cost when they were found
)
