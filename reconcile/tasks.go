package reconcile

import (
	"context"
	"time"
)

// Tasks is what a pass needs of the user's task table. Every read is one statement.
type Tasks interface {
	// Clock reads the task database's now and whether it is fit to be judged from.
	Clock(ctx context.Context) (TaskClock, error)

	// Live reads the tasks that are not terminal and pass the `where` of the config, with
	// their newest events, and the database's now.
	Live(ctx context.Context) (Rows, error)

	// ByID reads rows by key whatever their status, ignoring `where`, with their newest
	// events. Ids that do not parse as the column's type come back in Unparsable.
	ByID(ctx context.Context, ids []string) (Rows, error)

	// BySandbox reads rows, whatever their status and ignoring `where`, whose sandbox
	// column holds one of the keys.
	BySandbox(ctx context.Context, keys []string) (Rows, error)

	// Explaining returns those of the values that a further table holds which explains sandboxes:
	// the one at this place of [TasksPolicy.ExplainedBy].
	Explaining(ctx context.Context, by int, values []string) ([]string, error)

	// Write changes one row, guarded: it does nothing when the row has moved. The answer is
	// the row as it was before, for restore; nil when nothing was written.
	Write(ctx context.Context, w Write) (Written, *RowBefore, error)
}

// Restorer is a task table that can take our own write back, for `restore`.
type Restorer interface {
	// Restore sets a row back to what it was before our own write, if it has not moved since.
	Restore(ctx context.Context, id string, before RowBefore) (Written, error)
}

// Retrier is a task table that can have a task run again which our own write failed, for `retry`.
type Retrier interface {
	// Retry requeues a row that still is as our own write left it, and leaves any other.
	Retry(ctx context.Context, id string, failed RowBefore, reason string) (Written, error)
}

// RowBefore is a task row as it was before our own write, in the columns that we set.
type RowBefore struct {
	After   string             `json:"after"`   // the row's version after our write: it has not moved while it has this
	Mark    string             `json:"mark"`    // what our write left in the row, see [Mark]
	Columns map[string]*string `json:"columns"` // as text; nil for null
}

// A TaskClock is what the task database says of itself.
type TaskClock struct {
	Now     time.Time
	Standby bool // a read-only copy that may lag: nothing is judged from it
	Empty   bool // the task table holds no row at all
}

// Rows are tasks read in one statement.
type Rows struct {
	Now        time.Time // the task database's now
	Tasks      []Task
	Unparsable []string // ids that are no ids of this table
}

// A Write is a guarded change of one task row. It happens only while the row is as it was
// judged: same status, sandbox and version, and no newer sign of life.
type Write struct {
	Step      Step      // fail or requeue
	Task      Task      // as it was judged
	Reason    string    // ends with the action's [Mark]
	LastSeen  time.Time // with Refutable: the newest sign of life that the verdict knew of
	Refutable bool      // a newer sign of life forbids the write
	Active    bool      // with Refutable: only activity does, heartbeats do not
	Lock      bool      // read under FOR UPDATE and write if status and sandbox agree, whatever the version
}

// Written says what became of a guarded write.
type Written string

// What becomes of a guarded write.
const (
	WriteDone  Written = "done"
	WriteMoved Written = "moved" // status or sandbox differ, or the row is gone: judge again
	WriteBusy  Written = "busy"  // only the version differs: read, judge and try again
	WriteAlive Written = "alive" // a newer life sign was found
	WriteAsked Written = "asked" // the platform was asked to change the row, and the row does not show it yet
)
