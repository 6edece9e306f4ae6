package app

import (
	"testing"
	"time"
)

// A stream that is over as soon as it is open is waited with longer each time, also when it came to an end; one that
// lasted is opened again at once, and begins anew.
func TestReopening(t *testing.T) {
	r := reopening{wait: reopenFirst}
	for i, step := range []struct {
		lasted time.Duration
		ended  bool
		want   time.Duration
	}{
		{time.Millisecond, true, time.Second},
		{time.Millisecond, true, 2 * time.Second},
		{0, false, 4 * time.Second},
		{5 * time.Minute, true, 0},
		{time.Millisecond, false, time.Second},
		{time.Minute, false, time.Second},
		{0, false, 2 * time.Second},
	} {
		if got := r.after(step.lasted, step.ended); got != step.want {
			t.Errorf("step %d: behind %v, ended %t, it waits %v, want %v", i, step.lasted, step.ended, got, step.want)
		}
	}
	for range 20 {
		r.after(0, true)
	}
	if got := r.after(0, true); got != reopenMost {
		t.Errorf("after many it waits %v, want %v", got, reopenMost)
	}
}
