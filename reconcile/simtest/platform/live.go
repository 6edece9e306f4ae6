package platform

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Wrong is what is still wrong in truth once the faults are over, one line each, as far as the
// rules that are enforced are to repair it: the ground of `live`, "when faults stop, every
// disagreement is repaired". What the design leaves to a person is not among it.
func (t *Platform) Wrong() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
	var out []string
	for _, k := range t.order {
		if why := t.truth().wrongRow(k); why != "" && !t.tenancy.excused(k.id) {
			out = append(out, why)
		}
	}
	for _, b := range t.boxOrder {
		if why := t.truth().wrongBox(b); why != "" && !nobodys(t, b) && (b.task == nil || !t.tenancy.excused(b.task.id)) {
			out = append(out, why)
		}
	}
	return out
}

// Evils reports whether a task or a sandbox is the evil tenant's, or was made to seem so: what is wrong with that may
// stay so.
func (t *Platform) Evils(id string, ref reconcile.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.boxes[ref]; b != nil && b.task != nil {
		return t.tenancy.excused(b.task.id)
	}
	return t.tenancy.excused(id)
}

// Nobodys reports whether nothing tells which tenant's a sandbox is, so that it may be that of any: of one, too,
// that only seems to have none.
func (t *Platform) Nobodys(ref reconcile.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return nobodys(t, t.boxes[ref])
}

func nobodys(t *Platform, b *box) bool {
	return t.tenancy.tenants > 0 && b != nil && (b.task == nil || t.table.rows[b.task.id] == nil ||
		!t.table.rows[b.task.id].names(b))
}

// Ageless reports whether a clock by which a sandbox or its row is as old as it is has jumped since either was made, or
// whether it truly was there before the task was handed out, and is another's: names may be given again.
func (t *Platform) Ageless(task string, ref reconcile.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := meant(t, task, ref)
	if b == nil {
		return false
	}
	if k := t.tasks[task]; k != nil && k.box != b && b.task != k && b.born.Before(k.handed) {
		return true
	}
	return slices.ContainsFunc([]string{domainTasks, domainLedger, ref.Provider}, func(domain string) bool {
		return t.clocks.moved(domain, b.born) > reconcile.ProviderSkew
	})
}

// meant is the sandbox that a step is about; where the step is the row's and names none itself, that which the row of
// the task names, or else that which is there for the task: a label joins the two where rows hold no name of it.
func meant(t *Platform, task string, ref reconcile.Ref) *box {
	row := t.table.rows[task]
	if ref.ID != "" || row == nil {
		return t.boxes[ref]
	}
	for _, b := range t.boxOrder {
		if row.Sandbox == b.ref.ID || row.Sandbox == b.name {
			return b
		}
	}
	at := slices.IndexFunc(t.boxOrder, func(b *box) bool { return b.task != nil && b.task.id == task && b.there() })
	if at < 0 {
		return nil
	}
	return t.boxOrder[at]
}

// HandedOn reports whether a sandbox is somebody else's by now, or another task's.
func (t *Platform) HandedOn(task string, ref reconcile.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := meant(t, task, ref)
	return b != nil && (b.owner != ours || b.reused)
}

// Alone reports whether nothing but the evil tenant does anything wrong, so that no operator is needed.
func (t *Platform) Alone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tenancy.alone
}

// Answers reports whether the probe of a sandbox can be answered: it is not broken, and no evil tenant lets it fail.
func (t *Platform) Answers(ref reconcile.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.boxes[ref]
	return b != nil && b.broken.IsZero() && (b.task == nil || !t.tenancy.excused(b.task.id))
}

// Needed reports whether a sandbox is truly needed.
func (t *Platform) Needed(ref reconcile.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.boxes[ref]
	return b != nil && t.truth().use(b) != ""
}

// Lonely reports whether a task goes on by its row and truly has no sandbox of ours, so that any that nothing links to
// another may be its.
func (t *Platform) Lonely() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.order, func(k *task) bool {
		r := t.table.rows[k.id]
		return r != nil && r.State.Live() && (!k.box.there() || k.box.owner != ours || k.box.reused)
	})
}

// Lives reports whether the provider still has the sandbox, under its id.
func (t *Platform) Lives(ref reconcile.Ref) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.boxes[ref]
	if b == nil || b.reused {
		return false // what has the id by now is another one
	}
	s, known := b.cloud.world.Sandbox(ref.ID)
	// One that failed and was asked to go is not shown any more, though its record remains.
	return known && !s.Gone && !(s.Doomed && s.State == reconcile.SandboxFailed)
}

// SetBack reports whether the clock of the ledger was set back.
func (t *Platform) SetBack() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.clocks.steps(domainLedger)) > 0
}

// Taken reports whether sandboxes of ours were given to somebody else at a provider.
func (t *Platform) Taken(provider string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.boxes {
		if (b.taken || b.reused) && b.ref.Provider == provider {
			return true
		}
	}
	return false
}

// enforced reports whether a rule acts on everything that it finds.
func (t truth) enforced(rule string) bool {
	if t.kind.tasks.None && rule != "errored" {
		return false // without a table nobody knows what a sandbox is for
	}
	for _, p := range t.watch.procs {
		if r := p.policy.Rules[rule]; !p.looks() && !acts(r) {
			return false
		}
	}
	return acts(t.policy.Rules[rule]) && !t.policy.NeedsProof(rule) // nobody proves anything here
}

func acts(r reconcile.RulePolicy) bool {
	return r.Mode == reconcile.Enforce && r.Rollout >= 100 && r.Remedy != reconcile.Report
}

// wrongRow is a live row whose work is over for long enough.
func (t truth) wrongRow(k *task) string {
	r := t.table.rows[k.id]
	if r == nil || r.Outside || t.work(k) != "" || r.State != reconcile.TaskAssigned && r.State != reconcile.TaskRunning {
		return ""
	}
	if why := t.finder(k, r); why != "" {
		return fmt.Sprintf("task %s is %s and nothing is done for it: %s", k.id, r.State, why)
	}
	return ""
}

// finder is the enforced rule that certainly finds what is wrong with a row.
func (t truth) finder(k *task, r *row) string {
	seen := t.table.read(r)
	lost := k.box == nil || !k.box.there() || k.box.state == reconcile.SandboxStopped
	started := seen.LastSeen().After(time.Time{}) || !seen.StartedAt.IsZero()
	if k.box != nil && t.boxes[k.box.ref] != k.box {
		return "" // somebody else has its id by now
	}
	if b := t.fleet().holder(t.fleet().cloud(k.cloud), r.Sandbox); b != nil && b.task != k {
		return "" // who works in what has the name by now speaks for both
	}
	if slices.ContainsFunc(t.boxOrder, func(b *box) bool { return b.task == k && b != k.box && b.there() }) {
		return "" // another sandbox of it is there: it may be that one where it goes on
	}
	if !seen.Events.Finished.IsZero() || seen.LastSeen().After(seen.AsOf) || k.restored {
		return "" // finished-unrecorded vetoes; a stamp from the future takes its time
	}
	if t.goesOnUnnamed(k, r) {
		return "" // nobody can tell it from the later one of its name
	}
	switch {
	case !started && r.State == reconcile.TaskAssigned && t.enforced("assigned-stale"):
		return "assigned-stale"
	case started && lost && k.box != nil && (k.box.noted || r.names(k.box) && !mayNeedNone(k, &seen)) &&
		t.enforced("sandbox-missing"):
		return "sandbox-missing"
	}
	return ""
}

// goesOnUnnamed reports whether the sandbox of a task was over before any pass saw it, where rows alone say whose one
// is and names last, while another is there that no row names: the task may go on in that one.
func (t truth) goesOnUnnamed(k *task, r *row) bool {
	c := t.fleet().cloud(k.cloud)
	if k.box == nil || k.box.shown || r.Sandbox == "" || !t.policy.Providers[c.name].GoesOnUnnamed() {
		return false
	}
	return slices.ContainsFunc(t.boxOrder, func(b *box) bool { return b.cloud == c && b.owner != ours && b.there() })
}

// GoesOnUnnamed reports whether a task may go on in a sandbox that nothing shows to be ours.
func (t *Platform) GoesOnUnnamed(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, r := t.tasks[id], t.table.rows[id]
	return k != nil && r != nil && t.truth().goesOnUnnamed(k, r)
}

// mayNeedNone reports whether nothing tells that a task ever had a sandbox: its row holds a name that the platform made
// up, and nobody was heard from it.
func mayNeedNone(k *task, seen *reconcile.Task) bool {
	return seen.Sandbox != k.box.ref.ID && seen.LastSeen().IsZero()
}

// wrongBox is a sandbox of ours that nobody needs.
func (t truth) wrongBox(b *box) string {
	if !b.there() || b.owner != ours || t.use(b) != "" || b.state == reconcile.SandboxDeleting || b.kept != nil {
		return ""
	}
	rests := b.state == reconcile.SandboxStopped || b.state == reconcile.SandboxSuspended
	rule := t.ender(b)
	if rule == "" || rests && !t.policy.Providers[b.ref.Provider].EndsAtRest {
		return ""
	}
	return fmt.Sprintf("sandbox %s is %s and nobody needs it: %s", b.ref, b.state, rule)
}

// ender is the enforced rule that certainly ends a sandbox.
func (t truth) ender(b *box) string {
	var r *row
	if b.task != nil {
		r = t.table.rows[b.task.id]
	}
	rule := ""
	switch {
	case b.task == nil && b.reused:
		return "" // rows and the ledger know the id as another's: what becomes of that one decides
	case b.task == nil && t.everOrphan(b):
		rule = "orphan"
	case r == nil || !t.watch.linked(b.task, b) || t.calledBy(b):
		return "" // what its task was is for a person where the account is shared
	case r.State == reconcile.TaskStopped && b.worker.well() && t.tookName(b, r):
		return "" // it seems to be the later one's, and that one's sandbox in use
	case r.State == reconcile.TaskStopped:
		rule = "stop-ignored"
	case r.State.Terminal() && b.state == reconcile.SandboxRunning:
		rule = "finished-lingering"
	case b.state == reconcile.SandboxFailed:
		rule = "errored"
	}
	if rule == "" || !t.enforced(rule) {
		return ""
	}
	return rule
}

// calledBy reports whether the live row of another task names the sandbox by its name: whose it is
// then is for a person.
func (t truth) calledBy(b *box) bool {
	return slices.ContainsFunc(t.order, func(k *task) bool {
		r := t.table.rows[k.id]
		return k != b.task && r != nil && r.State.Live() && (r.names(b) || r.Sandbox == b.key)
	})
}

// tookName reports whether a later task that nobody stopped has taken over the name of a stopped one's sandbox, and is
// over: by all that can be read the sandbox is that one's.
func (t truth) tookName(b *box, of *row) bool {
	stopped := t.table.read(of)
	return slices.ContainsFunc(t.order, func(k *task) bool {
		r := t.table.rows[k.id]
		if k == b.task || r == nil || !r.State.Terminal() || r.State == reconcile.TaskStopped || !r.names(b) {
			return false
		}
		later := t.table.read(r)
		return later.Before(&stopped)
	})
}

// everOrphan reports whether the sandbox of no task is nobody's by all that it says.
func (t truth) everOrphan(b *box) bool {
	s, there := b.cloud.world.Sandbox(b.ref.ID)
	owned := there && b.cloud.entry.Owns.Prove(s.FormerName(), s.Labels)
	if !t.policy.Providers[b.ref.Provider].LinkRequired {
		return false // it is reported
	}
	return owned && s.Labels[labelTask] == "" && s.State != reconcile.SandboxUnknown
}
