package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// awake finds a sandbox that runs although it should rest: its task is parked, or the platform should have put it to
// sleep by now. It is only told: somebody may be at work in it.
func awake(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || t.Outside || t.State.Terminal() {
		return apart(v, s, "tasks that are not over are")
	}
	rests, why := restsFor(v, s)
	if why == "" {
		return no(v, func() string { return "its sandbox may run: " + subjectKind(s) })
	}
	after := After(v, "awake", s)
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || !b.Owned || b.State != reconcile.SandboxRunning {
			continue
		}
		age := min(rests, v.SandboxAge(*b), v.Observed(reconcile.SourceTasks, reconcile.ListingOf(b.Provider)))
		if age < after {
			return Result{Suspect: fmt.Sprintf("sandbox %s is %s for %s of %s, and %s", b.ID, b.Raw, text.Duration(age),
				text.Duration(after), why)}
		}
		return Result{
			Found: true, Due: true, Report: true, Sandbox: b, Since: age,
			Reason: fmt.Sprintf("sandbox %s is %s for %s, and %s", b.ID, b.Raw, text.Duration(age), why),
			Evidence: []reconcile.Evidence{
				{Source: "tasks", At: t.AsOf, Fact: fmt.Sprintf("status %s, to sleep at %s", t.Status, text.Time(t.SleepsAt))},
				boxSeenAs(b),
			},
		}
	}
	return healthyResult("no sandbox of it runs")
}

// restsFor is for how long the sandboxes of the task should rest, and why; "" when they may run.
func restsFor(v *view.View, s *reconcile.Subject) (age time.Duration, why string) {
	t := s.Task
	if t.State == reconcile.TaskParked {
		age, _ = v.StateAge(s)
		return age, "its task is parked: " + text.Clip(t.Status, 60)
	}
	if late := t.AsOf.Sub(t.SleepsAt); !t.SleepsAt.IsZero() && late > 0 {
		return late, fmt.Sprintf("the platform should have put it to sleep %s ago, by sleeps_at", text.Duration(late))
	}
	return 0, ""
}
