package platform

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// plan puts down when the worker will be done.
func (t orchestrator) plan(k *task, w *worker) {
	if k.work > 0 {
		t.later(k.work, func() {
			if w.well() && !w.waiting && !t.calm {
				t.finish(k, w, k.record)
			}
		})
	}
}

// finish is the end of the work: the event, the row and the sandbox, of which each may be lost.
func (t orchestrator) finish(k *task, w *worker, record string) {
	if !w.done.IsZero() {
		return
	}
	now := t.now()
	t.count("finish " + record)
	t.tell("worker of %s is done, its row: %s", k.id, record)
	w.done, k.touched = now, now
	closeSpan(w.beats, now)
	closeSpan(w.acts, now)
	write := func() {
		if r := t.table.rows[k.id]; r != nil && r.State.Live() && k.worker() == w {
			t.table.change(k.id, func(r *row) { r.State = reconcile.TaskCompleted })
			t.leave(k, w.box)
		}
	}
	switch record {
	case "row":
		write()
	case "late":
		t.later(90*time.Second, write)
	}
	k.changed(t.Platform)
}

// leave is what becomes of the sandbox of a finished task.
func (t orchestrator) leave(k *task, b *box) {
	switch k.end {
	case "now":
		t.later(3*time.Second, func() { t.destroy(k, b) })
	case "keep":
		k.kept = t.now().Add(k.keep)
		if t.kind.name != "omoios" {
			until := t.maker().stamp(-k.keep)
			t.table.change(k.id, func(r *row) { r.KeepAliveUntil = until })
		}
		t.later(k.keep, func() { t.destroy(k, b) })
	}
	t.count("left " + k.end)
}

// destroy is the platform's own end of a sandbox, if nobody works in it again.
func (t orchestrator) destroy(k *task, b *box) {
	r := t.table.rows[k.id]
	if b.there() && b.owner == ours && b.task == k && (r == nil || r.State.Terminal() || k.box != b) {
		_, _ = b.cloud.world.Destroy(b.ref.ID) // refused or busy: it stays, as in life
	}
}

// written is what the platform makes of a row that the janitor wrote.
func (t orchestrator) written(id string) {
	k := t.tasks[id]
	if k == nil {
		return
	}
	k.changed(t.Platform)
	if w := k.worker(); w != nil && w.ended.IsZero() {
		t.later(2*time.Minute, func() { t.notice(k, w) })
	}
	switch r := t.table.rows[id]; {
	case r.State == reconcile.TaskPending:
		t.pickUp(k, k.pick)
	case r.State == reconcile.TaskFailed && k.retry > 0 && !t.calm && r.Attempts < k.max:
		t.later(k.retry, func() { t.retry(k) })
	}
}

// notice lets a worker go that learns that its task is over.
func (t orchestrator) notice(k *task, w *worker) {
	if r := t.table.truly(k.id); r == nil || r.State.Terminal() || r.Sandbox != w.key || w.began.Before(k.handed) {
		w.end(t.now())
	}
}

// retry is a person, or a program, that tries a failed task again.
func (t orchestrator) retry(k *task) {
	if r := t.table.rows[k.id]; r == nil || r.State != reconcile.TaskFailed || t.calm {
		return
	}
	t.count("user retry")
	t.tell("task %s is tried again", k.id)
	t.table.change(k.id, func(r *row) {
		r.State, r.Sandbox, r.Session, r.Error = reconcile.TaskPending, "", "", ""
		r.Attempts++
	})
	t.pickUp(k, k.pick)
}
