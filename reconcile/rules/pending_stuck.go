package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// pendingStuck finds a task that waits and that nothing picks up, with what may explain it:
// quotas, templates, how many others run.
func pendingStuck(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive || t.State != reconcile.TaskPending {
		return apart(v, s, "pending tasks are")
	}
	after := After(v, "pending-stuck", s)
	age, by := v.StateAge(s)
	age = min(age, v.Observed(reconcile.SourceTasks))
	//guard:pending-again harm
	age = min(age, sinceReentry(v, s))
	//guard:pending-due harm
	if !t.DueAt.IsZero() {
		age = min(age, max(t.AsOf.Sub(t.DueAt), 0))
	}
	if age < after {
		return no(v, func() string {
			return fmt.Sprintf("%s for %s by %s, limit %s", t.Status, text.Duration(age), reconcile.FirstOf(by, "no clock"),
				text.Duration(after))
		})
	}
	//guard:pending-alive P14
	if sign, alive := v.Alive(t); alive {
		return Result{Suspect: fmt.Sprintf("%s for %s, but a worker of it was last seen %s ago",
			t.Status, text.Duration(age), text.Duration(sign))}
	}
	if b := subjectComingUp(s); b != nil {
		return Result{Suspect: fmt.Sprintf("%s for %s, but its sandbox %s is %s", t.Status, text.Duration(age), b.ID, b.Raw)}
	}
	return foundPending(v, s, age, fmt.Sprintf("%s for %s by %s, limit %s", t.Status, text.Duration(age), by,
		text.Duration(after)))
}

// sinceReentry is for how long the task can be pending at most, where the ledger saw it in another state before: a task
// that is run again, by us or by an operator, often keeps its updated_at.
func sinceReentry(v *view.View, s *reconcile.Subject) time.Duration {
	switch {
	case !s.Known || s.Seen().Status == s.Task.Status && !s.Seen().FirstSeen.Before(s.Seen().Since):
		return reconcile.Forever
	case s.Seen().Status != s.Task.Status:
		return 0
	}
	return v.Since(s.Seen().Since)
}

func foundPending(v *view.View, s *reconcile.Subject, age time.Duration, clock string) Result {
	full, quotas := quotasOf(v, s.Task)
	cause, because := v.Cause(s)
	evidence := append([]reconcile.Evidence{
		{Source: "tasks", At: s.Task.AsOf, Fact: fmt.Sprintf("%s; %d tasks run", clock, v.Running)},
	}, quotas...)
	return Result{
		Found: true, Due: true, Since: age,
		Reason: reconcile.Joined(fmt.Sprintf("nothing picks it up: %s for %s", s.Task.Status, text.Duration(age)), full,
			cause),
		Evidence: append(evidence, because...),
	}
}

// quotasOf are the quotas of the providers where the task may run, and in words those that
// are nearly used up.
func quotasOf(v *view.View, t *reconcile.Task) (full string, out []reconcile.Evidence) {
	const nearly = 0.95
	for _, provider := range v.P.Candidates(t) {
		for _, q := range v.S.Quotas[provider] {
			fact := fmt.Sprintf("quota %s: %.6g of %.6g used", text.Clip(q.Name, 80), q.Used, q.Limit)
			out = append(out, reconcile.Evidence{Source: provider, At: v.Now, Fact: fact})
			if q.Limit > 0 && q.Used >= nearly*q.Limit {
				full = reconcile.Joined(full, "at "+provider+" "+fact)
			}
		}
	}
	return full, out
}
