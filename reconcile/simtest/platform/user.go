package platform

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// userEvent is what a person does with a task.
func (t users) userEvent(a *args) {
	k := t.tasks[a.word(0)]
	if k == nil {
		return
	}
	r, what := t.table.rows[k.id], a.word(1)
	t.tell("user of %s: %s", k.id, what)
	switch {
	case r == nil:
	case what == "continue":
		k.touched = t.now()
		t.continued(k, r, a)
	case what == "stop" && r.State.Live():
		t.table.change(k.id, func(r *row) { r.State = reconcile.TaskStopped })
		t.count("user stop")
	case what == "delete":
		t.deleteRow(k, r)
	case what == "keep" && r.State.Terminal() && t.kind.name != "omoios":
		t.keep(k, max(a.span(), time.Minute))
	case what == "answer":
		t.answer(k)
	case what == "retry":
		t.orchestrator().retry(k)
	case what == "touch":
		k.touched = t.now()
		t.table.change(k.id, func(*row) {})
		t.count("user touch")
	}
	k.changed(t.Platform)
}

// continued is a finished task that its user goes on with, in the same sandbox where that is
// still there.
func (t users) continued(k *task, r *row, a *args) {
	if r.State != reconcile.TaskCompleted && r.State != reconcile.TaskFailed {
		return
	}
	b := k.box
	if !b.there() || b.task != k || !b.broken.IsZero() ||
		b.state != reconcile.SandboxRunning && b.state != reconcile.SandboxStopped &&
			b.state != reconcile.SandboxSuspended {
		t.fresh(k)
		return
	}
	t.count("user continue")
	k.work = a.dur("work", k.work)
	if b.state != reconcile.SandboxRunning {
		_, _ = b.cloud.world.Start(b.ref.ID) // busy: it comes later, or never
		t.fleet().lookAt(b)
	}
	k.asked++
	k.handed, k.never = t.now(), false
	t.table.change(k.id, func(r *row) {
		r.State, r.Sandbox, r.Session, r.Error = reconcile.TaskAssigned, k.key, "", ""
		if t.kind.tasks.HasAssigned {
			r.AssignedAt = t.maker().stamp(0)
		}
	})
	n := k.attempt
	t.later(time.Second, func() { t.orchestrator().await(k, n, b) })
}

// fresh hands a task out anew, in another sandbox.
func (t users) fresh(k *task) {
	t.count("user continue anew")
	k.asked++
	t.table.change(k.id, func(r *row) { r.State, r.Sandbox, r.Session, r.Error = reconcile.TaskPending, "", "", "" })
	t.orchestrator().pickUp(k, k.pick)
}

// deleteRow deletes a task: the row goes, or, on a platform that keeps it, is stopped by that.
func (t users) deleteRow(k *task, r *row) {
	t.count("user delete")
	if t.kind.name == "coding-agent" {
		if r.State != reconcile.TaskStopped {
			t.table.change(k.id, func(r *row) { r.State = reconcile.TaskStopped })
		}
		return
	}
	delete(t.table.rows, k.id)
}

func (t users) keep(k *task, lasts time.Duration) {
	k.kept = t.now().Add(lasts)
	until := t.maker().stamp(-lasts)
	t.table.change(k.id, func(r *row) { r.KeepAliveUntil = until })
	k.touched = t.now()
	t.count("user keep")
}

// answer is what a waiting worker waits for.
func (t users) answer(k *task) {
	w := k.worker()
	if w == nil || !w.idles() || !w.ended.IsZero() {
		return
	}
	t.count("user answer")
	w.work(t.now())
	if k.work > 0 {
		t.orchestrator().plan(k, w)
	}
}
