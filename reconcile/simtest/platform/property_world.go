package platform

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// foreign is P1: "Nothing foreign is touched."
func (w *watch) foreign(d *effect) string {
	switch {
	case d.ends() && d.b == nil:
		return d.what() + ": nobody knows such a sandbox"
	case d.ends() && d.b.owner == spec && d.asked() && d.a.Running:
		return "" // a person asked for what is at work as well
	case d.ends() && d.b.owner == twins && d.asked() && d.a.Anyway:
		return "" // a person was told that the account may be shared
	case d.ends() && d.b.owner == foreign && d.b.unwatched && d.a != nil && isEvil(d.a.Task):
		return "" // what it took for a row that is older than the sandbox reads like one
	case d.ends() && d.b.owner != ours:
		return fmt.Sprintf("%s: it is not ours but %s", d.what(), d.b.owner)
	case d.write != nil && w.before != nil && w.before.Outside:
		return d.what() + ": `where` excludes the row from being judged"
	}
	return ""
}

// touches is P1 for calls that go into a sandbox and change nothing.
func (w *watch) touches(s *Step) string {
	if s.Call != "Probe" && s.Call != "Logs" && s.Call != "Resume" || s.Err != nil {
		return ""
	}
	if b := w.platform.boxes[reconcile.Ref{Provider: s.Party, ID: s.ID}]; b != nil && b.owner == foreign && !b.unwatched &&
		!(b.taken && (w.platform.now().Sub(b.born) < unavoidable || len(w.platform.clocks.steps(s.Party)) > 0)) {
		return fmt.Sprintf("%s of %s: it is %s", s.Call, b.ref, b.owner)
	}
	return ""
}

// lastRead is when any process read the live set last.
func (w *watch) lastRead() (at time.Time) {
	for _, p := range w.procs {
		at = reconcile.Latest(at, p.live.at)
	}
	return at
}

// sacred is P2: "No write to a task row that is terminal, or that has moved since it was judged."
func (w *watch) sacred(d *effect) string {
	was := w.before
	switch {
	case was == nil:
	case d.Call == "Restore":
		if d.a != nil && d.a.Before != nil && markIn(was.Error) != d.a.Before.Mark {
			return d.what() + ": the row does not carry our own write any more"
		}
	case d.write == nil:
	case !was.State.Live():
		return fmt.Sprintf("%s: the row was %s", d.what(), was.State)
	case was.Status != d.write.Task.Status || was.Sandbox != d.write.Task.Sandbox:
		return fmt.Sprintf("%s: the row was %s in %q, judged as %s in %q", d.what(), was.Status, was.Sandbox,
			d.write.Task.Status, d.write.Task.Sandbox)
	case !d.write.Lock && was.Version != d.write.Task.Version:
		return fmt.Sprintf("%s: the row had version %s, judged as %s", d.what(), was.Version, d.write.Task.Version)
	}
	return ""
}

// absent is P3: "No absent verdict from a failed, partial, shrunken or empty listing. Unknown is
// not gone." What was called absent must truly be.
func (w *watch) absent(d *effect) string {
	switch {
	case d.k == nil || d.a == nil:
		return ""
	case d.write != nil && d.rule() == "sandbox-missing":
		b := d.k.box
		if b.there() && !w.unshown(d.k, b) && !w.leftOut(d.p, b) && !w.cameBack(d, b) && b.owner == ours &&
			b.state != reconcile.SandboxStopped && w.was.linked &&
			w.platform.clocks.moved(b.ref.Provider, b.born) == 0 { // else its provider does not show what is made later
			return fmt.Sprintf("%s: its sandbox %s is %s", d.what(), b.ref, b.state)
		}
	case d.b != nil && !d.b.there(): // it was asked to go before: nothing is taken for gone anew
	case d.ends() && d.rule() == "orphan" && !w.harm().letGo(reconcile.SourceTasks, d.a.Subject):
		r := w.platform.table.truly(d.k.id)
		own := isEvil(d.k.id) // whose own label names another task: what a tenant writes there harms itself alone
		if r != nil && !own && w.linked(d.k, d.b) && w.known(d, r) {
			return fmt.Sprintf("%s: task %s, which is %s, explains it", d.what(), d.k.id, r.State)
		}
	}
	return ""
}

// cameBack reports whether a sandbox left the state that the process had seen it in after its last look, a moment
// before the deed or while the call was on its way: nobody could have seen that.
func (w *watch) cameBack(d *effect, b *box) bool {
	looked := d.p.boxes[b.ref]
	return b.since.After(looked.at) && w.harm().soon(d, looked.moment)
}

// unshown reports whether nothing can tell of a sandbox yet: its provider's index lags, so that no listing
// and no search shows what was made so lately, and no row holds its id, by which to get it.
func (w *watch) unshown(k *task, b *box) bool {
	r := w.platform.table.truly(k.id)
	return w.platform.now().Sub(b.born) < b.cloud.lag && (r == nil || r.Sandbox != b.ref.ID)
}

// leftOut reports whether nothing but searches could tell a process of a later sandbox of a name, and they left it out:
// no listing was made since it came, or none of ours shows it, for it lost its labels before.
func (w *watch) leftOut(p *process, b *box) bool {
	if !b.shown && b.former == nil && w.platform.truth().leftOutOf(b) {
		return true
	}
	return b.former != nil && p.missed[b.ref.Provider] && !p.shownAt[b.ref.Provider].After(b.born)
}

// linked reports whether a row and a sandbox truly know each other: by a label that is there,
// or by the row's own word.
func (w *watch) linked(k *task, b *box) bool {
	r := w.platform.table.truly(k.id)
	s, _ := b.cloud.world.Sandbox(b.ref.ID)
	return r != nil && (r.names(b) || b.cloud.byLabel && s.Labels[labelTask] == k.id)
}

// known reports whether the row was there when the process read it last.
func (w *watch) known(d *effect, r *row) bool {
	read, ok := d.p.rows[r.ID]
	return ok && read.step > d.k.step
}

// vetoed is P14: "A life sign inside the heartbeat limit vetoes sandbox-missing, assigned-stale and
// heartbeat-lost, in the judgement and in the guarded write."
func (w *watch) vetoed(d *effect) string {
	rules := []string{"sandbox-missing", "assigned-stale", "heartbeat-lost"}
	if d.write == nil || w.before == nil || !slices.Contains(rules, d.rule()) {
		return ""
	}
	limit := d.p.policy.Rules["heartbeat-lost"].After
	if limit <= 0 {
		limit = 90 * time.Second
	}
	was := w.before.Task
	sign := was.LastSeen()
	if was.ActivityAt.Equal(was.UpdatedAt) && was.State != reconcile.TaskRunning {
		sign = was.Events.Newest() // while it does not run, anybody may have changed the row
	}
	if w.platform.truth().wound(was.Sandbox) {
		return "" // P5: its worker winds the clock
	}
	if d.k != nil && d.k.restored && sign.After(was.AsOf) {
		return "" // the same, of a worker that its row does not know any more
	}
	if ago := was.AsOf.Sub(sign); !sign.IsZero() && ago <= limit {
		return fmt.Sprintf("%s: its worker was last seen %s ago", d.what(), ago)
	}
	return ""
}
