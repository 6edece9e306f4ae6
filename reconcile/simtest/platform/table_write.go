package platform

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// errStandby is what a copy answers to a write.
var errStandby = errors.New("cannot execute UPDATE in a read-only transaction")

// Write changes one row, guarded like the statement in PostgreSQL.
func (b *table) Write(ctx context.Context, w reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	b.platform.mu.Lock()
	defer b.platform.mu.Unlock()
	b.platform.advance()
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	if b.standby {
		return "", nil, errStandby
	}
	r := b.rows[w.Task.ID]
	if said := b.guard(r, &w); said != reconcile.WriteDone {
		return said, nil, nil
	}
	b.remember(r, w.Reason)
	before := columnsOf(r)
	b.set(r, w.Step, w.Reason)
	out := &reconcile.RowBefore{Columns: before, After: strconv.Itoa(r.version), Mark: markIn(w.Reason)}
	b.wrote[actionIn(w.Reason)]++
	b.platform.tell("row of %s is written: %s", r.ID, r.State)
	if k := b.platform.tasks[r.ID]; k != nil {
		k.entered = b.platform.now()
	}
	b.platform.orchestrator().written(r.ID)
	return reconcile.WriteDone, out, nil
}

// remember keeps the row as it was, for the properties.
func (b *table) remember(r *row, reason string) {
	own := *r
	own.Task = b.read(r)
	b.platform.watch.before = &own
	b.platform.watch.harm().remember(b.platform.tasks[r.ID], actionIn(reason))
	b.platform.account.before(b.platform.tasks[r.ID])
}

// set is what the mapping says of fail and requeue.
func (b *table) set(r *row, step reconcile.Step, reason string) {
	switch {
	case step == reconcile.StepRequeue:
		r.State, r.Sandbox, r.Session = reconcile.TaskPending, "", ""
		r.Attempts++
	case b.platform.kind.name == "coding-agent":
		r.State, r.Sandbox, r.Session = reconcile.TaskFailed, "", ""
	default:
		r.State = reconcile.TaskFailed
	}
	r.Error = reason
	r.UpdatedAt = b.now()
	r.version++
}

func (b *table) guard(r *row, w *reconcile.Write) reconcile.Written {
	if r == nil || !r.State.Live() {
		return reconcile.WriteMoved
	}
	now := b.read(r)
	newest := now.LastSeen()
	if w.Active {
		newest = now.Activity()
	}
	switch {
	case now.Status != w.Task.Status, now.Sandbox != w.Task.Sandbox:
		return reconcile.WriteMoved
	case w.Refutable && newest.After(w.LastSeen):
		return reconcile.WriteAlive
	case !w.Lock && now.Version != w.Task.Version:
		return reconcile.WriteBusy
	}
	return reconcile.WriteDone
}

// Restore takes our own write back, if the row has not moved since.
func (b *table) Restore(ctx context.Context, id string, before reconcile.RowBefore) (reconcile.Written, error) {
	b.platform.mu.Lock()
	defer b.platform.mu.Unlock()
	b.platform.advance()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := b.rows[id]
	switch {
	case b.standby:
		return "", errStandby
	case r == nil:
		return reconcile.WriteMoved, nil
	case strconv.Itoa(r.version) != before.After || !strings.Contains(r.Error, before.Mark):
		if sameColumns(r, before.Columns) {
			return reconcile.WriteDone, nil
		}
		return reconcile.WriteMoved, nil
	}
	b.remember(r, "")
	setColumns(r, before.Columns)
	r.UpdatedAt = b.now()
	r.version++
	b.platform.tell("row of %s is set back: %s", id, r.State)
	b.platform.orchestrator().written(id)
	return reconcile.WriteDone, nil
}
