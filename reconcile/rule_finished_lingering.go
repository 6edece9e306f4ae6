package reconcile

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// finishedLingering finds the sandbox of a finished task that lives on past its keep-alive.
// The time counts from the last activity: workers live on and users continue.
func finishedLingering(v *view, s *Subject) answer {
	t := s.Task
	if t == nil || s.Fate != FateEnded || t.State == TaskStopped {
		return v.apart(s, "completed and failed tasks are")
	}
	b := v.remaining(s)
	if b == nil {
		return fine(firstOf(v.leftWords(s), "it is over and no sandbox of it is left"))
	}
	//guard:lingering-kept harm
	if t.AsOf.Before(t.KeepAliveUntil) {
		return answer{kept: "kept alive until " + text.Time(t.KeepAliveUntil)}
	}
	after := v.threshold("finished-lingering", s)
	idle, by := v.idle(s, b)
	clock := fmt.Sprintf("last activity %s ago by %s, limit %s", text.Duration(idle), by, text.Duration(after))
	if idle < after {
		return answer{kept: t.Status + ", " + clock}
	}
	status := string(t.State)
	if t.Status != status {
		status += " (" + text.Clip(t.Status, 60) + ")"
	}
	reason := fmt.Sprintf("task %s is %s, its sandbox is still %s, last activity %s ago", t.ID, status, b.Raw, text.Duration(idle))
	//guard:lingering-unseen harm
	blind := !v.seesUse(t, b)
	if blind {
		reason = joined(reason, "reported only: nothing here tells when it was used last (a provider's activity, events, "+
			"keep_alive_until or activity_at)")
	}
	return answer{
		found: true, due: true, sandbox: b, holds: b.unsure(), report: blind, reason: reason,
		evidence: []Evidence{
			{Source: "tasks", At: t.AsOf, Fact: "status " + t.Status + ", " + clock},
			b.seenAs(),
		},
	}
}

// idle is the shortest time since anything happened, each in its own clock: the row
// changed, the worker sent an event, the provider saw activity, the ledger saw a change.
func (v *view) idle(s *Subject, b *Box) (time.Duration, string) {
	idle, by := v.stateAge(s)
	//guard:lingering-clock P5
	if by == "" {
		return 0, "nothing: no clock tells when it ended"
	}
	shorter := func(age time.Duration, source string) {
		if age < idle {
			idle, by = age, source
		}
	}
	if t := s.Task; !t.UpdatedAt.IsZero() && v.clockTrusted("updated_at") {
		//guard:lingering-touched harm
		shorter(t.AsOf.Sub(t.UpdatedAt), "updated_at")
	}
	// A worker that lives on after its task sends heartbeats for ever: they are no activity.
	if sign := latest(s.Task.Activity(), s.Task.Events.Finished); !sign.IsZero() && (!s.Task.ahead() || v.cameTo(sign)) {
		//guard:lingering-heard harm
		shorter(s.Task.AsOf.Sub(sign), "events")
	}
	if !b.LastActivityAt.IsZero() {
		//guard:lingering-active harm
		shorter(b.AsOf.Sub(b.LastActivityAt), b.Provider)
	}
	if at := v.sources[sourceTasks].RecoveredAt; !at.IsZero() {
		//guard:lingering-recovered P6
		shorter(v.now.Sub(at), "the task database's recovery")
	}
	return max(idle, 0), by
}

// seesUse reports whether anything tells when a finished task's sandbox was used last. Not being able to
// see activity is not inactivity.
func (v *view) seesUse(t *Task, b *Box) bool {
	return v.p.Tasks.Events || v.p.Tasks.TellsUse || !b.LastActivityAt.IsZero() || !t.LifeSign().IsZero()
}
