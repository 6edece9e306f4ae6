package run_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A table is a task table in memory. Its writes have the guards of the statement in
// PostgreSQL: status, sandbox, live, version unless locked, and no newer life sign.
type table struct {
	mu    sync.Mutex
	rows  map[string]*row
	wrote []string // the tasks of the writes that were done, in their order

	further [][]string // the values that further tables hold, by their place; nil while they cannot be read

	restored []string        // the tasks whose rows were set back
	lost     map[string]*row // what the table held before it was emptied
}

// A row is a task with what its readers do not see.
type row struct {
	reconcile.Task
	version int
	beats   bool // its worker sends a heartbeat every 30 seconds
}

func newTable() *table { return &table{rows: map[string]*row{}} }

// read is the row as a statement sees it now.
func (r *row) read() reconcile.Task {
	t := r.Task
	t.AsOf, t.Version = time.Now(), strconv.Itoa(r.version)
	if r.beats {
		t.Events.Heartbeat = t.AsOf.Truncate(30 * time.Second)
	}
	return t
}

// put adds a row.
func (t *table) put(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Status = string(r.State)
	t.rows[r.ID] = &r
}

// change changes a row as the platform does: its version moves.
func (t *table) change(id string, change func(*row)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rows[id]
	change(r)
	r.Status, r.UpdatedAt = string(r.State), time.Now()
	r.version++
}

// speak is an event of the worker, in a table of its own: the row's version stays.
func (t *table) speak(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows[id].Events.Started = time.Now()
}

// row is a copy of one row.
func (t *table) row(id string) row {
	t.mu.Lock()
	defer t.mu.Unlock()
	return *t.rows[id]
}

// writes are the tasks that were written, in order of time.
func (t *table) writes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.wrote)
}

func (t *table) Clock(ctx context.Context) (reconcile.TaskClock, error) {
	return reconcile.TaskClock{Now: time.Now(), Empty: len(t.rows) == 0}, ctx.Err()
}

func (t *table) Live(ctx context.Context) (reconcile.Rows, error) {
	return t.where(ctx, func(r *row) bool { return r.State.Live() })
}

func (t *table) ByID(ctx context.Context, ids []string) (reconcile.Rows, error) {
	return t.where(ctx, func(r *row) bool { return slices.Contains(ids, r.ID) })
}

func (t *table) BySandbox(ctx context.Context, keys []string) (reconcile.Rows, error) {
	return t.where(ctx, func(r *row) bool { return r.Sandbox != "" && slices.Contains(keys, r.Sandbox) })
}

func (t *table) Explaining(ctx context.Context, by int, values []string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.further == nil {
		return nil, errNoFurther
	}
	held := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !slices.Contains(t.further[by], v) })
	return held, ctx.Err()
}

// explain makes the further tables hold these values, each table its own.
func (t *table) explain(values ...[]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.further = values
}

var errNoFurther = errors.New("no such table")

func (t *table) where(ctx context.Context, wanted func(*row) bool) (reconcile.Rows, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := reconcile.Rows{Now: time.Now()}
	for _, r := range t.rows {
		if wanted(r) {
			rows.Tasks = append(rows.Tasks, r.read())
		}
	}
	slices.SortFunc(rows.Tasks, func(a, b reconcile.Task) int { return cmp.Compare(a.ID, b.ID) })
	return rows, ctx.Err()
}

func (t *table) Write(ctx context.Context, w reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	r := t.rows[w.Task.ID]
	if said := guard(r, w); said != reconcile.WriteDone {
		return said, nil, nil
	}
	status, text, sandbox := r.Status, r.Error, r.Sandbox
	before := &reconcile.RowBefore{Columns: map[string]*string{"status": &status, "error": &text, "sandbox": &sandbox}}
	r.State, r.Error, r.UpdatedAt = reconcile.TaskFailed, w.Reason, time.Now()
	if w.Step == reconcile.StepRequeue {
		r.State, r.Sandbox = reconcile.TaskPending, ""
	}
	r.Status = string(r.State)
	r.version++
	before.After = strconv.Itoa(r.version)
	before.Mark = w.Reason[strings.LastIndex(w.Reason, "["):]
	t.wrote = append(t.wrote, r.ID)
	return reconcile.WriteDone, before, nil
}

// Restore takes our own write back, with the guards of the statement in PostgreSQL.
func (t *table) Restore(ctx context.Context, id string, before reconcile.RowBefore) (reconcile.Written, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := t.rows[id]
	was := func(column string) string { return *before.Columns[column] }
	switch {
	case r == nil:
		return reconcile.WriteMoved, nil
	case strconv.Itoa(r.version) != before.After || !strings.Contains(r.Error, before.Mark):
		if r.Status == was("status") && r.Error == was("error") && r.Sandbox == was("sandbox") {
			return reconcile.WriteDone, nil
		}
		return reconcile.WriteMoved, nil
	}
	r.Status, r.Error, r.Sandbox = was("status"), was("error"), was("sandbox")
	r.State, r.UpdatedAt = reconcile.TaskState(r.Status), time.Now()
	r.version++
	t.restored = append(t.restored, id)
	return reconcile.WriteDone, nil
}

func newest(r *row, active bool) time.Time {
	t := r.read()
	if active {
		return t.Activity()
	}
	return t.LastSeen()
}

func guard(r *row, w reconcile.Write) reconcile.Written {
	switch {
	case r == nil, r.Status != w.Task.Status, r.Sandbox != w.Task.Sandbox, !r.State.Live():
		return reconcile.WriteMoved
	case w.Refutable && newest(r, w.Active).After(w.LastSeen):
		return reconcile.WriteAlive
	case !w.Lock && strconv.Itoa(r.version) != w.Task.Version:
		return reconcile.WriteBusy
	}
	return reconcile.WriteDone
}
