package platform

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// boxOf is the sandbox that an event names: by its task, or by its id; or the first that no task
// has, by its owner: leak, twin, foreign.
func (t fleet) boxOf(name string) *box {
	if k := t.tasks[name]; k != nil {
		return k.box
	}
	for _, b := range t.boxOrder {
		if b.ref.ID == name || b.there() && b.task == nil && t.boxes[b.ref] == b && (string(b.owner) == name ||
			name == "leak" && b.owner == ours) {
			return b
		}
	}
	return nil
}

// sandboxEvent is what happens to a sandbox at its provider.
func (t fleet) sandboxEvent(a *args) {
	b, what := t.boxOf(a.word(0)), a.word(1)
	if b == nil {
		return
	}
	if what == "reuse" {
		t.reuse(b, a)
		return
	}
	if !b.there() || t.pass(b, a) {
		return
	}
	t.count("sandbox " + what)
	t.tell("sandbox %s: %s", b.ref, what)
	now := t.now()
	switch what {
	case "break", "hang":
		b.broken = now
		if b.worker != nil {
			b.worker.end(now)
		}
	case "hollow":
		b.broken = now
		b.endWork(now)
	case "queue":
		b.broken = now
		if w := b.worker; w != nil {
			w.stuck = now
			closeSpan(w.acts, now)
		}
	case "mend":
		b.broken = time.Time{}
	case "pause", "resume", "stop":
		t.halt(b, what)
	}
	b.cloud.world.Change(b.ref.ID, func(s *simulated.Sandbox) {
		if (what == "unlabel" || what == "odd") && b.kept == nil {
			b.kept = s.Labels
		}
		alter(s, a, b)
	})
	t.lookAt(b)
	if b.task != nil {
		b.task.changed(t.Platform)
	}
}

// pass lets the sandbox go on as another one, or as another's, and reports whether that is what
// the event is about.
func (t fleet) pass(b *box, a *args) bool {
	switch a.word(1) {
	case "renew":
		t.renew(b, a.span())
	case "disown":
		t.disown(b, a.word(2))
	case "adopt":
		t.adopt(b, a.word(2))
	default:
		return false
	}
	return true
}

// alter is what an event changes in the world.
func alter(s *simulated.Sandbox, a *args, b *box) {
	now := b.cloud.world.Now()
	switch a.word(1) {
	case "break":
		s.Exec, s.Files = simulated.Dead, simulated.Dead
		if a.word(2) == "files" {
			s.Exec, s.Files = simulated.Healthy, simulated.NoPath
		}
	case "hang":
		s.Exec = simulated.Hung
	case "mend":
		s.Exec, s.Files, s.Queued, s.Usage = simulated.Healthy, simulated.Healthy, nil, reconcile.Resources{}
	case "die", "vanish":
		s.Gone, s.State = true, reconcile.SandboxEnded
	case "fail":
		s.State, s.Raw, s.Error, s.UpdatedAt = reconcile.SandboxFailed, "error", "disk quota exceeded", now
	case "stuck":
		s.Stuck = true
	case "refuse":
		s.Refuse = "sandbox is protected"
	case "hollow":
		s.NoContainer, s.Exec, s.Files = true, simulated.Lost, simulated.Lost
	case "queue":
		s.Queued = []time.Time{now}
	case "unlabel":
		s.Labels = nil
	case "relabel":
		s.Labels = map[string]string{labelOwner: "ours"}
		if b.task != nil && b.cloud.byLabel {
			s.Labels[labelTask] = b.task.id
		}
	case "odd":
		s.Labels = map[string]string{labelOwner: "ours", labelTask: "not/an id"}
	case "spin":
		s.Usage = reconcile.Resources{CPUPercent: 99, MemoryUsed: 900 << 20, MemoryTotal: 1 << 30}
	}
}

// halt stops, pauses or brings back a sandbox as the platform or its provider does.
func (t fleet) halt(b *box, what string) {
	world := b.cloud.world
	switch what {
	case "stop":
		_, _ = world.Halt(b.ref.ID) // busy: nothing happens
	case "pause":
		world.Change(b.ref.ID, func(s *simulated.Sandbox) {
			if s.State == reconcile.SandboxRunning && !s.Doomed && !s.Busy() {
				s.State, s.Raw, s.UpdatedAt = reconcile.SandboxSuspended, "paused", world.Now()
			}
		})
	case "resume":
		_, _ = world.Start(b.ref.ID)
	}
}

// reuse gives the id of a sandbox that is over to somebody else.
func (t fleet) reuse(b *box, a *args) {
	s, known := b.cloud.world.Sandbox(b.ref.ID)
	if b.there() || !known || !s.Gone || b.cloud.entry.Owns.Referenced { // there its row makes it ours
		return
	}
	t.count("sandbox reuse")
	t.tell("the id %s is used again", b.ref)
	o, name := foreign, s.FormerName()
	if b.cloud.entry.Owns.Prove(name, nil) && a.word(2) != "twin" {
		name = t.nameless(b.cloud, o) // by its name it would be ours
	}
	fresh := b.cloud.world.Put(simulated.Sandbox{ID: b.ref.ID, Name: name,
		Labels: map[string]string{labelOwner: "theirs"}})
	if a.word(2) == "twin" {
		b.cloud.world.Change(fresh.ID, func(s *simulated.Sandbox) { s.Labels = twinLabels(b.cloud, "z1") })
		o = t.twinOf(b.cloud)
	}
	t.put(b.cloud, fresh, o).reused = true
}

// twinOf is whose a sandbox is that another environment of the platform makes, with our labels.
// Where our own config says that nobody else makes any, or where sandboxes name no task that
// could tell them apart, the labels are the whole proof, and it is ours by the design's letter:
// "proven to be this installation's, by labels".
func (t fleet) twinOf(c *cloud) owner {
	switch {
	case c.entry.Owns.Referenced:
		return foreign
	case !c.byLabel || t.policy.Providers[c.name].Exclusive:
		return ours
	}
	return twins
}

// leaked is whose a sandbox is that somebody of us forgot: where only a row makes one ours, it is
// nobody's by the design's letter.
func (t fleet) leaked(c *cloud) owner {
	if c.entry.Owns.Referenced {
		return foreign
	}
	return ours
}

func twinLabels(c *cloud, task string) map[string]string {
	labels := map[string]string{labelOwner: "ours"}
	if c.byLabel {
		labels[labelTask] = task
	}
	return labels
}

// templateEvent is what becomes of a template at every provider.
func (t fleet) templateEvent(a *args) {
	t.count("template " + a.word(1))
	t.tell("template %s is %s", a.word(0), a.word(1))
	for _, name := range t.names {
		c := t.clouds[name]
		now := c.world.Now()
		tpl := simulated.Template{Name: a.word(0), CreatedAt: now, LastUsedAt: now}
		switch a.word(1) {
		case "missing":
			c.world.RemoveTemplate(a.word(0))
			continue
		case "inactive":
			tpl.State = reconcile.TemplateInactive
		case "failed":
			tpl.State, tpl.Error = reconcile.TemplateFailed, "build failed"
		case "expiring":
			tpl.CreatedAt = now.Add(-simulated.UnusedFor + 24*time.Hour)
			tpl.LastUsedAt = tpl.CreatedAt
		}
		c.world.PutTemplate(tpl)
	}
}

// places are the sandboxes that are there, of one owner, in the order of their making.
func (t fleet) places(o owner) []*box {
	return slices.DeleteFunc(slices.Clone(t.boxOrder), func(b *box) bool { return !b.there() || b.owner != o })
}
