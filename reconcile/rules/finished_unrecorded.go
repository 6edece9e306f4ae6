package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// finishedUnrecorded finds a task whose worker says that it finished while the row is
// still live: somebody lost the result. It is reported, and nobody may fail the row.
func finishedUnrecorded(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive {
		return apart(v, s, "live tasks are")
	}
	if t.Events.Finished.IsZero() {
		return healthyResult("its worker has not said that it finished")
	}
	start := reconcile.Latest(t.Events.Started, view.SubjectPresentStart(s), t.AssignedAt)
	//guard:unrecorded-set-back-since harm
	since := setBackSince(v, s, start)
	// A clock of whole seconds shows a start and the end of short work as one moment.
	//guard:unrecorded-present live
	if t.Events.Finished.Before(start) && !since {
		return no(v, func() string {
			return fmt.Sprintf("its worker finished at %s, before the last start at %s", text.Time(t.Events.Finished),
				text.Time(start))
		})
	}
	went := v.Activity(t)
	// What was stamped before the database's clock was set back may be older than an end that was stamped since.
	//guard:unrecorded-set-back harm
	if v.CameTo(went) {
		went = time.Time{}
	}
	//guard:unrecorded-goes-on live
	if went.After(t.Events.Finished) && went.Sub(t.Events.Finished) > reconcile.Skew {
		return no(v, func() string {
			return fmt.Sprintf("its worker finished at %s and went on until %s", text.Time(t.Events.Finished), text.Time(went))
		})
	}
	return Result{
		Found: true, Due: true, Report: true, Veto: !finishedAndGone(v, s) && !recordOverdue(v, s),
		Reason: "the worker finished at " + text.Time(t.Events.Finished) + ", the row still says " + t.Status,
		Evidence: []reconcile.Evidence{
			{Source: "events", At: t.Events.Finished, Fact: "finished event, newer than the last start"},
			{Source: "tasks", At: t.AsOf, Fact: "status " + t.Status},
		},
	}
}

// setBackSince reports whether the task database's clock was set back since the task began, and its worker's end may be
// stamped since: the ledger has seen the task at work for longer than its start tells, and for longer than it is by
// that clock that the worker finished. What was set back before the task began makes no end of its own look older.
func setBackSince(v *view.View, s *reconcile.Subject, start time.Time) bool {
	t, was := s.Task, s.Seen()
	if !s.Known || was.Status != t.Status || !v.CameTo(start) {
		return false
	}
	watched := v.Since(was.Since)
	return watched-t.AsOf.Sub(start) > reconcile.Skew && t.AsOf.Sub(t.Events.Finished) < watched
}

// What a worker that finished may wait for its record: at least the first, and the second where the task has no
// deadline.
const (
	recordLeast  = time.Hour
	recordWithin = 24 * time.Hour
)

// recordOverdue reports whether the time is over in which somebody may still record the end: the word of a worker,
// which any tenant's can say, holds its row and its sandbox no longer than the task may run and be kept, however often
// it is said again.
func recordOverdue(v *view.View, s *reconcile.Subject) bool {
	t := s.Task
	first := firstFinished(v, s)
	deadline := t.DeadlineAt
	if began := view.SubjectPresentStart(s); deadline.IsZero() && t.Timeout > 0 && !began.IsZero() {
		deadline = began.Add(t.Timeout)
	}
	if deadline.IsZero() {
		deadline = first.Add(recordWithin)
	}
	kept := t.KeepAliveUntil
	if most := first.Add(v.P.Limits.Kept()); kept.After(most) {
		kept = most
	}
	//guard:unrecorded-kept harm
	until := reconcile.Latest(deadline, kept, first.Add(recordLeast))
	return !until.After(t.AsOf)
}

// firstFinished is when its worker said first that it finished what it does now, by the task database's clock: the
// ledger knows since when the finding is open.
func firstFinished(v *view.View, s *reconcile.Subject) time.Time {
	t := s.Task
	f, open := v.S.Memory.Findings[reconcile.FindingKey{Rule: "finished-unrecorded", Subject: s.ID}]
	if !open {
		return t.Events.Finished
	}
	began := reconcile.Latest(t.Events.Started, view.SubjectPresentStart(s), t.AssignedAt)
	first := reconcile.Latest(t.AsOf.Add(-v.Since(f.FirstSeen)), began)
	if first.Before(t.Events.Finished) {
		return first
	}
	return t.Events.Finished
}

// finishedAndGone reports whether nothing is left of who finished: its worker is silent and its
// sandbox is gone. Nobody will record the end any more, and the veto would keep the row for ever.
func finishedAndGone(v *view.View, s *reconcile.Subject) bool {
	over := func(b *reconcile.SeenSandbox) bool {
		// What only a search showed that was behind, and nobody ever saw, the look before the act does not count either.
		//guard:unrecorded-known live
		gone := b.Gone && b.Known
		return gone || b.Here && b.State == reconcile.SandboxEnded
	}
	if _, alive := v.Alive(s.Task); alive || !s.HasBox(over) {
		return false
	}
	return !s.HasBox(func(b *reconcile.SeenSandbox) bool { return !over(b) })
}
