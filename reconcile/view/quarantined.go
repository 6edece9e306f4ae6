package view

import (
	"fmt"
	"maps"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Quarantined says that the sandboxes of a subject are in quarantine: nothing is judged of them
// until that is over. A live task is judged, whatever became of a sandbox of it.
func (v *signs) Quarantined(s *reconcile.Subject) (kept, by string) {
	if len(v.quarantine) == 0 || s.LinkState == reconcile.LinkLive && s.Task != nil {
		return "", ""
	}
	for i := range s.Boxes {
		b := &s.Boxes[i]
		a := v.quarantine[b.Ref]
		if a == nil && b.Here && b.State.Exists() {
			return "", ""
		}
		if a != nil {
			kept, by = "in quarantine until "+text.Time(a.NextAttempt), reconcile.Quarantined
		}
	}
	return kept, by
}

// quarantines are the open terminates whose sandbox was stopped or paused and is to be kept
// for a while yet.
func (v listener) quarantines() map[reconcile.Ref]*reconcile.Action {
	out := reconcile.StoppedFirst(v.S.Memory.Actions)
	maps.DeleteFunc(out, func(_ reconcile.Ref, a *reconcile.Action) bool { return !a.NextAttempt.After(v.Now) })
	return out
}

// stopping are the remedies with a quarantine that is not done.
func (v listener) stopping() map[string]bool {
	stopping := map[string]bool{}
	for i := range v.S.Memory.Actions {
		if a := &v.S.Memory.Actions[i]; a.Step == reconcile.StepQuarantine {
			stopping[a.Remedy] = true
		}
	}
	return stopping
}

// ReusedInQuarantine are the ends of quarantines that nobody has begun and that lost their ground: the
// sandbox is used again, or was since it was stopped, or its task goes on. It says why, by
// the action's id. What is wrong with the sandbox then is for the rules to find again, by
// their own clocks.
func (v *signs) ReusedInQuarantine(subjects []*reconcile.Subject) map[string]string {
	ends := reconcile.StoppedFirst(v.S.Memory.Actions)
	if len(ends) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, s := range subjects {
		for j := range s.Boxes {
			b := &s.Boxes[j]
			a := ends[b.Ref]
			//guard:awakened-failed live
			if a == nil || b.State == reconcile.SandboxFailed { // nobody goes on in that
				continue
			}
			why := taskGoesOn(s.Task, a, v.keyFor(b, s.Task))
			if why == "" && v.settled(a) {
				why = v.Used(a, b.Sandbox, v.Now)
			}
			if why != "" {
				out[a.ID] = why
			}
		}
	}
	return out
}

// settled reports whether what a listing shows of a sandbox cannot be from before it was
// stopped: some time has passed, or the ledger saw it come back.
func (v *signs) settled(a *reconcile.Action) bool {
	resumed := v.S.Memory.Sandboxes.Of(reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}).ResumedAt
	return resumed.After(a.PlannedAt) || v.Now.Sub(a.PlannedAt) >= 2*v.P.Full
}

// Used says why a sandbox that a quarantine stopped is in use, or was since; "" when it stands
// still. Its provider's clock is compared with no other: ages are.
func (v *signs) Used(a *reconcile.Action, sb *reconcile.Sandbox, now time.Time) string {
	seen := v.S.Memory.Sandboxes.Of(sb.Ref)
	still := now.Sub(reconcile.Latest(seen.StateSince, a.PlannedAt))
	active, wasActive := v.ActiveAgo(sb)
	switch {
	//guard:used-running harm
	case sb.State == reconcile.SandboxRunning || sb.State == reconcile.SandboxCreating:
		return "somebody started it again after the quarantine: it is in use"
	//guard:used-resumed harm
	case seen.ResumedAt.After(a.PlannedAt):
		return fmt.Sprintf("somebody had started it again by %s, after the quarantine", text.Time(seen.ResumedAt))
	case sb.State.AtRest() && seen.State.AtRest() && wasActive && active+reconcile.Skew < still:
		return fmt.Sprintf("it was active %s ago, after the quarantine", text.Duration(active))
	}
	return ""
}

// taskGoesOn says why a task may work again in a sandbox, known to rows by this key, that a
// quarantine stopped: its row is not over, is no requeue of our own, and names no other.
func taskGoesOn(t *reconcile.Task, a *reconcile.Action, key string) string {
	if t == nil || t.State.Terminal() {
		return ""
	}
	ours := reconcile.MarkedBy(t.Error, a.Remedy)
	elsewhere := key != "" && t.Sandbox != key && (ours || t.Sandbox != "")
	if elsewhere || ours && t.State == reconcile.TaskPending {
		return ""
	}
	//guard:goes-on harm
	return fmt.Sprintf("task %s is %s after the quarantine: it may go on in it", text.Clip(t.ID, 60),
		text.Clip(t.Status, 60))
}

// keyFor is how the task's row would name a sandbox: as it does, if it does; "" when that is not
// known.
func (v *signs) keyFor(b *reconcile.SeenSandbox, t *reconcile.Task) string {
	switch {
	case t != nil && b.CalledBy(t.Sandbox):
		return t.Sandbox
	case b.SandboxKey == "" && v.P.Providers[b.Provider].SandboxIsID:
		return b.ID
	}
	return b.SandboxKey
}
