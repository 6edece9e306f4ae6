package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// deadlineExceeded finds a task that runs longer than its own timeout, or past its own
// deadline. A deadline that was over before this attempt began is an earlier attempt's.
// The rule's threshold is the timeout of tasks that have none; 0 means there is none.
func deadlineExceeded(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive || t.State != reconcile.TaskRunning {
		if out := deadlineUnbegun(v, s); out.Found {
			return out
		}
		return apart(v, s, "running tasks are")
	}
	//guard:deadline-restarted harm
	began := reconcile.Latest(view.SubjectPresentStart(s), startTold(t))
	if began.IsZero() || !v.ClockTrusted(t, "started_at") {
		return deadlineByLedger(v, s)
	}
	limit := t.Timeout
	if limit <= 0 {
		limit = After(v, "deadline-exceeded", s)
	}
	ran := t.AsOf.Sub(began)
	ends := v.P.Tasks.DeadlineFails || limit <= 0 || ran < limit // else the timeout says more than the deadline
	switch {
	//guard:deadline-earlier P5
	case t.DeadlineAt.After(began) && !t.AsOf.Before(t.DeadlineAt) && ends:
		return pastDeadline(v, s, began)
	case limit > 0 && ran >= limit:
		return subjectOverdue(s, began, ran-limit, fmt.Sprintf("ran %s of %s", text.Duration(ran), text.Duration(limit)))
	case !t.DeadlineAt.IsZero() && !t.DeadlineAt.After(began) && !t.AsOf.Before(t.DeadlineAt):
		return Result{Suspect: "its deadline was over before this attempt began"}
	}
	return no(v, func() string { return subjectWithinTime(s, ran, limit) })
}

// startTold is when the task's worker said that it began. Events are found by the sandbox that the row names: a start
// from before the row was made is of who else works in that one.
func startTold(t *reconcile.Task) time.Time {
	//guard:deadline-before-row P5
	if t.Events.Started.Before(t.CreatedAt) {
		return time.Time{}
	}
	return t.Events.Started
}

// deadlineUnbegun finds a task that was never begun and has failed by its own fails_at. What its queue has forgotten
// may have the deadline of an earlier attempt still: the one that counts came while it was in this state.
func deadlineUnbegun(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive || t.DeadlineAt.IsZero() || !v.P.Tasks.DeadlineFails ||
		t.State != reconcile.TaskPending && t.State != reconcile.TaskAssigned {
		return Result{}
	}
	age, _ := v.StateAge(s)
	late := t.AsOf.Sub(t.DeadlineAt)
	//guard:deadline-unbegun P5
	if late < 0 || late >= age {
		return Result{}
	}
	return pastDeadline(v, s, time.Time{})
}

// subjectWithinTime says in words how far the task is from its deadline.
func subjectWithinTime(s *reconcile.Subject, ran, limit time.Duration) string {
	words := "no timeout, no deadline"
	if limit > 0 {
		words = fmt.Sprintf("ran %s of %s", text.Duration(ran), text.Duration(limit))
	}
	if at := s.Task.DeadlineAt; !at.IsZero() {
		words = reconcile.Joined(words, "its deadline is "+text.Time(at))
	}
	return words
}

// pastDeadline is the answer on a task that is past its own deadline. What the platform means by that
// time only the config can say: at some it only orders a queue, at others an idle sandbox is put to
// sleep then and the task goes on.
func pastDeadline(v *view.View, s *reconcile.Subject, began time.Time) Result {
	t := s.Task
	late := t.AsOf.Sub(t.DeadlineAt)
	out := subjectOverdue(s, began, late, fmt.Sprintf("past its deadline %s by %s", text.Time(t.DeadlineAt),
		text.Duration(late)))
	//guard:deadline-meaning harm
	out.Report = !v.P.Tasks.DeadlineFails
	if out.Report {
		out.Reason = reconcile.Joined(out.Reason, "reported only: map the column as fails_at where a task has failed by then")
	}
	return out
}

// deadlineByLedger times the run by what the ledger saw, or by how long nothing of the row has changed, when that
// does not say when it began. A deadline that was over before the task was certainly in this state may be
// an earlier attempt's.
func deadlineByLedger(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	age, _ := v.StateAge(s)
	var past Result
	//guard:deadline-unsure P5
	if late := t.AsOf.Sub(t.DeadlineAt); !t.DeadlineAt.IsZero() && late >= 0 && late < age {
		past = pastDeadline(v, s, time.Time{})
	}
	limit := t.Timeout
	if limit <= 0 {
		limit = After(v, "deadline-exceeded", s)
	}
	timed := limit > 0 && s.Known && s.Seen().Status == t.Status
	ran := v.Since(s.Seen().Since)
	// The pass that saw it first had begun before it read the row, and ended before the next one began.
	//guard:deadline-read harm
	surely := ran - max(v.P.Quick, reconcile.UsualGap(&v.S.Memory))
	by := "as the ledger saw"
	if stood := v.Stood(s); limit > 0 && (!timed || stood > surely) && stood >= limit {
		timed, ran, surely, by = true, stood, stood, "its row has not changed since "+text.Time(t.UpdatedAt)
	}
	switch {
	case past.Found && (v.P.Tasks.DeadlineFails || !timed || surely < limit):
		return past
	case !timed:
		return healthyResult("it has no timeout and no deadline, or its begin was not seen")
	case surely < limit:
		return no(v, func() string { return subjectWithinTime(s, max(surely, 0), limit) })
	}
	return subjectOverdue(s, time.Time{}, ran-limit,
		fmt.Sprintf("ran at least %s of %s, %s", text.Duration(surely), text.Duration(limit), by))
}

func subjectOverdue(s *reconcile.Subject, began time.Time, late time.Duration, what string) Result {
	t := s.Task
	return Result{
		Found: true, Due: true, Since: max(late, 1), // 0 would mean that it is not known
		Reason: reconcile.Joined("deadline exceeded: "+what, reconcile.LifeLine(t)),
		Evidence: []reconcile.Evidence{
			{Source: "tasks", At: t.AsOf, Fact: fmt.Sprintf("status %s, started %s, timeout %s, deadline %s",
				t.Status, text.Time(began), text.Duration(t.Timeout), text.Time(t.DeadlineAt))},
		},
	}
}
