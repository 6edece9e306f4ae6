package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// inactive finds a running task whose worker does nothing: its last activity is longer ago than the
// threshold, and a failed probe, or a look at the worker itself, agrees. A worker that waits for a
// person is not inactive, one whose heartbeats stopped is heartbeat-lost's, and one whose activity
// cannot be seen is not known to do nothing.
func inactive(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive || t.State != reconcile.TaskRunning {
		return apart(v, s, "running tasks are")
	}
	act := v.Activity(t)
	//guard:inactive-unseen harm
	if act.IsZero() {
		return healthyResult("no activity of it can be seen: that there is none says nothing")
	}
	after, all := After(v, "inactive", s), max(t.AsOf.Sub(act), 0)
	if all < after {
		return no(v, func() string {
			return fmt.Sprintf("last activity %s ago, limit %s", text.Duration(all), text.Duration(after))
		})
	}
	ran, _ := v.StateAge(s)
	//guard:inactive-ran P5
	quiet := inactiveFor(v, s, min(all, ran))
	if quiet < after {
		return Result{Suspect: fmt.Sprintf("inactive for %s, of which only %s count: others were not active either, "+
			"a source was out, or it has not run for longer", text.Duration(all), text.Duration(quiet))}
	}
	if why := excused(v, s); why != "" {
		return Result{Suspect: fmt.Sprintf("inactive for %s, but %s", text.Duration(quiet), why)}
	}
	return proven(v, s, fmt.Sprintf("inactive for %s", text.Duration(quiet)), func() Result {
		return foundInactive(v, s, min(all, ran), after)
	})
}

func foundInactive(v *view.View, s *reconcile.Subject, quiet, after time.Duration) Result {
	t := s.Task
	beats := "no heartbeats are sent here"
	if beat := view.TaskHeartbeat(t); !beat.IsZero() {
		beats = "last heartbeat " + text.Time(beat)
	}
	did := "last activity " + text.Time(t.Activity())
	return Result{
		Found: true, Due: true, NeedsProbe: true, Since: quiet, Holds: unknowns(v, s),
		Reason: reconcile.Joined(fmt.Sprintf("worker is inactive for %s, limit %s: %s", text.Duration(quiet),
			text.Duration(after), did),
			beats, v.State(s), silenceWords(v, s)),
		Evidence: []reconcile.Evidence{
			{Source: "events", At: t.Activity(), Fact: reconcile.Joined(did, beats)},
			{Source: "tasks", At: t.AsOf, Fact: fmt.Sprintf("status %s, %d tasks run", t.Status, v.Running)},
			{Source: "providers", At: v.Now, Fact: reconcile.Joined(reconcile.FirstOf(v.State(s), "no sandbox of it was seen"),
				silenceWords(v, s))},
		},
	}
}

// inactiveFor is how much of the time in which the worker did nothing, in its present state,
// counts: not what lies before an outage of what it rests on. When nobody was active for a third
// of the threshold, what came after the newest activity of all is everybody's: what shows
// activity may be down, and the one who was active earliest must not be taken for stuck.
func inactiveFor(v *view.View, s *reconcile.Subject, idle time.Duration) time.Duration {
	everybody := s.Task.AsOf.Sub(v.LastActive)
	if v.Actors >= 3 && everybody > After(v, "inactive", s)/3 {
		//guard:inactive-as-others P6
		idle -= everybody
	}
	//guard:inactive-recovered P6
	return max(min(idle, v.Observed(reconcile.SourceActivity, reconcile.SourceEvents, reconcile.SourceTasks)), 0)
}

// excused says why an inactive worker is not failed for it: it waits, its silence is another
// rule's, or its sandbox explains it.
func excused(v *view.View, s *reconcile.Subject) string {
	t := s.Task
	//guard:inactive-waits harm
	if t.Waits() && !waitedBefore(v, s) {
		return fmt.Sprintf("it waits for its user since %s", text.Time(t.Events.Waiting))
	}
	beat := view.TaskHeartbeat(t)
	if age := t.AsOf.Sub(beat); !beat.IsZero() && age > v.Limit && v.Judges("heartbeat-lost") {
		return fmt.Sprintf("its last heartbeat is %s old, limit %s: that is for heartbeat-lost", text.Duration(age),
			text.Duration(v.Limit))
	}
	//guard:inactive-unknown harm
	if b := subjectUnknownBox(s); b != nil {
		return fmt.Sprintf("its sandbox %s is in the unknown state %q", b.ID, b.Raw)
	}
	elsewhere := s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Gone || b.Here }) &&
		!s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && b.State == reconcile.SandboxRunning })
	//guard:inactive-paused harm
	if elsewhere {
		return v.State(s) + ", which is for another rule"
	}
	return ""
}

// waitedBefore reports whether the worker waited in an attempt before this one.
func waitedBefore(v *view.View, s *reconcile.Subject) bool {
	start, column := view.SubjectEntry(s)
	return !start.IsZero() && v.ClockTrusted(s.Task, column) && s.Task.Events.Waiting.Before(start)
}
