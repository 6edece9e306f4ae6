package platform

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// platformEvent is what happens to the platform as a whole, and to the accounts it shares.
func (t mishaps) platformEvent(a *args) {
	what := a.word(0)
	t.count("platform " + what)
	t.tell("platform: %v", a.words)
	b := t.table
	switch what {
	case "backup":
		b.backup = copyRows(b.rows)
	case "restore":
		t.restoreBackup()
	case "empty":
		t.empty()
	case "back":
		t.fill()
	case "standby":
		b.follow(a.dur("lag", 0), a.span())
	case "primary":
		b.standby = false
	case "foreign", "twins", "leak", "specs":
		t.strangers(a)
	case "batch":
		t.batch(a)
	case "massacre":
		t.massacre(a)
	case "labels":
		t.loseLabels(a)
	case "touch":
		for _, k := range t.order {
			b.change(k.id, func(*row) {})
		}
	}
	for _, k := range t.order {
		k.changed(t.Platform)
	}
}

func copyRows(rows map[string]*row) map[string]*row {
	out := make(map[string]*row, len(rows))
	for id, r := range rows {
		own := *r
		out[id] = &own
	}
	return out
}

// restoreBackup sets all rows back to what they were; what came since is lost.
func (t mishaps) restoreBackup() {
	b := t.table
	if b.backup == nil {
		return
	}
	now := copyRows(b.backup)
	for id, r := range now {
		r.version += 1000 // a restored row is a new one
		if old := b.rows[id]; old != nil {
			r.version = max(r.version, old.version+1)
		}
	}
	b.rows, b.hidden = now, nil
	for _, k := range t.order {
		k.restored = true
		if w := k.worker(); w != nil && w.ended.IsZero() {
			t.later(2*time.Minute, func() { t.orchestrator().notice(k, w) })
		}
		if r := b.rows[k.id]; r != nil && r.State == reconcile.TaskPending {
			t.orchestrator().pickUp(k, k.pick)
		}
	}
}

// empty takes all rows out of the table. Of fewer than three live ones the design says that
// they may well have been deleted by their users: then that is the truth. A standby is not believed, so that nobody
// knows of those that came while it was read.
func (t mishaps) empty() {
	b := t.table
	live := 0
	for id, r := range b.rows {
		if r.State.Live() && !r.Outside && !(b.standby && b.trusted[id] == nil) {
			live++
		}
	}
	if b.hidden == nil && live >= 3 {
		b.hidden = b.rows
	}
	b.rows = map[string]*row{}
}

// fill brings back what an emptied table held.
func (t mishaps) fill() {
	b := t.table
	if b.hidden == nil {
		return
	}
	for id, r := range b.hidden {
		if b.rows[id] == nil {
			b.rows[id] = r
		}
	}
	b.hidden = nil
}

// strangers are sandboxes that no row of ours explains: other people's in the same account,
// another environment's that look like ours, and our own that somebody forgot.
func (t mishaps) strangers(a *args) {
	c := t.fleet().cloud(a.text("provider", ""))
	age := a.dur("age", time.Hour)
	for i := range a.count(1, 1) {
		s := simulated.Sandbox{CreatedAt: c.world.Now().Add(-age), Template: a.text("template", "light"),
			Size: reconcile.Size{CPU: float64(a.num("cpu", 0))}}
		o := t.fleet().leaked(c)
		switch a.word(0) {
		case "foreign":
			o, s.Labels = foreign, map[string]string{"team": "other"}
		case "twins":
			o, s.Labels = t.fleet().twinOf(c), twinLabels(c, fmt.Sprintf("z%d", len(t.boxes)+i))
		case "specs":
			if len(t.kind.tasks.ExplainedBy) == 0 {
				continue
			}
			name := fmt.Sprintf("p%d", len(t.boxes)+i)
			t.specs = append(t.specs, name)
			o, s.Labels = spec, map[string]string{labelOwner: "ours", labelSpec: name}
		default:
			s.Labels = map[string]string{labelOwner: "ours"}
		}
		t.fleet().stranger(c, o, s).born = t.now().Add(-age)
	}
}

// batch makes many tasks alike at once.
func (t mishaps) batch(a *args) {
	for i := range a.count(1, 10) {
		id := fmt.Sprintf("b%d", len(t.order)+i)
		words := []string{id, "new"}
		for _, key := range slices.Sorted(maps.Keys(a.keys)) {
			words = append(words, key+"="+a.keys[key])
		}
		t.maker().taskEvent(argsOf(words))
	}
}

// massacre ends all sandboxes of ours with their workers, but for a few.
func (t mishaps) massacre(a *args) {
	for i, b := range t.fleet().places(ours) {
		if i < a.num("kept", 0) {
			continue
		}
		b.cloud.world.Change(b.ref.ID, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
		t.fleet().lookAt(b)
	}
}

// loseLabels takes the labels of all our sandboxes for a while, as a provider did once.
func (t mishaps) loseLabels(a *args) {
	for _, b := range t.fleet().places(ours) {
		if only := a.text("provider", b.ref.Provider); only != b.ref.Provider {
			continue
		}
		kept := map[string]string(nil)
		b.cloud.world.Change(b.ref.ID, func(s *simulated.Sandbox) { kept, s.Labels = s.Labels, nil })
		if kept == nil {
			continue
		}
		b.kept = kept
		if d := a.span(); d > 0 {
			t.later(d, func() { t.labelAgain(b) })
		}
	}
}

// labelAgain gives a sandbox its labels back.
func (t mishaps) labelAgain(b *box) {
	if b.kept == nil || t.boxes[b.ref] != b {
		return
	}
	b.cloud.world.Change(b.ref.ID, func(s *simulated.Sandbox) { s.Labels = b.kept })
	b.kept = nil
}

// Calm ends what is wrong by the Platform's own verbs and lets nobody make new disagreements:
// who works, works on; what was begun is finished; nobody is made any more.
func (t *Platform) Calm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
	t.calm = true
	t.pipeline.up(t.now())
	t.down = time.Time{}
	t.table.standby = false
	t.mishaps().fill()
	for _, b := range t.boxOrder {
		t.mishaps().labelAgain(b)
	}
	for _, name := range t.names {
		world := t.clouds[name].world
		for _, s := range world.Sandboxes() {
			world.Change(s.ID, func(s *simulated.Sandbox) { s.Stuck, s.Locked, s.Refuse = false, false, "" })
		}
	}
	for _, k := range t.order {
		t.mishaps().calmDown(k)
	}
}

// calmDown ends what would go wrong by itself later: a limit that will be exceeded, a worker
// that nobody hears or that is too slow.
func (t mishaps) calmDown(k *task) {
	k.crash, k.firm, k.again, k.retry = "", false, 0, 0
	w := k.worker()
	t.fleet().giveUp(k)
	if r := t.table.rows[k.id]; r != nil && r.State.Live() && w != nil && !w.done.IsZero() && r.Sandbox == w.key {
		t.table.change(k.id, func(r *row) { r.State = reconcile.TaskCompleted }) // which is a person's to repair
	}
	if w == nil || !w.ended.IsZero() {
		return
	}
	for i := range w.mute {
		if m := &w.mute[i]; m.open() || m.to.After(t.now()) {
			m.to = t.now()
		}
	}
	w.ahead = 0
	r := t.table.rows[k.id]
	if r == nil || !w.well() || r.State != reconcile.TaskRunning {
		return
	}
	if k.limit > 0 || k.by > 0 || t.policy.Rules["deadline-exceeded"].After > 0 || t.policy.Rules["over-age"].After > 0 {
		k.end = "now"
		t.orchestrator().finish(k, w, "row")
		return
	}
	if w.act > 30*time.Second {
		closeSpan(w.acts, t.now())
		w.act = 30 * time.Second
		w.work(t.now())
	}
}
