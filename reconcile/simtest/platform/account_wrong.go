package platform

import "github.com/sandkeeper/sandkeeper/reconcile"

// deadTask says why nobody works at a task and nobody will, although its row is live; "" when it is not so.
func (t truth) deadTask(k *task) string {
	r := t.table.truly(k.id)
	if r == nil || r.Outside || r.State != reconcile.TaskAssigned && r.State != reconcile.TaskRunning || t.work(k) != "" {
		return ""
	}
	b, w := k.box, k.worker()
	switch {
	case b == nil:
		return NeverMade
	case !b.there():
		return "its sandbox went away"
	case b.state == reconcile.SandboxStopped || b.state == reconcile.SandboxFailed:
		return "its sandbox stopped or failed"
	case !b.broken.IsZero():
		return "nothing works in its sandbox"
	case w == nil:
		return "its worker never came"
	case w.ended.IsZero():
		return "its worker hangs"
	}
	return "its worker died"
}

// leaks says why nobody needs a sandbox of ours that is billed; "" when it is not so.
func (t truth) leaks(b *box) string {
	billed := b.state == reconcile.SandboxRunning || b.state == reconcile.SandboxCreating
	if t.boxes[b.ref] != b || !b.there() || b.owner != ours || !billed || t.use(b) != "" {
		return ""
	}
	if b.task == nil {
		return "nobody knows it"
	}
	r := t.table.truly(b.task.id)
	switch {
	case r == nil:
		return "its row was deleted"
	case b.task.box != b:
		return "it is of an earlier attempt"
	case r.State == reconcile.TaskStopped:
		return "its task was stopped"
	case r.State == reconcile.TaskFailed:
		return "its task failed"
	case r.State == reconcile.TaskCompleted:
		return "its task is finished"
	}
	return "its task is dead"
}
