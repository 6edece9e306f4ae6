package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A table is the platform's task table in memory, with the columns that its preset maps and
// the guards of the real statement.
type table struct {
	platform *Platform
	rows     map[string]*row
	keys     map[string][]*worker // the workers whose events carry a key
	standby  bool                 // what is read is a copy that does not move
	copy     map[string]*row      // what the standby shows
	trusted  map[string]*row      // what a reader could believe last: the rows when the standby began
	follower int                  // numbers the standbys
	backup   map[string]*row
	hidden   map[string]*row // what the table held before it was emptied
	wrote    map[string]int  // by action: how often its write took effect
}

// A row is a task as the table holds it. Times are of the task database's clock.
type row struct {
	reconcile.Task
	version int
	came    time.Time // truly, whatever it says of itself
	unread  time.Time // the newest read of the live set before that; zero before the first
}

var (
	_ reconcile.Tasks    = (*table)(nil)
	_ reconcile.Restorer = (*table)(nil)
)

// A TaskTable is what a process sees of the task table.
type TaskTable interface {
	reconcile.Tasks
	reconcile.Restorer
}

// Tasks is the platform's task table.
func (t *Platform) Tasks() TaskTable { return t.table }

func newTable(t *Platform) *table {
	return &table{platform: t, rows: map[string]*row{}, keys: map[string][]*worker{}, wrote: map[string]int{}}
}

// Clock is what the database says of itself.
func (b *table) Clock(ctx context.Context) (reconcile.TaskClock, error) {
	b.platform.mu.Lock()
	defer b.platform.mu.Unlock()
	b.platform.advance()
	return reconcile.TaskClock{Now: b.now(), Standby: b.standby, Empty: len(b.shown()) == 0}, ctx.Err()
}

func (b *table) now() time.Time { return b.platform.clocks.of(domainTasks) }

// shown are the rows that a reader sees.
func (b *table) shown() map[string]*row {
	if b.standby {
		return b.copy
	}
	return b.rows
}

// Live reads the live set.
func (b *table) Live(ctx context.Context) (reconcile.Rows, error) {
	return b.where(ctx, func(r *row) bool { return r.State.Live() && !r.Outside })
}

// ByID reads rows by key.
func (b *table) ByID(ctx context.Context, ids []string) (reconcile.Rows, error) {
	rows, err := b.where(ctx, func(r *row) bool { return slices.Contains(ids, r.ID) })
	for _, id := range ids {
		if !isID(id) {
			rows.Unparsable = append(rows.Unparsable, id)
		}
	}
	return rows, err
}

// isID reports whether the text can be an id of the table: a letter and digits.
func isID(text string) bool {
	if len(text) < 2 || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	_, err := strconv.Atoi(text[1:])
	return err == nil
}

// BySandbox reads rows by their sandbox column.
func (b *table) BySandbox(ctx context.Context, keys []string) (reconcile.Rows, error) {
	return b.where(ctx, func(r *row) bool { return r.Sandbox != "" && slices.Contains(keys, r.Sandbox) })
}

// Explaining reads the platform's further table, whose rows explain the sandboxes of specs.
func (b *table) Explaining(ctx context.Context, _ int, values []string) ([]string, error) {
	b.platform.mu.Lock()
	defer b.platform.mu.Unlock()
	b.platform.advance()
	var held []string
	for _, value := range values {
		if slices.Contains(b.platform.specs, value) {
			held = append(held, value)
		}
	}
	return held, ctx.Err()
}

func (b *table) where(ctx context.Context, wanted func(*row) bool) (reconcile.Rows, error) {
	b.platform.mu.Lock()
	defer b.platform.mu.Unlock()
	b.platform.advance()
	rows := reconcile.Rows{Now: b.now()}
	for _, r := range b.shown() {
		if wanted(r) {
			rows.Tasks = append(rows.Tasks, b.read(r))
		}
	}
	slices.SortFunc(rows.Tasks, func(x, y reconcile.Task) int { return cmp.Compare(x.ID, y.ID) })
	return rows, ctx.Err()
}

// read is the row as a statement sees it now.
func (b *table) read(r *row) reconcile.Task {
	t := r.Task
	t.AsOf = b.now()
	if b.platform.kind.tasks.Events {
		t.Events = b.events(r.Sandbox)
	} else {
		b.logged(r, &t)
	}
	t.Version = strconv.Itoa(r.version)
	t.Status = b.platform.kind.status(t.State, t.Status)
	b.platform.tenancy.forge(&t)
	return t
}

// logged is a platform without events, whose workers write into other tables: no clock of the row
// moves while they work. Some move what a mark can see, the others nothing until they are done.
func (b *table) logged(r *row, t *reconcile.Task) {
	k := b.platform.tasks[r.ID]
	if k != nil {
		t.AttemptMark = strconv.Itoa(k.asked)
	}
	if k == nil || k.worker() == nil || k.worker().key != r.Sandbox || r.Sandbox == "" {
		t.Mark = t.UpdatedAt.String()
		return
	}
	acts := 0
	if w := k.worker(); w.speaks() {
		if at := w.lastAct(b.platform.now()); !at.IsZero() && w.act > 0 {
			acts = 1 + int(at.Sub(w.began)/w.act)
		}
	}
	t.Mark = fmt.Sprint(t.UpdatedAt, acts)
}

// status is the platform's own word for a state.
func (k kind) status(s reconcile.TaskState, word string) string {
	if s == reconcile.TaskUnknown {
		return word
	}
	if k.name != "coding-agent" {
		if s == reconcile.TaskStopped && k.name == "omoios" {
			return "failed" // what says that it was cancelled is its error
		}
		if s == reconcile.TaskStopped {
			return "cancelled"
		}
		return string(s)
	}
	switch s {
	case reconcile.TaskAssigned, reconcile.TaskRunning:
		return "processing"
	case reconcile.TaskFailed:
		return "error"
	}
	return string(s)
}

// change changes a row as the platform does: its version and its clock of changes move.
func (b *table) change(id string, change func(*row)) {
	r := b.rows[id]
	if r == nil {
		return
	}
	was := r.State
	change(r)
	if k := b.platform.tasks[id]; k != nil && r.State != was {
		k.entered = b.platform.now()
	}
	r.UpdatedAt = b.now()
	r.version++
	if b.platform.kind.name == "coding-agent" { // processing without a sandbox is only assigned
		if r.State == reconcile.TaskAssigned && r.Sandbox != "" {
			r.State = reconcile.TaskRunning
		}
	}
	if k := b.platform.tasks[id]; k != nil {
		k.changed(b.platform)
	}
}
