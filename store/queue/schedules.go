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
	began       map[reconcile.PassKind]time.Time
}

// saw keeps when the newest pass of a kind began, by this process's clock.
func (s *schedules) saw(kind reconcile.PassKind, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began == nil {
		s.began = map[reconcile.PassKind]time.Time{}
	}
	s.began[kind] = began
}

func (s *schedules) lastBegan(kind reconcile.PassKind) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began[kind]
}

// A steady schedule is one for the periodic jobs, whose turns River counts from when it began to. Where that is a
// second or two after passes began to come, a watch would find each of them missing, and each turn of River would come
// too late to be needed. So turns are counted from the passes, as watches do.
type steady struct {
	cron.Schedule
	began func() time.Time // the newest pass that is known of; zero for none
}

// steadyTurns is how many turns after the newest pass that is known of are looked at, and steadyEarly how much earlier
// than it was told it may have begun: the clocks of a process and of the database are compared no better than that.
const (
	steadyTurns = 8
	steadyEarly = 50 * time.Millisecond
)

// Next is the first turn after t, by whichever of both counts it is earlier.
func (s steady) Next(t time.Time) time.Time {
	next, began := s.Schedule.Next(t), s.began()
	if began.IsZero() {
		return next
	}
	due := began.Add(steadyEarly).In(t.Location())
	for range steadyTurns {
		if due = s.Schedule.Next(due); due.IsZero() || !due.Before(next) {
			return next
		}
		if due.After(t) {
			return due
		}
	}
	return next
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
