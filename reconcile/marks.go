package reconcile

import "slices"

// markable is the snapshot with tasks of its own where some have a mark: judging adds what the mark
// says to them, and the snapshot stays as it was observed.
func (s *Snapshot) markable() *Snapshot {
	if !slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Mark != "" }) {
		return s
	}
	own := *s
	own.Tasks = slices.Clone(s.Tasks)
	return &own
}

// rememberMark keeps when the mark of activity changed last, by the ledger's clock.
func (v *view) rememberMark(seen *TaskSeen, t *Task, known bool) {
	now := sum(t.Mark)
	if known && t.Mark != "" && seen.MarkSum != now && seen.MarkSum != 0 {
		seen.MarkAt = v.now
	}
	seen.MarkSum = now
}

// markActivity makes of a change of the mark, which the ledger timed, an activity of the row: as long
// ago as the ledger says. A mark that was never seen to change says nothing.
func (v *view) markActivity(t *Task, before *seenTask) {
	if t.Mark == "" || !t.State.Live() || !before.known || before.MarkSum == 0 {
		return
	}
	switch {
	case before.MarkSum != sum(t.Mark):
		t.ActivityAt = latest(t.ActivityAt, t.AsOf)
	case !before.MarkAt.IsZero():
		t.ActivityAt = latest(t.ActivityAt, t.AsOf.Add(-v.since(before.MarkAt)))
	}
}
