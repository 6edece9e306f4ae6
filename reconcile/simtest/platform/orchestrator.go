package platform

import (
	"errors"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// pickUp makes the orchestrator hand a pending task out after a while.
func (t orchestrator) pickUp(k *task, after time.Duration) { t.later(after, func() { t.handOut(k) }) }

// handOut begins an attempt: the row and the sandbox, in the order of the task's habits. The
// orchestrator may crash in between, which is the most common way to leave one without the other.
func (t orchestrator) handOut(k *task) {
	if now := t.now(); now.Before(t.down) {
		t.pickUp(k, t.down.Sub(now)+time.Second)
		return
	}
	if r := t.table.rows[k.id]; r == nil || r.State != reconcile.TaskPending || r.Outside {
		return
	}
	k.attempt++
	k.box, k.never, k.handed = nil, false, t.now()
	k.key = t.maker().keyOf(k)
	n, crash := k.attempt, k.crash
	k.crash = ""
	if crash != "" {
		t.count("orchestrator crash " + crash)
		t.tell("the orchestrator crashes at %s of %s", crash, k.id)
		if k.again > 0 {
			t.later(k.again, func() { t.handOut(k) })
		}
	}
	first, second, wait := t.assign, t.create, k.row
	if k.row < 0 {
		first, second, wait = t.create, t.assign, -k.row
	}
	if crash != "sandbox" || k.row < 0 {
		first(k, n, crash)
	}
	switch {
	case crash == "row", crash == "sandbox" && k.row < 0:
		return
	case crash == "sandbox":
		t.create(k, n, crash)
		return
	}
	t.later(wait, func() { second(k, n, crash) })
}

// mine reports whether the attempt is still the present one.
func (k *task) mine(n int) bool { return k.attempt == n }

// assign writes the row: it is handed out.
func (t orchestrator) assign(k *task, n int, _ string) {
	r := t.table.rows[k.id]
	if r == nil || r.State != reconcile.TaskPending || !k.mine(n) {
		return
	}
	t.tell("task %s is handed out, attempt %d", k.id, n)
	t.table.change(k.id, func(r *row) {
		r.State, r.Sandbox, r.Session, r.Error = reconcile.TaskAssigned, k.key, "", ""
		r.Template, r.Provider = t.maker().templateColumn(k), t.maker().providerColumn(k)
		if t.kind.tasks.HasAssigned {
			r.AssignedAt = t.maker().stamp(0)
		}
	})
}

// create makes the sandbox of the attempt: from its template, else from an image.
func (t orchestrator) create(k *task, n int, crash string) {
	r := t.table.rows[k.id]
	if r == nil || !r.State.Live() || !k.mine(n) || k.box != nil {
		return
	}
	c := t.fleet().cloud(k.cloud)
	_, err := t.make(k, c, k.temp)
	if err != nil {
		t.failedStart(k, n, err)
		return
	}
	t.bind(k, n, crash)
}

// errTaken is what a provider says where names are used once at a time.
var errTaken = errors.New("a sandbox of this name exists")

func (t orchestrator) make(k *task, c *cloud, template string) (*box, error) {
	if b := t.fleet().holder(c, t.fleet().boxName(k)); b != nil && t.fleet().takeOver(k, b) {
		return b, nil
	} else if b != nil {
		return nil, errTaken
	}
	made := simulated.Sandbox{Template: template, Name: t.fleet().boxName(k), Labels: t.maker().labels(c, k)}
	s, err := c.world.Create(made)
	if err != nil {
		t.tell("no sandbox for %s: %s", k.id, err)
		return nil, err
	}
	t.maker().own(k, c, s)
	t.tell("sandbox %s is created for %s", k.box.ref, k.id)
	return k.box, nil
}

// failedStart falls back from the template to an image, or leaves the row as it is, with a
// note or without one.
func (t orchestrator) failedStart(k *task, n int, err error) {
	t.count("start refused")
	if !k.firm && k.temp != "" {
		t.later(10*time.Second, func() {
			if k.box != nil {
				return // it has claimed a spare since
			}
			if _, err := t.make(k, t.fleet().cloud(k.cloud), ""); err == nil && k.mine(n) {
				t.count("fall-back to image")
				t.bind(k, n, "")
			}
		})
		return
	}
	if k.note {
		t.table.change(k.id, func(r *row) { r.Error = err.Error() })
	}
}

// bind writes into the row which sandbox it is, where the row names it, and waits for it.
func (t orchestrator) bind(k *task, n int, crash string) {
	b := k.box
	if !t.kind.platform && crash != "bind" && crash != "sandbox" {
		t.later(k.bind, func() { // some name it only when minutes of setting it up are over
			if r := t.table.rows[k.id]; r != nil && r.State == reconcile.TaskAssigned && k.mine(n) && k.box == b {
				t.table.change(k.id, func(r *row) { r.Sandbox = b.key })
			}
		})
	}
	if crash != "sandbox" {
		t.later(5*time.Second, func() { t.await(k, n, b) })
	}
}

// await waits for the sandbox to run, then for its worker.
func (t orchestrator) await(k *task, n int, b *box) {
	switch {
	case !b.there() || !k.mine(n):
	case b.state == reconcile.SandboxCreating:
		t.later(5*time.Second, func() { t.await(k, n, b) })
	case b.state == reconcile.SandboxRunning:
		b.setUp = t.now().Add(k.boot)
		t.later(k.boot, func() { t.start(k, n, b) })
	}
}

// start is the worker's: it says so and writes the row. One that is not wanted any more goes.
func (t orchestrator) start(k *task, n int, b *box) {
	r := t.table.rows[k.id]
	if r != nil && r.State == reconcile.TaskPending && k.row < 0 && k.mine(n) && t.now().Sub(b.born) < 5*time.Minute {
		t.later(5*time.Second, func() { t.start(k, n, b) }) // its row is about to be written
		return
	}
	unwanted := r == nil || r.State != reconcile.TaskAssigned && r.State != reconcile.TaskRunning
	unwanted = unwanted || k.never || !k.mine(n) || k.box != b
	if unwanted || !b.there() || b.state != reconcile.SandboxRunning || !b.broken.IsZero() {
		t.count("worker never started")
		return
	}
	t.count("worker started")
	t.tell("worker of %s starts in %s", k.id, b.ref)
	w := beginWorker(t.Platform, k, b)
	t.table.keys[b.key] = append(t.table.keys[b.key], w)
	t.table.change(k.id, func(r *row) {
		r.State, r.Session = reconcile.TaskRunning, "s"+b.key
		if r.Sandbox == "" {
			r.Sandbox = b.key // the worker tells where it is
		}
		t.maker().startRow(r, 0)
	})
	t.plan(k, w)
}

func (t orchestrator) orchestratorEvent(a *args) {
	t.count("orchestrator " + a.word(0))
	t.tell("orchestrator: %s", a.word(0))
	t.down = time.Time{}
	if a.word(0) == "down" {
		t.down = t.now().Add(max(a.span(), time.Minute))
	}
}
