package view

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// snapshotOwn is a copy of the snapshot, with tasks of its own where some have a mark: judging adds what the mark
// says to them, and brings the sandboxes into order. The snapshot stays as it was observed.
func snapshotOwn(s *reconcile.Snapshot) *reconcile.Snapshot {
	own := *s
	if slices.ContainsFunc(s.Tasks, func(t reconcile.Task) bool { return t.Mark != "" }) {
		own.Tasks = slices.Clone(s.Tasks)
	}
	if !reconcile.InOrder(s) {
		own.Sandboxes = slices.Clone(s.Sandboxes)
		reconcile.SortSandboxes(&own)
	}
	return &own
}

// RememberMark keeps when the mark of activity changed last, by the ledger's clock.
func (v *signs) RememberMark(seen *reconcile.TaskSeen, t *reconcile.Task, known bool) {
	now := reconcile.Sum(t.Mark)
	if known && t.Mark != "" && seen.MarkSum != now && seen.MarkSum != 0 {
		seen.MarkAt = v.Now
	}
	seen.MarkSum = now
}

// markActivity makes of a change of the mark, which the ledger timed, an activity of the row: as long
// ago as the ledger says. A mark that was never seen to change says nothing.
func (v listener) markActivity(t *reconcile.Task, before *SeenTask) {
	if t.Mark == "" || !t.State.Live() || !before.Known || before.MarkSum == 0 {
		return
	}
	switch {
	case before.MarkSum != reconcile.Sum(t.Mark):
		t.ActivityAt = reconcile.Latest(t.ActivityAt, t.AsOf)
	case !before.MarkAt.IsZero():
		t.ActivityAt = reconcile.Latest(t.ActivityAt, t.AsOf.Add(-v.Since(before.MarkAt)))
	}
}
