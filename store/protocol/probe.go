package protocol

import (
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// LongestRun is how many failures of a run are kept: the first, which says since when,
// and the newest.
const LongestRun = 10

// Fold adds results, in any order, to what is known of one sandbox. A result that is
// older than the newest one is history: it cannot restart or end a run.
func Fold(seen reconcile.ProbeSeen, results []reconcile.ProbeResult) reconcile.ProbeSeen {
	sorted := slices.SortedStableFunc(slices.Values(results), func(a, b reconcile.ProbeResult) int {
		return a.At.Compare(b.At)
	})
	for _, r := range sorted {
		seen = fold(seen, r)
	}
	return seen
}

func fold(seen reconcile.ProbeSeen, r reconcile.ProbeResult) reconcile.ProbeSeen {
	if r.Outcome == reconcile.Answered && r.At.After(seen.LastAnswered) {
		seen.LastAnswered = r.At
	}
	if r.Worker == reconcile.WorkerAlive && r.At.After(seen.WorkerAt) {
		seen.WorkerAt = r.At
	}
	seen.Measurements = measured(seen.Measurements, r)
	r.Measurements, r.Exit = nil, nil // what was measured is kept once; of a code, what it says of the worker
	if r.At.Before(seen.Last.At) {
		return seen
	}
	seen.Last = r
	switch {
	case r.Outcome == reconcile.Answered:
		if n := len(seen.Failures); n > 0 {
			seen.RunEnded = seen.Failures[n-1].At
		}
		seen.Failures = nil
	case r.Outcome.Failed():
		seen.Failures = lengthen(seen.Failures, r)
	}
	return seen
}

// lengthen adds a failure to a run. The first one stays, whatever is dropped: the age of
// the run is counted from it.
func lengthen(run []reconcile.ProbeResult, r reconcile.ProbeResult) []reconcile.ProbeResult {
	run = append(slices.Clone(run), r)
	if len(run) > LongestRun {
		run = slices.Delete(run, 1, 1+len(run)-LongestRun)
	}
	return run
}

// measured adds what was measured with a probe to the measurements, oldest first.
func measured(kept []reconcile.Measurements, r reconcile.ProbeResult) []reconcile.Measurements {
	if r.Measurements == nil {
		return kept
	}
	v := Sound(*r.Measurements)
	if v.At.IsZero() {
		v.At = r.At
	}
	return reconcile.AddMeasurements(kept, v)
}

// Sound leaves out a number that is none, which no JSON can hold: it was not measured.
func Sound(v reconcile.Measurements) reconcile.Measurements {
	if v.CPU != nil && (math.IsNaN(*v.CPU) || math.IsInf(*v.CPU, 0)) {
		v.CPU = nil
	}
	v.Signs = slices.Clone(v.Signs)
	return v
}

// A Minute is what one provider's probes have used of their budget.
type Minute struct {
	Start time.Time // the whole minute; never moves back
	Used  int
}

// Grant takes up to want probes out of what is left of the minute.
func (m Minute) Grant(now time.Time, want, perMinute int) (Minute, int) {
	if start := now.UTC().Truncate(time.Minute); start.After(m.Start) {
		m = Minute{Start: start}
	}
	got := max(0, min(want, perMinute-m.Used))
	m.Used += got
	return m, got
}
