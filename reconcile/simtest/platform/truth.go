package platform

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The truth is what a perfect observer of the whole platform would say. Where the design accepts
// a loss by its letter, because nobody without a look into the worker could know better, the
// observer does not call it harm either; each such case is in truth_accepted.go, with the
// sentence that accepts it.

// work says what healthy work a task does or may still do, "" when there is none: its row
// must not be failed or requeued.
func (t truth) work(k *task) string {
	if isEvil(k.id) {
		return "" // what it does to itself is no harm
	}
	r := t.table.truly(k.id)
	if r == nil || !r.State.Live() {
		return ""
	}
	w := k.worker()
	if w != nil && r.Sandbox != w.key {
		w = nil // a restored row that does not know its worker: neither does its platform
	}
	switch {
	case w.well() && w.box == k.box && w.waiting:
		return "its worker waits for a person"
	case w.well() && w.box == k.box && w.resting:
		return "its worker waits for its next message"
	case w.well() && w.box == k.box && k.box.state == reconcile.SandboxSuspended:
		return "its sandbox is paused and can go on"
	case w.well() && w.box == k.box:
		return "its worker is at work"
	case r.State == reconcile.TaskPending:
		return waitsItsTurn
	case w != nil && w.box == k.box && k.box.there() && t.recordAwaited(w) && t.kind.tasks.Events &&
		!t.table.events(r.Sandbox).Finished.IsZero():
		return "its worker is done and the row does not say so yet"
	}
	return t.comingUp(k, r)
}

// recordAwaited reports whether a worker is done and its end may still be recorded: for an hour, and for longer
// where the task may run for longer.
func (t truth) recordAwaited(w *worker) bool {
	return !w.done.IsZero() && t.now().Sub(w.done) < time.Hour
}

// comingUp says that an attempt is on its way and within its time.
func (t truth) comingUp(k *task, r *row) string {
	if k.worker() != nil || k.handed.IsZero() {
		return ""
	}
	now := t.now()
	if k.box != nil && t.clocks.moved(k.box.cloud.name, k.handed) > 0 {
		return "" // its provider does not show what is made later than its clock
	}
	if b := k.box; b.there() && b.state == reconcile.SandboxCreating && now.Sub(b.since) < t.after("provisioning-stuck") {
		return "its sandbox is coming up"
	}
	if k.never || k.box != nil && (!k.box.there() || k.box.state != reconcile.SandboxRunning || !k.box.broken.IsZero()) {
		return "" // the attempt has failed already
	}
	// By assigned-stale's letter an attempt has so long to begin; the conclusive threshold
	// needs a failure that truly happened, which was asked above or is noted in the row.
	within, began := t.after("assigned-stale"), t.watch.elapsed(domainTasks, k.handed)
	if !t.kind.tasks.HasAssigned {
		within, began = within-listingSlack, max(began, t.watch.elapsed(domainLedger, k.handed)) // the ledger times it
	}
	if began < within && r.Error == "" {
		return "it was handed out a moment ago"
	}
	within = t.after("provisioning-stuck") - listingSlack
	if b := k.box; b.there() && now.Before(b.setUp) && began < within && r.Error == "" &&
		t.watch.linked(k, b) {
		return "its sandbox is being set up"
	}
	return ""
}

// listingSlack is by how much the ledger may take a state for older than it is: it times by the
// beginning of a pass what it sees after the pass's listings.
const listingSlack = 15 * time.Second

// after is the shortest threshold of a rule that any process has worked with.
func (t truth) after(rule string) time.Duration {
	least := t.policy.Rules[rule].After
	for _, p := range t.watch.procs {
		if after := p.policy.Rules[rule].After; after > 0 {
			least = min(least, after)
		}
	}
	return least
}

// use says what a sandbox of ours is needed for, "" when nothing is lost with it.
func (t truth) use(b *box) string {
	k := b.task
	if k == nil {
		return ""
	}
	r := t.table.truly(k.id)
	current := k.box == b
	switch {
	case r == nil:
		return "" // its row is gone: that it works is nobody's wish any more
	case r.Outside && r.State.Live():
		return "its task is narrowed out of the judgement"
	case r.State == reconcile.TaskStopped:
		return ""
	case r.State.Terminal():
		return t.lingering(k, r, b)
	case !current:
		return "" // of an earlier attempt
	case r.State == reconcile.TaskPending:
		return t.early(r, b)
	}
	if b.worker == nil && k.worker() == nil || b.worker == k.worker() {
		if why := t.work(k); why != "" && b.there() && (b.broken.IsZero() || b.worker.well()) &&
			b.state != reconcile.SandboxFailed {
			return why
		}
	}
	return ""
}

// early says that a sandbox was made before its row was written, as some platforms do it.
func (t truth) early(r *row, b *box) string {
	if b.worker != nil || markIn(r.Error) != "" || !b.there() || b.state == reconcile.SandboxFailed ||
		!b.broken.IsZero() || t.watch.age(b) >= t.after("orphan") {
		return ""
	}
	return "its row is about to be written"
}

// lingering says why the sandbox of a finished task may still be wanted: a person keeps it,
// or did something a moment ago and may go on.
func (t truth) lingering(k *task, r *row, b *box) string {
	used := min(t.watch.elapsed(b.ref.Provider, b.used), t.watch.elapsed(domainTasks, latestOf(k.touched, k.entered)))
	switch {
	case k.box != b, b.state == reconcile.SandboxFailed, !b.broken.IsZero():
		return "" // of an earlier attempt, or nothing works in it any more
	case t.table.now().Before(r.KeepAliveUntil) && (r.names(b) || b.cloud.byLabel):
		return keptForUser // a row that lost it with its failure keeps nothing
	case r.Error != "" && markIn(r.Error) != "":
		return "" // we ended the task, and its sandbox with it
	case used < t.after("finished-lingering") && !k.restored: // a backup does not know what was done since
		return userGoesOn
	}
	return ""
}

func latestOf(times ...time.Time) time.Time {
	var out time.Time
	for _, at := range times {
		if at.After(out) {
			out = at
		}
	}
	return out
}

// truly is the row as the platform means it: also while the table is emptied by accident.
func (b *table) truly(id string) *row {
	if r := b.rows[id]; r != nil {
		return r
	}
	return b.hidden[id]
}
