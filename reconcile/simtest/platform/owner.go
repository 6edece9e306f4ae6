package platform

import (
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// disown hands a sandbox of ours to somebody else: its labels say so, and it goes on. Where its
// name or a row is the proof that it is ours, labels change nothing.
func (t fleet) disown(b *box, to string) {
	if b.owner != ours || len(b.cloud.entry.Owns.Labels) == 0 {
		return
	}
	t.count("sandbox disown")
	t.tell("sandbox %s is handed to somebody else", b.ref)
	o, labels := foreign, map[string]string{labelOwner: "theirs"}
	if to == "twin" {
		o, labels = t.twinOf(b.cloud), twinLabels(b.cloud, "z2")
	}
	t.setLabels(b, labels)
	b.endWork(t.now())
	if b.task != nil && b.task.box == b {
		b.task.never = true // its attempt, if it only began
	}
	t.passed(b, o).taken = true
	if b.task != nil {
		b.task.changed(t.Platform)
	}
}

// passed is the same sandbox as another owner has it.
func (t fleet) passed(b *box, o owner) *box {
	s, _ := b.cloud.world.Sandbox(b.ref.ID)
	next := t.put(b.cloud, s, o)
	next.name, next.reused, next.since = b.name, true, b.since // what has failed has done so since then, whosever it is
	return next
}

// adopt makes a sandbox ours that was not: a spare that a task claims, or one that somebody
// gives to us and nobody uses.
func (t fleet) adopt(b *box, id string) {
	if b.owner == ours || len(b.cloud.entry.Owns.Labels) == 0 || t.truth().calledBy(b) {
		return // or a live row takes it for its own still
	}
	k := t.tasks[id]
	if k != nil && !t.wants(k, b) {
		return
	}
	t.count("sandbox adopt")
	t.tell("sandbox %s is ours from now on %s", b.ref, id)
	if k == nil {
		t.setLabels(b, map[string]string{labelOwner: "ours"})
		t.passed(b, ours)
		return
	}
	t.setLabels(b, t.maker().labels(b.cloud, k))
	s, _ := b.cloud.world.Sandbox(b.ref.ID)
	t.maker().own(k, b.cloud, s)
	t.table.change(k.id, func(r *row) { r.Sandbox = k.key }) // its row says so before it is used
	t.orchestrator().bind(k, k.attempt, "")
}

// wants reports whether a task was handed out and has no sandbox yet.
func (t fleet) wants(k *task, b *box) bool {
	r := t.table.rows[k.id]
	return r != nil && r.State == reconcile.TaskAssigned && k.box == nil && t.cloud(k.cloud) == b.cloud &&
		b.state == reconcile.SandboxRunning
}

// stranger makes a sandbox that no row of ours explains.
func (t fleet) stranger(c *cloud, o owner, s simulated.Sandbox) *box {
	s.Name = t.nameless(c, o)
	return t.put(c, c.world.Put(s), o)
}
