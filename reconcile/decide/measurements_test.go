package decide

import (
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// lived are measurements a minute apart, with these uses of the processor.
func lived(cpus ...float64) []reconcile.Measurements {
	var kept []reconcile.Measurements
	for i, cpu := range cpus {
		kept = reconcile.AddMeasurements(kept, reconcile.Measurements{At: worldtest.LedgerNow.Add(time.Duration(i) * time.Minute), CPU: &cpu})
	}
	return kept
}

func repeated(cpu float64, n int) []float64 { return slices.Repeat([]float64{cpu}, n) }

func TestAddVitals(t *testing.T) {
	for name, test := range map[string]struct {
		kept        []reconcile.Measurements
		first, last int // minutes
		odd         int // at this minute one must be kept; 0: none
	}{
		"ten are all kept":              {lived(repeated(99, 10)...), 0, 9, 4},
		"of many alike the first stays": {lived(repeated(99, 60)...), 0, 59, 0},
		"an odd one in between stays": {
			lived(slices.Concat(repeated(99, 20), []float64{50}, repeated(99, 20))...), 0, 40, 20},
		"of many that differ the newest stay": {
			lived(99, 1, 99, 1, 99, 1, 99, 1, 99, 1, 99, 1, 99, 1), 4, 13, 7},
	} {
		ms := test.kept
		minute := func(m reconcile.Measurements) int { return int(m.At.Sub(worldtest.LedgerNow) / time.Minute) }
		if len(ms) != reconcile.MostMeasurements || minute(ms[0]) != test.first || minute(ms[len(ms)-1]) != test.last {
			t.Errorf("%s: kept %d from minute %d to %d, want 10 from %d to %d", name, len(ms), minute(ms[0]),
				minute(ms[len(ms)-1]), test.first, test.last)
		}
		if test.odd > 0 && !slices.ContainsFunc(ms, func(m reconcile.Measurements) bool { return minute(m) == test.odd }) {
			t.Errorf("%s: the one of minute %d is gone", name, test.odd)
		}
		if !slices.IsSortedFunc(ms, func(a, b reconcile.Measurements) int { return a.At.Compare(b.At) }) {
			t.Errorf("%s: not oldest first", name)
		}
	}
	two := lived(1, 2)
	late := reconcile.Measurements{At: two[0].At.Add(time.Second)}
	if got := reconcile.AddMeasurements(two, late); len(got) != 3 || !got[1].At.Equal(late.At) || !two[1].At.Equal(got[2].At) {
		t.Errorf("one that comes late: %v, want it in its place, and the others as they were", got)
	}
}

func TestSignsIn(t *testing.T) {
	for log, want := range map[string][]string{
		"":                               nil,
		"all is well":                    nil,
		"npm set fetch-timeout=300000":   nil,
		"Error: ETIMEDOUT 10.0.0.1:5432": {"time-out"},
		"context deadline exceeded":      {"time-out"},
		"RangeError: Maximum call stack size exceeded":        {"stack overflow"},
		"RecursionError: maximum recursion depth exceeded":    {"stack overflow"},
		"runtime: goroutine stack exceeds 1000000000-byte":    {"stack overflow"},
		"FATAL ERROR: JavaScript heap out of memory":          {"out of memory"},
		"java.lang.OutOfMemoryError: Java heap space":         {"out of memory"},
		"MemoryError\nrequest timed out\nRecursionError: max": {"time-out", "stack overflow", "out of memory"},
	} {
		if got := reconcile.SignsIn(log); !slices.Equal(got, want) {
			t.Errorf("signsIn(%q) = %v, want %v", log, got, want)
		}
	}
}
