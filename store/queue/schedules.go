package queue

import (
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// schedules are when passes are due. They change when the config is read again.
type schedules struct {
	mu          sync.Mutex
	quick, full cron.Schedule
	changed     chan struct{} // closed with the next change
}

func (s *schedules) set(quick, full cron.Schedule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
	}
	s.quick, s.full, s.changed = quick, full, make(chan struct{})
}

// of is the schedule of a kind, and what is closed when it is no longer that.
func (s *schedules) of(kind reconcile.PassKind) (cron.Schedule, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == reconcile.Full {
		return s.full, s.changed
	}
	return s.quick, s.changed
}

// A turn is when the next pass is due, and how much time is between it and the one after.
type turn struct {
	due time.Time
	gap time.Duration
}

// turnAfter is the first turn after a time. A schedule that never fires has none: zero.
func turnAfter(s cron.Schedule, t time.Time) turn {
	// A cron line means the local time of the process, but Next takes it in that of t.
	due := s.Next(t.Local())
	after := s.Next(due)
	if due.IsZero() || after.IsZero() {
		return turn{due: due, gap: longest}
	}
	return turn{due: due, gap: after.Sub(due)}
}
