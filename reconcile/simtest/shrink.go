package simtest

import (
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// Shrink leaves out of a script what its violation of a property does not need: events first,
// then processes and what the setup says. It stops after bound, by the clock on the wall.
func Shrink(t *testing.T, s *history.Script, property string, bound time.Duration) *history.Script {
	t.Helper()
	until := time.Now().Add(bound)
	breaks := func(try *history.Script) bool {
		if time.Now().After(until) {
			return false
		}
		r := Run(t, try, Options{Told: property == "told"})
		return r.Err == nil && len(r.Violations) > 0 && r.Violations[0].Property == property
	}
	out := &history.Script{Seed: s.Seed, About: s.About, Setup: s.Setup, Events: s.Events, Calm: s.Calm}
	for before := -1; before != len(out.Events)+len(out.Setup) && time.Now().Before(until); {
		before = len(out.Events) + len(out.Setup)
		out.Events = without(out.Events, func(left []history.Event) bool {
			try := *out
			try.Events = left
			return breaks(&try)
		})
		out.Setup = without(out.Setup, func(left []history.Event) bool {
			try := *out
			try.Setup = left
			return breaks(&try)
		})
	}
	return out
}

// without leaves out as many events as possible while breaks stays true: halves first, then
// smaller and smaller parts, then one by one.
func without(events []history.Event, breaks func([]history.Event) bool) []history.Event {
	for size := max(len(events)/2, 1); len(events) > 0; size /= 2 {
		for from := 0; from < len(events); {
			left := slices.Delete(slices.Clone(events), from, min(from+size, len(events)))
			if breaks(left) {
				events = left
				continue
			}
			from += size
		}
		if size <= 1 {
			break
		}
	}
	return events
}
