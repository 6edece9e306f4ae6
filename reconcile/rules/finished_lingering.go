package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// finishedLingering finds the sandbox of a finished task that lives on past its keep-alive.
// The time counts from the last activity: workers live on and users continue.
func finishedLingering(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkEnded || t.State == reconcile.TaskStopped {
		return apart(v, s, "completed and failed tasks are")
	}
	b := remaining(v, s)
	if b == nil {
		return healthyResult(reconcile.FirstOf(v.LeftWords(s), "it is over and no sandbox of it is left"))
	}
	//guard:lingering-kept harm
	if kept := KeptUntil(v, t); t.AsOf.Before(kept) {
		return Result{Suspect: "kept alive until " + text.Time(kept)}
	}
	after := After(v, "finished-lingering", s)
	idle, by := idle(v, s, b)
	clock := fmt.Sprintf("last activity %s ago by %s, limit %s", text.Duration(idle), by, text.Duration(after))
	if idle < after {
		return Result{Suspect: t.Status + ", " + clock}
	}
	status := string(t.State)
	if t.Status != status {
		status += " (" + text.Clip(t.Status, 60) + ")"
	}
	reason := fmt.Sprintf("task %s is %s, its sandbox is still %s, last activity %s ago", t.ID, status, b.Raw,
		text.Duration(idle))
	if t.AsOf.Before(t.KeepAliveUntil) {
		reason = reconcile.Joined(reason, fmt.Sprintf("the row asks to keep it until %s, longer than limits.keep_alive, %s",
			text.Time(t.KeepAliveUntil), text.Duration(v.P.Limits.Kept())))
	}
	//guard:lingering-unseen harm
	blind := !seesUse(v, t, b)
	if blind {
		reason = reconcile.Joined(reason, "reported only: nothing here tells when it was used last "+
			"(a provider's activity, events, "+
			"keep_alive_until or activity_at)")
	}
	return Result{
		Found: true, Due: true, Sandbox: b, Holds: boxUnsure(b), Report: blind, Reason: reason,
		Evidence: []reconcile.Evidence{
			{Source: "tasks", At: t.AsOf, Fact: "status " + t.Status + ", " + clock},
			boxSeenAs(b),
		},
	}
}

// KeptUntil is until when the row may keep its sandbox: what it asks for, and no longer after the task was over than
// the limit allows.
func KeptUntil(v *view.View, t *reconcile.Task) time.Time {
	over := t.AsOf.Sub(reconcile.Latest(t.UpdatedAt, t.StateSince, t.EndedAt))
	if t.UpdatedAt.IsZero() && t.StateSince.IsZero() && t.EndedAt.IsZero() {
		over = 0
	}
	if seen, known := v.S.Memory.Tasks.Get(t.ID); known && seen.Status == t.Status {
		over = max(over, v.Since(seen.Since))
	}
	if most := t.AsOf.Add(v.P.Limits.Kept() - over); t.KeepAliveUntil.After(most) {
		return most
	}
	return t.KeepAliveUntil
}

// Wanted says why a task that is over may still want the sandbox, "" when it does not: its row keeps it, or somebody
// used it a moment ago, for no longer after its end than a row may keep one. What a row that is over is made to name
// was never its own, where the ledger knows what that named while it was live, and what we ended is nobody's to go on
// with.
func Wanted(v *view.View, t *reconcile.Task, sb *reconcile.Sandbox) string {
	kept := KeptUntil(v, t)
	if t.AsOf.Before(kept) {
		return "keeps the sandbox until " + text.Time(kept)
	}
	b := v.Box(sb)
	s := v.TaskSubject(t, []reconcile.SeenSandbox{b})
	was := s.Seen()
	own := sb.Task == t.ID || b.Seen().Task == t.ID || sb.CalledBy(was.Named)
	unwatched := !s.Known || !was.WasLive() && was.Named == "" && sb.CalledBy(was.Sandbox)
	//guard:used-unwatched harm
	own = own || unwatched // it was over before anybody watched
	over, _ := v.StateAge(&s)
	ago, by := idle(v, &s, &b)
	//guard:used-lately harm
	if own && by != unknownIdle && ago < After(v, "finished-lingering", &s) && over < v.P.Limits.Kept() &&
		b.State != reconcile.SandboxFailed && !reconcile.Marked(t.Error) {
		return fmt.Sprintf("was last active in the sandbox %s ago by %s", text.Duration(ago), by)
	}
	return ""
}

// unknownIdle is what tells when a task was last active, where nothing does.
const unknownIdle = "nothing: no clock tells when it ended"

// idle is the shortest time since anything happened, each in its own clock: the row
// changed, the worker sent an event, the provider saw activity, the ledger saw a change.
func idle(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) (time.Duration, string) {
	idle, by := v.StateAge(s)
	//guard:lingering-clock P5
	if by == "" {
		return 0, unknownIdle
	}
	shorter := func(age time.Duration, source string) {
		if age < idle {
			idle, by = age, source
		}
	}
	if t := s.Task; !t.UpdatedAt.IsZero() && v.ClockTrusted(t, "updated_at") {
		//guard:lingering-touched harm
		shorter(t.AsOf.Sub(t.UpdatedAt), "updated_at")
	}
	// A worker that lives on after its task sends heartbeats for ever: they are no activity.
	if sign := reconcile.Latest(s.Task.Activity(), s.Task.Events.Finished); !sign.IsZero() && (!view.TaskAhead(s.Task) ||
		v.CameTo(sign)) {
		//guard:lingering-heard harm
		shorter(s.Task.AsOf.Sub(sign), "events")
	}
	if ago, known := v.ActiveAgo(b.Sandbox); known {
		//guard:lingering-active harm
		shorter(ago, b.Provider)
	}
	if at := v.Sources[reconcile.SourceTasks].RecoveredAt; !at.IsZero() {
		//guard:lingering-recovered P6
		shorter(v.Now.Sub(at), "the task database's recovery")
	}
	return max(idle, 0), by
}

// seesUse reports whether anything tells when a finished task's sandbox was used last. Not being able to
// see activity is not inactivity.
func seesUse(v *view.View, t *reconcile.Task, b *reconcile.SeenSandbox) bool {
	return v.P.Tasks.Events || v.P.Tasks.TellsUse || !b.LastActivityAt.IsZero() || !t.LastSeen().IsZero()
}
