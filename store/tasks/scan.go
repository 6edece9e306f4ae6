package tasks

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A taskRow is where one row is scanned to, by position and over and over again: tens of
// thousands of rows are read in each pass.
type taskRow struct {
	version string
	outside bool
	// id, status, state, sandbox, provider, template, session, worker, error, marks, tenant, trace
	texts   [13]pgtype.Text
	before  [13]string             // of the row before
	moments [14]pgtype.Timestamptz // in the order of taskFields
	timeout pgtype.Interval
	numbers [3]pgtype.Int8 // attempts, max_attempts, sandboxes
	attrs   []pgtype.Text
	events  [5]pgtype.Timestamptz // started, activity, heartbeat, waiting, finished
}

// targets are the places in the order of the statement.
func (r *taskRow) targets() []any {
	out := []any{&r.version, &r.outside}
	for i := range r.texts {
		out = append(out, &r.texts[i])
	}
	for i := range r.moments {
		out = append(out, &r.moments[i])
	}
	out = append(out, &r.timeout, &r.numbers[0], &r.numbers[1], &r.numbers[2])
	for i := range r.attrs {
		out = append(out, &r.attrs[i])
	}
	for i := range r.events {
		out = append(out, &r.events[i])
	}
	return out
}

func (s *statements) scan(ctx context.Context, tx pgx.Tx, q query, now time.Time) ([]reconcile.Task, error) {
	rows, err := tx.Query(ctx, q.sql, q.args)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := taskRow{attrs: make([]pgtype.Text, len(s.plan.mapping.Attrs))}
	targets := row.targets()
	var read fleet.Pieces[reconcile.Task]
	read.Room(q.size + q.size/16)
	var task reconcile.Task
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		task = row.task(s.plan, now)
		if q.plain != nil && q.plain(&task) {
			continue
		}
		if !q.spelled {
			read.Add(&task)
			continue
		}
		for _, t := range appendRedacted(nil, task, q.lookup) {
			read.Add(&t)
		}
	}
	return read.All(), rows.Err()
}

// appendRedacted adds the row under its own id and under each other spelling that was
// asked for.
func appendRedacted(out []reconcile.Task, task reconcile.Task, l lookup) []reconcile.Task {
	out = append(out, task)
	for _, spelling := range l.spellings[task.ID] {
		task.ID = spelling
		out = append(out, task)
	}
	return out
}

func (r *taskRow) task(c *Compiled, now time.Time) reconcile.Task {
	t := reconcile.Task{
		Outside: r.outside,
		ID:      r.texts[0].String, Version: r.version, Status: r.word(1), AsOf: now,
		Sandbox: r.texts[3].String, Provider: c.entries.of(r.word(4)), Template: r.word(5),
		Session: r.texts[6].String, Worker: r.word(7), Error: r.texts[8].String,
		Attrs:     r.attributes(c.mapping.Attrs),
		CreatedAt: taskTime(r.moments[0]), AssignedAt: taskTime(r.moments[1]), StartedAt: taskTime(r.moments[2]),
		HeartbeatAt: taskTime(r.moments[3]), ActivityAt: taskTime(r.moments[4]), UpdatedAt: taskTime(r.moments[5]),
		DeadlineAt: limitTime(r.deadline(c)), KeepAliveUntil: limitTime(r.moments[7]), Timeout: spanOf(r.timeout),
		StateSince: taskTime(r.moments[10]), EndedAt: taskTime(r.moments[11]),
		DueAt: limitTime(r.moments[12]), SleepsAt: limitTime(r.moments[13]),
		Mark: r.texts[9].String, AttemptMark: r.texts[10].String,
		Tenant:    reconcile.TenantName(r.word(11)),
		Trace:     text.TraceID(r.texts[12].String),
		Sandboxes: c.usual(r.numbers[2].Int64),
		Attempts:  int(r.numbers[0].Int64), MaxAttempts: int(r.numbers[1].Int64),
		Retries: r.numbers[0].Valid && r.numbers[1].Valid,
		Events:  eventsAt(&r.events),
	}
	t.State = c.stateOf(t.Status, r.texts[2].String)
	if deleted := r.moments[8]; !limitTime(deleted).IsZero() && t.State != reconcile.TaskUnknown {
		t.State, t.UpdatedAt = reconcile.TaskStopped, later(t.UpdatedAt, taskTime(deleted))
	}
	return t
}

func eventsAt(at *[5]pgtype.Timestamptz) reconcile.Events {
	return reconcile.Events{
		Started: taskTime(at[0]), Activity: taskTime(at[1]), Heartbeat: taskTime(at[2]),
		Waiting: taskTime(at[3]), Finished: taskTime(at[4]),
	}
}

// word is a text that is mostly the one of the row before: then it is that one, and no further copy of it.
func (r *taskRow) word(i int) string {
	if r.before[i] != r.texts[i].String {
		r.before[i] = r.texts[i].String
	}
	return r.before[i]
}

// mostSandboxes is more than any task has at once.
const mostSandboxes = 1000

// usual is how many sandboxes a task may have: what its row says, else what the config says of all.
func (c *Compiled) usual(said int64) int {
	if said <= 0 && c.mapping.Many {
		return mostSandboxes
	}
	return int(min(max(said, 0), mostSandboxes))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// deadline is the moment by which the task has failed, where the config names one; else the one that
// is called a deadline, whatever that means here.
func (r *taskRow) deadline(c *Compiled) pgtype.Timestamptz {
	if c.columns["fails_at"] != "" {
		return r.moments[9]
	}
	return r.moments[6]
}

// stateOf is the canonical state of a row. A word that is not mapped is unknown.
func (c *Compiled) stateOf(status, state string) reconcile.TaskState {
	if c.columns["state"] == "" {
		return c.states[status]
	}
	if s := reconcile.TaskState(state); s.Live() || s.Terminal() || s.Rests() {
		return s
	}
	return reconcile.TaskUnknown
}

func (r *taskRow) attributes(names []string) map[string]string {
	var out map[string]string
	for i, name := range names {
		if !r.attrs[i].Valid {
			continue
		}
		if out == nil {
			out = make(map[string]string, len(names))
		}
		out[name] = r.attrs[i].String
	}
	return out
}

// The first moment that anything can have happened, and the last that can be written
// everywhere. Programs write their zero time for "never": the year 1, or the epoch, in any
// time zone. What lies beyond the last counts as it: one odd row must not keep a pass from
// being recorded.
var (
	firstMoment = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)
	lastMoment  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// firstMomentSQL is the same in a statement.
const firstMomentSQL = "timestamptz '1971-01-01 00:00:00Z'"

// taskTime is zero for null, for infinity and for what is before all tasks: none is a moment.
func taskTime(t pgtype.Timestamptz) time.Time {
	if !t.Valid || t.InfinityModifier != pgtype.Finite {
		return time.Time{}
	}
	switch at := t.Time.UTC(); {
	case at.Before(firstMoment):
		return time.Time{}
	case at.After(lastMoment):
		return lastMoment
	default:
		return at
	}
}

// limitTime is a moment up to which something may go on: one at infinity never comes.
func limitTime(t pgtype.Timestamptz) time.Time {
	if t.Valid && t.InfinityModifier == pgtype.Infinity {
		return lastMoment
	}
	return taskTime(t)
}

// longest is a time-out that never ends: it can be added to any moment of a task.
const longest = 200 * 365 * 24 * time.Hour

// spanOf is zero for null and for what is no time to wait. What is longer than can be told
// never ends.
func spanOf(i pgtype.Interval) time.Duration {
	if !i.Valid {
		return 0
	}
	const day = 24 * 60 * 60 * 1e6
	micros := float64(i.Microseconds) + float64(i.Days)*day + float64(i.Months)*30*day
	if micros < 0 {
		return 0
	}
	return time.Duration(min(micros, float64(longest.Microseconds()))) * time.Microsecond
}
