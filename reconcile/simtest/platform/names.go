package platform

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// holder is the sandbox that is there and has a name, where names are used once at a time; nil when
// there is none.
func (t fleet) holder(c *cloud, name string) *box {
	for _, b := range t.boxOrder {
		if b.cloud == c && b.name == name && b.there() && (c.byName || c.lasting) {
			return b
		}
	}
	return nil
}

// hadName reports whether a sandbox had a name and is over.
func (t fleet) hadName(name string) bool {
	return slices.ContainsFunc(t.boxOrder, func(b *box) bool {
		return b.cloud.byName && b.name == name && !b.there()
	})
}

// brokenBy reports whether nothing works in what has a name.
func (t fleet) brokenBy(name string) bool {
	return slices.ContainsFunc(t.boxOrder, func(b *box) bool { return b.name == name && b.there() && !b.broken.IsZero() })
}

// takeOver lets a task work in the sandbox that has its name already: its own of an earlier
// attempt, or that of a task that is over. It reports false when somebody else needs it.
func (t fleet) takeOver(k *task, b *box) bool {
	if was := b.task; was != nil && was != k {
		if r := t.table.truly(was.id); r != nil && !r.State.Terminal() {
			return false
		}
	}
	if !b.cloud.lasting || b.owner != ours || b.kept != nil {
		return false
	}
	t.count("name used again")
	t.tell("task %s goes on in sandbox %s", k.id, b.ref)
	b.endWork(t.now())
	b.task, b.used, k.box = k, t.now(), b
	b.key = b.cloud.keyOf(b) // who asks for it by its name is told the id that it has now
	if t.kind.platform {
		b.key = k.key
	}
	k.key = b.key
	t.setLabels(b, t.maker().labels(b.cloud, k))
	t.table.change(k.id, func(r *row) { r.Sandbox = b.key }) // its row says so before it is used
	if b.state != reconcile.SandboxRunning {
		_, _ = b.cloud.world.Start(b.ref.ID) // busy: it comes later, or never
		t.lookAt(b)
	}
	k.changed(t.Platform)
	return true
}

// giveUp lets the platform fail a task for which no sandbox can be made, because another live one
// has its name: who hears that one, by the name, takes both for alive.
func (t fleet) giveUp(k *task) {
	r := t.table.rows[k.id]
	if r == nil || k.box != nil || r.State != reconcile.TaskAssigned && r.State != reconcile.TaskRunning {
		return
	}
	if b := t.holder(t.cloud(k.cloud), r.Sandbox); b != nil {
		t.table.change(k.id, func(r *row) { r.State, r.Error = reconcile.TaskFailed, errTaken.Error() })
	}
}

func (t fleet) setLabels(b *box, labels map[string]string) {
	b.labelled = t.now()
	b.cloud.world.Change(b.ref.ID, func(s *simulated.Sandbox) { s.Labels, s.UpdatedAt = labels, b.cloud.world.Now() })
}

// renew ends a sandbox and lets a later one of its name go on with its work: at once with the
// worker that it has, or after a while with a new one, when somebody resumes it.
func (t fleet) renew(b *box, after time.Duration) {
	if !b.cloud.lasting || b.owner != ours || b.kept != nil {
		return
	}
	t.count("sandbox renew")
	t.tell("sandbox %s ends, and a later one of its name goes on", b.ref)
	k, w := b.task, b.worker
	if after == 0 && k != nil && k.box == b && w.well() {
		if next := t.next(b); next != nil {
			b.worker, next.worker, w.box = nil, w, next
			w.pause(t.now())
		}
		t.over(b)
		return
	}
	t.over(b)
	if k == nil || k.box != b {
		return
	}
	n := k.attempt
	t.later(max(after, time.Second), func() {
		if r := t.table.rows[k.id]; r == nil || !r.State.Live() || !k.mine(n) || k.box != b || t.calm {
			return
		}
		if next := t.next(b); next != nil {
			t.orchestrator().await(k, n, next)
		}
	})
}

// over ends a sandbox at once.
func (t fleet) over(b *box) {
	b.cloud.world.Change(b.ref.ID, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
	t.lookAt(b)
}

// next is the sandbox that comes after another one of its name; nil when the provider makes none.
// Nobody writes it into a row that holds the id of the former.
func (t fleet) next(b *box) *box {
	old, _ := b.cloud.world.Sandbox(b.ref.ID)
	s, err := b.cloud.world.Create(simulated.Sandbox{Template: old.Template, Name: b.name, Labels: old.Labels})
	if err != nil {
		return nil
	}
	next := t.put(b.cloud, s, ours)
	next.task, next.key, next.former = b.task, b.key, b
	b.task.box = next
	b.task.changed(t.Platform)
	return next
}
