package reconcile

import (
	"testing"
	"time"
)

// TestCauseNow: what was the cause is not said to be so still, once it is over: it was, with both times.
func TestCauseNow(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 2, 1, 12, minute, 0, 0, time.UTC) }
	in := Incident{Cause: `snapshot "light" is inactive at daytona`, Provider: "daytona", Rule: "assigned-stale", Count: 4,
		FirstSeen: at(1), LastSeen: at(7)}
	closed := in
	closed.ClosedAt = at(30)
	const (
		was    = `snapshot "light" was inactive at daytona. `
		failed = "The failures were from 2026-02-01 12:01:00 UTC to 12:07:00 UTC"
		again  = failed + "; it is active again, last looked at 12:08:00 UTC"
	)
	for name, c := range map[string]struct {
		in         Incident
		now        time.Time
		state      TemplateState
		said, line string
	}{
		"it hurts":     {in, at(8), TemplateInactive, in.Cause, " since 2026-02-01 12:01:00 UTC: " + in.Cause},
		"failures":     {in, at(7), TemplateUnknown, in.Cause, " since 2026-02-01 12:01:00 UTC: " + in.Cause},
		"active again": {in, at(9), TemplateActive, was + again + ".", ": " + was + again},
		"quiet":        {in, at(20), TemplateUnknown, was + failed + ".", ": " + was + failed},
		"worse": {in, at(9), TemplateMissing, was + "It is missing by now, seen 2026-02-01 12:08:00 UTC.",
			" since 2026-02-01 12:01:00 UTC: " + was + "It is missing by now, seen 2026-02-01 12:08:00 UTC"},
		"closed": {closed, at(31), TemplateInactive, was + failed + ".", ": " + was + failed},
	} {
		seen := []TemplateSeen{{Provider: "daytona", Name: "light", State: c.state, LookedAt: at(8)}}
		if got := c.in.CauseSaid(c.now, seen); got != c.said {
			t.Errorf("%s: %q, want %q", name, got, c.said)
		}
		if got, want := c.in.Said(c.now, seen), "4 failures by assigned-stale at daytona"+c.line; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
