package reconcile

import "time"

// An EventKind is what an event of a worker means, as bits; none is plain activity.
type EventKind uint8

// The kinds of an event.
const (
	EventStarted EventKind = 1 << iota
	EventHeartbeat
	EventWaiting
	EventFinished
)

// A WorkerEvent is one event of a worker.
type WorkerEvent struct {
	At   time.Time
	Kind EventKind
}

// A PastTask is one task of a platform's history: its row as it is now, and its worker's events.
type PastTask struct {
	Task  Task          // without Events
	Ended time.Time     // when it was over; zero while it is at work
	Signs []WorkerEvent // oldest first
	Class string        // what kind of task it is, besides its template: "task.COLUMN=value"; "" when nothing says so
}
