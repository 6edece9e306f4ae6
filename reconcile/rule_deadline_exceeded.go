package reconcile

import (
	"fmt"
	"time"
)

// deadlineExceeded finds a task that runs longer than its own timeout, or past its own
// deadline. A deadline that was over before this attempt began is an earlier attempt's.
// The rule's threshold is the timeout of tasks that have none; 0 means there is none.
func deadlineExceeded(v *view, s *Subject) answer {
	t := s.Task
	if t == nil || s.Fate != FateLive || t.State != TaskRunning {
		return answer{}
	}
	began := s.presentStart()
	if began.IsZero() || !v.clockTrusted("started_at") {
		return v.deadlineByLedger(s)
	}
	limit := t.Timeout
	if limit <= 0 {
		limit = v.threshold("deadline-exceeded", s)
	}
	ran := t.AsOf.Sub(began)
	switch {
	case t.DeadlineAt.After(began) && !t.AsOf.Before(t.DeadlineAt):
		return overdue(
			s,
			began,
			fmt.Sprintf("past its deadline %s by %s", stamp(t.DeadlineAt), short(t.AsOf.Sub(t.DeadlineAt))),
		)
	case limit > 0 && ran >= limit:
		return overdue(s, began, fmt.Sprintf("ran %s of %s", short(ran), short(limit)))
	case !t.DeadlineAt.IsZero() && !t.DeadlineAt.After(began) && !t.AsOf.Before(t.DeadlineAt):
		return answer{kept: "its deadline was over before this attempt began"}
	}
	return answer{}
}

// deadlineByLedger times the run by what the ledger saw, when the row does not say when
// it began. A deadline that was over before the task was certainly in this state may be
// an earlier attempt's.
func (v *view) deadlineByLedger(s *Subject) answer {
	t := s.Task
	age, _ := v.stateAge(s)
	if late := t.AsOf.Sub(t.DeadlineAt); !t.DeadlineAt.IsZero() && late >= 0 && late < age {
		return overdue(s, time.Time{}, fmt.Sprintf("past its deadline %s by %s", stamp(t.DeadlineAt), short(late)))
	}
	limit := t.Timeout
	if limit <= 0 {
		limit = v.threshold("deadline-exceeded", s)
	}
	if limit <= 0 || !s.Known || s.Seen.Status != t.Status {
		return answer{}
	}
	ran := v.since(s.Seen.Since)
	if ran < limit {
		return answer{}
	}
	return overdue(s, time.Time{}, fmt.Sprintf("ran at least %s of %s, as the ledger saw", short(ran), short(limit)))
}

func overdue(s *Subject, began time.Time, what string) answer {
	t := s.Task
	return answer{
		found: true, due: true,
		reason: joined("deadline exceeded: "+what, lifeLine(t)),
		evidence: []Evidence{
			{Source: "tasks", At: t.AsOf, Fact: fmt.Sprintf("status %s, started %s, timeout %s, deadline %s",
				t.Status, stamp(began), short(t.Timeout), stamp(t.DeadlineAt))},
		},
	}
}

// presentStart is the row's start time, unless it is of an earlier attempt.
func (s *Subject) presentStart() time.Time {
	if s.Task.StartedAt.Equal(s.Seen.StaleStart) {
		return time.Time{}
	}
	return s.Task.StartedAt
}
