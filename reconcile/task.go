package reconcile

import (
	"cmp"
	"time"
)

// Before reports whether the row, of two that name one sandbox, says what it is for: a live one
// comes first, an ended one last; of those alike, the one that was at it, or keeps it, the longest.
func (t *Task) Before(other *Task) bool {
	if one, two := t.State.Live(), other.State.Live(); one != two {
		return one
	}
	if one, two := t.State.Terminal(), other.State.Terminal(); one != two {
		return two
	}
	//guard:rows-newest harm
	return cmp.Or(t.heldUntil().Compare(other.heldUntil()), cmp.Compare(t.ID, other.ID)) > 0
}

// heldUntil is the last moment at which the row itself says that its task needed its sandbox.
func (t *Task) heldUntil() time.Time {
	return Latest(t.CreatedAt, t.AssignedAt, t.StartedAt, t.UpdatedAt, t.KeepAliveUntil)
}

// EntrySum is what changes when the task is handed out again: a hash of its attempt's mark in the
// highest 16 bits, its attempts in the next 16, a hash of its session in the lower half.
func (t *Task) EntrySum() uint64 {
	return Sum(t.AttemptMark)<<48 | uint64(uint16(t.Attempts))<<32 | Sum(t.Session)&(1<<32-1)
}

// EntryAttempts are the attempts that an EntrySum counts.
func EntryAttempts(sum uint64) uint16 { return uint16(sum >> 32) }

// Attempt tells one attempt at the task from another: by its count, its session and its sandbox.
func (t *Task) Attempt() uint64 {
	const bits = 1<<24 - 1
	return uint64(t.Attempts)<<48 | Sum(t.Session)&bits<<24 | Sum(t.Sandbox)&bits
}

// LinkState of a row that was read by key, not in the live set.
func (t *Task) LinkState() LinkState {
	//guard:fate-outside harm
	if t.State.Terminal() && !t.Outside {
		return LinkEnded
	}
	return LinkExplained
}

// A TaskState is the canonical state of a task; a platform's own statuses are mapped
// onto it by the config.
type TaskState string

// The states of a task. The zero value is a status that the config does not map: it is
// shown, and nothing is ever judged from it.
const (
	TaskUnknown   TaskState = ""
	TaskPending   TaskState = "pending"   // waits for a worker
	TaskAssigned  TaskState = "assigned"  // handed out, the worker has not started
	TaskRunning   TaskState = "running"   // a worker is at it
	TaskCompleted TaskState = "completed" // terminal
	TaskFailed    TaskState = "failed"    // terminal
	TaskStopped   TaskState = "stopped"   // terminal, by a person
	TaskParked    TaskState = "parked"    // rests: its sandbox is kept, and should not run
	TaskWaiting   TaskState = "waiting"   // waits by design, for a time or a person, with a sandbox or without
)

// Terminal reports whether a task in this state is over. A terminal row is sacred: it is
// never written.
func (s TaskState) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskStopped
}

// Live reports whether a task in this state is pending, assigned or running.
func (s TaskState) Live() bool {
	return s == TaskPending || s == TaskAssigned || s == TaskRunning
}

// Rests reports whether a task in this state is parked or waits by design: nobody works at it, and that is right.
// Its row is not judged, and what it explains is nobody's to end.
func (s TaskState) Rests() bool { return s == TaskParked || s == TaskWaiting }

// A Task is one row of the user's task table as it was read. A zero time means that the
// column is null or not mapped. All its times are of the task database's clock.
type Task struct {
	ID      string // the id column as text
	Version string // xmin as text: changes with every write of the row
	Status  string // as the table has it
	State   TaskState
	AsOf    time.Time // the task database's now when the row was read

	Sandbox  string // the sandbox column: an id, a name, or a name of the platform's own; "" when null
	Provider string // which provider entry the row belongs to; "" when unknown
	Template string
	Session  string
	Worker   string // version of the worker or of its image; "" when not mapped
	Error    string
	Attrs    map[string]string // columns that an override asks for, as task.NAME; else nil

	CreatedAt, AssignedAt, StartedAt, HeartbeatAt time.Time
	ActivityAt, UpdatedAt, DeadlineAt             time.Time
	StateSince, EndedAt                           time.Time // when it got its status; when it was over
	DueAt                                         time.Time // when it may begin, not before
	SleepsAt                                      time.Time // when the platform puts its sandbox to sleep
	KeepAliveUntil                                time.Time
	Timeout                                       time.Duration // 0 when null

	Mark string // what changes with the worker's work, where no clock of the row does; "" when not mapped
	// AttemptMark is what changes when it is begun anew where no count and no session do; "" when not mapped.
	AttemptMark string
	Trace       string // the trace of its own work, as [text.TraceID] reads it; "" when not known
	Tenant      string // whose it is, as [TenantName] writes it; "" when not known
	Sandboxes   int    // how many sandboxes at once are usual for it; 0 when not mapped

	Outside bool // read by key although `where` excludes it: explains a sandbox, is not judged

	Attempts, MaxAttempts int
	Retries               bool // attempts and max_attempts are both mapped and not null

	Events Events
}

// Events are the newest events of a task's worker by kind, zero when there is none.
type Events struct {
	Started   time.Time
	Activity  time.Time // the newest event that is neither a heartbeat nor one of ours
	Heartbeat time.Time
	Waiting   time.Time // the worker waits for a person
	Finished  time.Time
}

// Newest is the newest event of any kind, zero when the worker never sent one.
func (e *Events) Newest() time.Time {
	return Latest(e.Started, e.Activity, e.Heartbeat, e.Waiting, e.Finished)
}

// LastSeen is the newest sign of the worker's life, from its events and from the columns
// that the worker writes. Zero when it never gave one.
func (t *Task) LastSeen() time.Time {
	return Latest(t.Events.Newest(), t.HeartbeatAt, t.ActivityAt)
}

// Activity is the newest sign of life that is not a heartbeat.
func (t *Task) Activity() time.Time {
	return Latest(t.Events.Activity, t.Events.Started, t.Events.Waiting, t.ActivityAt)
}

// Latest is the newest of some times.
func Latest(times ...time.Time) time.Time {
	var newest time.Time
	for _, t := range times {
		if t.After(newest) {
			newest = t
		}
	}
	return newest
}

// Waits reports whether the last that the worker did was to wait for a person. Its row may be
// touched a moment later because of that very event.
func (t *Task) Waits() bool {
	w := t.Events.Waiting
	return !w.IsZero() && !w.Before(Latest(t.Events.Activity, t.Events.Started)) && t.ActivityAt.Sub(w) <= Skew
}

// TraceEvidence is the evidence that a row names the trace of its work.
func TraceEvidence(t *Task) Evidence {
	return Evidence{Source: "tasks", At: t.AsOf, Fact: "the trace of its work is " + t.Trace}
}

// TraceKey is the key under which the trace of a task's own work is told of, in logs and spans.
const TraceKey = "task_trace"
