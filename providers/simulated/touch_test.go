package simulated_test

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// Activity is told for a moment, and never goes back.
func TestTouchAt(t *testing.T) {
	clock := simulated.NewClock(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC))
	w := simulated.New(simulated.Options{Now: clock.Now})
	s := w.Put(simulated.Sandbox{ID: "sb-1"})
	clock.Advance(time.Hour)
	for _, c := range []struct{ at, want time.Duration }{
		{10 * time.Minute, 10 * time.Minute}, {5 * time.Minute, 10 * time.Minute}, {20 * time.Minute, 20 * time.Minute},
	} {
		w.TouchAt(s.ID, s.CreatedAt.Add(c.at))
		now, _ := w.Sandbox(s.ID)
		if got := now.LastActivityAt.Sub(s.CreatedAt); got != c.want {
			t.Errorf("after a touch at %s the activity is at %s, want %s", c.at, got, c.want)
		}
	}
	w.TouchAt("nobody", clock.Now()) // is no error
}

// A hollow sandbox is shown as one.
func TestHollow(t *testing.T) {
	w := simulated.New(simulated.Options{})
	w.Put(simulated.Sandbox{ID: "sb-1", NoContainer: true})
	s, err := w.Provider(entry.Entry{Name: "lab"}).Get(t.Context(), "sb-1")
	if err != nil || !s.NoContainer {
		t.Errorf("Get = %+v, %v, want it hollow", s, err)
	}
}
