package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// looping finds a task whose attempts end again and again: failed, requeued or recreated. It
// is reported, and nobody requeues it any more.
func looping(v *view.View, s *reconcile.Subject) Result {
	if s.Task == nil || s.LinkState != reconcile.LinkLive {
		return apart(v, s, "live tasks are")
	}
	n, loops := AttemptsEnded(v, s)
	if !loops {
		return no(v, func() string {
			p := v.P.Rules["looping"]
			return fmt.Sprintf("%d of %d attempts ended without success within %s", n, p.Count, text.Duration(p.Window))
		})
	}
	attempts, window := s.Seen().Attempts, v.P.Rules["looping"].Window
	first, last := attempts[len(attempts)-n], attempts[len(attempts)-1]
	cause, because := v.Cause(s)
	return Result{
		Found: true, Due: true, Report: true, Since: v.Now.Sub(first),
		Reason: reconcile.Joined(fmt.Sprintf(
			"%d attempts ended without success within %s, the last %s ago; it is not requeued again",
			n, text.Duration(window), text.Duration(v.Now.Sub(last))), cause),
		Evidence: append([]reconcile.Evidence{
			{Source: "ledger", At: last, Fact: "attempts ended at " + stamps(attempts[len(attempts)-n:])},
			{Source: "tasks", At: s.Task.AsOf, Fact: fmt.Sprintf("status %s, attempt %d of %d",
				s.Task.Status, s.Task.Attempts, s.Task.MaxAttempts)},
		}, because...),
	}
}

// AttemptsEnded is how often the task's attempts ended without success within the rule's window,
// and whether that is too often. While the rule is off it never is.
func AttemptsEnded(v *view.View, s *reconcile.Subject) (int, bool) {
	if len(s.Seen().Attempts) == 0 {
		return 0, false
	}
	p := v.P.Rules["looping"]
	n := 0
	for _, at := range s.Seen().Attempts {
		if v.Now.Sub(at) <= p.Window {
			n++
		}
	}
	return n, v.Judges("looping") && p.Count > 0 && n >= p.Count
}

func stamps(times []time.Time) string {
	out := ""
	for i, t := range times {
		if i > 0 {
			out += ", "
		}
		out += text.Time(t)
	}
	return out
}
