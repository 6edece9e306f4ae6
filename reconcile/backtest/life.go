package backtest

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The kinds of an event.
const (
	Started   = reconcile.EventStarted
	Heartbeat = reconcile.EventHeartbeat
	Waiting   = reconcile.EventWaiting
	Finished  = reconcile.EventFinished
)

// A Sign is one event of a worker.
type Sign = reconcile.WorkerEvent

// A Life is one task of the history, as it is played.
type Life reconcile.PastTask

// An Outcome says how a task ended.
type Outcome uint8

// The outcomes. Only a completed task has shown with its end that it lived.
const (
	Completed Outcome = iota
	Died              // failed
	Stopped           // by somebody
	Ours              // by sandkeeper
)

// Outcome is how the task ended.
func (l *Life) Outcome() Outcome {
	switch {
	case reconcile.Marked(l.Task.Error):
		return Ours
	case l.Task.State == reconcile.TaskCompleted:
		return Completed
	case l.Task.State == reconcile.TaskFailed:
		return Died
	}
	return Stopped
}

// assigned is when the task was handed out: by its row, else not before it was made.
func (l *Life) assigned() time.Time {
	if t := &l.Task; !t.AssignedAt.IsZero() {
		return t.AssignedAt
	}
	return l.Task.CreatedAt
}

// handedOutBefore reports whether the task had an attempt before, and nothing tells when the last one was handed out.
func (l *Life) handedOutBefore() bool { return l.Task.AssignedAt.IsZero() && l.Task.Attempts > 0 }

// started is when the worker began, by its row or by its first event; zero when nothing tells.
func (l *Life) started() time.Time {
	if !l.Task.StartedAt.IsZero() {
		return l.Task.StartedAt
	}
	for _, s := range l.Signs {
		if !l.Ended.IsZero() && s.At.After(l.Ended) {
			break
		}
		if !s.At.Before(l.Task.CreatedAt) {
			return s.At
		}
	}
	return time.Time{}
}

// begun is when the worker began, else the earliest that it can have.
func (l *Life) begun() time.Time {
	if at := l.started(); !at.IsZero() {
		return at
	}
	return l.assigned()
}

// stateAt is in which state the task was, and since when. Where nothing tells when a state began, the one that a rule
// asks about began as early as it can have.
func (l *Life) stateAt(at time.Time, asked reconcile.TaskState) (reconcile.TaskState, time.Time) {
	began, handed := l.started(), l.assigned()
	if began.IsZero() && asked == reconcile.TaskRunning {
		began = handed
	}
	if l.Task.AssignedAt.IsZero() && asked == reconcile.TaskPending {
		handed = began
	}
	switch {
	case !l.Ended.IsZero() && !at.Before(l.Ended):
		return l.Task.State, l.Ended
	case !began.IsZero() && !at.Before(began):
		return reconcile.TaskRunning, began
	case !handed.IsZero() && !at.Before(handed):
		return reconcile.TaskAssigned, handed
	}
	return reconcile.TaskPending, l.Task.CreatedAt
}

// rowAt is the row as a pass would have read it then, as far as a row tells of its past.
func (l *Life) rowAt(at time.Time) reconcile.Task {
	t := l.Task
	t.AsOf, t.Error, t.Mark, t.AttemptMark, t.Version = at, "", "", "", ""
	for _, clock := range []*time.Time{&t.AssignedAt, &t.StartedAt, &t.HeartbeatAt, &t.ActivityAt, &t.UpdatedAt,
		&t.StateSince, &t.EndedAt} {
		if clock.After(at) {
			*clock = time.Time{} // what it was before, nothing tells
		}
	}
	t.Events = l.eventsUntil(at)
	return t
}

// eventsUntil are the newest events of each kind that a pass would have read then.
func (l *Life) eventsUntil(at time.Time) (e reconcile.Events) {
	n := sort.Search(len(l.Signs), func(i int) bool { return l.Signs[i].At.After(at) })
	for i := n - 1; i >= 0; i-- {
		s := l.Signs[i]
		newest(&e.Heartbeat, s, s.Kind&Heartbeat != 0)
		newest(&e.Activity, s, s.Kind&Heartbeat == 0)
		newest(&e.Started, s, s.Kind&Started != 0)
		newest(&e.Waiting, s, s.Kind&Waiting != 0)
		newest(&e.Finished, s, s.Kind&Finished != 0)
	}
	return e
}

func newest(at *time.Time, s Sign, is bool) {
	if is && at.IsZero() {
		*at = s.At
	}
}

// A span is a time in which nothing came that a rule waits for.
type span struct {
	from, to time.Time
	lived    bool // something came after all
}

func (s span) long() time.Duration { return s.to.Sub(s.from) }

// gaps are the spans between the signs of the running task that count, and the one until its end.
func (l *Life) gaps(counts func(Sign) bool) (out []span) {
	var last time.Time
	began := l.started()
	for _, s := range l.Signs {
		if !counts(s) || s.At.Before(began) {
			continue
		}
		if s.At.After(l.Ended) {
			break
		}
		if !last.IsZero() {
			out = append(out, span{last, s.At, true})
		}
		last = s.At
	}
	if last.IsZero() {
		return nil
	}
	return append(out, span{last, l.Ended, l.Outcome() == Completed})
}

// longestFirst sorts spans; most are short, and nobody looks at them.
func longestFirst(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(b.long(), a.long()) })
	return spans
}
