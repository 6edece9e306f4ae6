package reconcile

import (
	"testing"
	"time"
)

// TestCauseSaid: what was the cause is not said to be so still, once the incident is closed.
func TestCauseSaid(t *testing.T) {
	in := Incident{Cause: `snapshot "light" is inactive at daytona`}
	if got := in.CauseSaid(); got != in.Cause {
		t.Errorf("open: %q", got)
	}
	in.ClosedAt = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	if got, want := in.CauseSaid(), `snapshot "light" was inactive at daytona`; got != want {
		t.Errorf("closed: %q, want %q", got, want)
	}
}
