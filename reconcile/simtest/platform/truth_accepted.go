package platform

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// accepted says why the design, by its letter, lets a rule fail a task that does healthy work:
// nobody who sees rows, events and sandboxes could know better.
func (t truth) accepted(k *task, rule string) string {
	r := t.table.truly(k.id)
	switch {
	case r == nil:
	case r.State == reconcile.TaskPending && reconcile.RuleNamed(rule).RowFirst: // nothing works for it in a sandbox yet
	case rule == "heartbeat-lost" && k.restored && k.box != nil && r.Sandbox != k.box.key:
		return "a backup names another sandbox"
	case rule == "assigned-stale" && k.restored:
		return "a backup says that it was handed out long ago"
	case rule == "provisioning-stuck" && k.box.there() && k.box.state == reconcile.SandboxCreating &&
		t.watch.elapsed(k.box.ref.Provider, k.box.since) >= t.after(rule):
		return "its sandbox has been coming up for too long"
	case rule == "deadline-exceeded" && k.restored:
		return "a backup says that it has run for longer"
	case rule == "deadline-exceeded" && t.overdue(r):
		return "deadlines are authoritative" // "fail first, then terminate: authoritative"
	case rule == "idle-broken" && t.flaky(k.box):
		// "3 failed probes over 60s", while other sandboxes answer: the provider speaks against it.
		return "its probes failed again and again while others were answered"
	case (rule == "idle-broken" || rule == "executions-stuck") && k.box == nil && t.fleet().brokenBy(r.Sandbox):
		return "what has the name in its row is broken"
	case (rule == "inactive" || rule == "heartbeat-lost") && t.woundBefore(k, r.Sandbox):
		return "an earlier worker of its name has set the clock ahead"
	case rule == "heartbeat-lost" && k.box != nil && !k.box.shown &&
		k.box.former == nil && !t.watch.linked(k, k.box):
		// "find by link only for a task whose sandbox was never seen": it lost its label before that.
		return "nobody has ever seen its sandbox as its own"
	case rule == "sandbox-missing" && k.box.there() && !k.box.shown && k.box.former == nil && t.leftOutOf(k.box):
		// No listing of what is ours shows it, and who asks for its name is told that there is none.
		return "it lost its labels before any listing showed it, and searches left it out"
	case rule == "sandbox-missing" && k.box == nil && t.fleet().hadName(r.Sandbox):
		// "whose sandbox the ledger has seen, and whose sandbox is gone": what had its name went.
		return "the sandbox that had the name in its row is gone"
	case rule == "heartbeat-lost" && t.probeFailed(k):
		// "silence convicts … never without a failed probe": silent, and its probe fails, is dead by
		// the design's letter.
		return "it was not heard, and its probe failed"
	case rule == "inactive" && t.probeFailed(k) && (t.unheard(r) || t.flaky(k.box)):
		return "it did nothing, was not heard or its probes failed again and again, and its probe failed"
	}
	return ""
}

// leftOutOf reports whether a sandbox shows no label, and the last search of some process left something out.
func (t truth) leftOutOf(b *box) bool {
	s, _ := b.cloud.world.Sandbox(b.ref.ID)
	for _, p := range t.watch.procs {
		if len(s.Labels) == 0 && p.omits[b.ref.Provider] {
			return true
		}
	}
	return false
}

// overdue reports whether the row's own limits are exceeded by the database's clock.
func (t truth) overdue(r *row) bool {
	now := t.table.now()
	limit := r.Timeout
	if limit == 0 {
		limit = t.after("deadline-exceeded")
	}
	began := r.StartedAt
	if began.IsZero() {
		if k := t.tasks[r.ID]; k != nil {
			began = t.clocks.then(domainTasks, k.handed) // the ledger timed it, not longer than this
		}
	}
	k := t.tasks[r.ID]
	if k != nil && limit > 0 && t.watch.elapsed(domainLedger, k.handed) >= limit {
		return true // as the ledger saw
	}
	return limit > 0 && now.Sub(began) >= limit ||
		t.kind.tasks.DeadlineFails && !r.DeadlineAt.IsZero() && !now.Before(r.DeadlineAt)
}

// running are the rows in state running as they would be read now.
func (t truth) running() []reconcile.Task {
	var out []reconcile.Task
	for _, k := range t.order {
		if r := t.table.truly(k.id); r != nil && r.State == reconcile.TaskRunning && !r.Outside {
			out = append(out, t.table.read(r))
		}
	}
	return out
}

// wound reports whether a worker whose events carry a key has set its clock ahead.
func (t truth) wound(key string) bool {
	return slices.ContainsFunc(t.table.keys[key], func(w *worker) bool { return w.ahead > 0 })
}

// woundBefore reports whether an earlier worker of the task's key did, and the present one does not.
func (t truth) woundBefore(k *task, key string) bool {
	w := k.worker()
	return w != nil && w.ahead == 0 && t.wound(key)
}

// aMoment is how long a pass may be at work since it read the rows.
const aMoment = 15 * time.Second

// flaky reports whether the sandbox's probes failed, as often as the rule wants, while another
// sandbox of the provider answered.
func (t truth) flaky(b *box) bool {
	if b == nil || b.failed.IsZero() {
		return false
	}
	for _, other := range t.boxes {
		if other != b && other.cloud == b.cloud && other.proven.After(b.failed.Add(-aMoment)) {
			return true
		}
	}
	return false
}

// unheard reports whether no heartbeat of the row's worker can be seen that is within the limit.
func (t truth) unheard(r *row) bool {
	now := t.table.read(r)
	return now.AsOf.Sub(reconcile.Latest(now.Events.Heartbeat, now.HeartbeatAt)) > t.after("heartbeat-lost")
}

// probeFailed reports whether the newest probe of the task's sandbox failed.
func (t truth) probeFailed(k *task) bool { return k.box != nil && k.box.probed.Failed() }

// acceptedEnd says why the design lets a rule end a sandbox that is still needed.
func (t truth) acceptedEnd(b *box, a *reconcile.Action) string {
	r := (*row)(nil)
	if b.task != nil {
		r = t.table.truly(b.task.id)
	}
	switch {
	case a.Rule == reconcile.RuleOperator || a.Rule == reconcile.RuleEmergency:
		unknown := t.kind.tasks.None || b.task != nil && !t.watch.linked(b.task, b) // nobody can tell whose it is
		if a.Running || unknown || r == nil || r.State.Terminal() || r.State == reconcile.TaskPending {
			return "a person asked for it" // "sandboxes of running tasks need --include-running"
		}
	case a.Seq > 0 && r != nil && r.State.Terminal() && (b.state == reconcile.SandboxStopped ||
		b.state == reconcile.SandboxSuspended):
		return "its quarantine is over and nobody has brought it back"
	case a.Seq > 0 && r != nil && r.State.Terminal() && actionIn(r.Error) == a.Remedy:
		return "we ended its task, and the sandbox with it"
	case a.Seq > 0 && a.Task != "" && b.task != nil && a.Task != b.task.id && r != nil && r.State.Terminal() &&
		!isEvil(a.Task):
		return "a task that failed has its name" // "no other live task links to it"
	case a.Rule == "idle-broken" && t.flaky(b):
		return "its probes failed again and again while others were answered"
	case a.Rule == "orphan" && !b.shown && b.task != nil && !t.watch.linked(b.task, b):
		return "nobody has ever seen whose it is"
	case a.Rule == "orphan" && t.watch.harm().letGo(reconcile.SourceTasks, a.Subject):
		return "a person who was shown the sandbox said that the rows are right"
	case a.Rule == "over-age" && t.after("over-age") > 0 && t.watch.age(b) >= t.after("over-age"):
		return "older than the maximum age"
	case a.Rule == "duplicate" && b.task != nil && isEvil(b.task.id) && a.Task != b.task.id:
		return "its own tenant labelled it as another task's" // which it is one too many of, once its own row is over
	case a.Rule == "duplicate" && r != nil && r.Sandbox != "" && r.Sandbox != b.key:
		return "the row names another" // "two live sandboxes for one task, and the row names one of them"
	}
	return ""
}
