package reconcile

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// resting says that the sandboxes of a subject are in quarantine: nothing is judged of them
// until that is over. A live task is judged, whatever became of a sandbox of it.
func (v *view) resting(s *Subject) (kept, by string) {
	if len(v.quarantine) == 0 || s.Fate == FateLive && s.Task != nil {
		return "", ""
	}
	for i := range s.Boxes {
		b := &s.Boxes[i]
		a := v.quarantine[b.Ref]
		if a == nil && b.Here && b.State.Exists() {
			return "", ""
		}
		if a != nil {
			kept, by = "in quarantine until "+text.Time(a.NextAttempt), quarantined
		}
	}
	return kept, by
}

// quarantines are the open terminates whose sandbox was stopped or paused and is to be kept
// for a while yet.
func (v *view) quarantines() map[Ref]*Action {
	out := stoppedFirst(v.s.Memory.Actions)
	maps.DeleteFunc(out, func(_ Ref, a *Action) bool { return !a.NextAttempt.After(v.now) })
	return out
}

// stopping are the remedies with a quarantine that is not done.
func (v *view) stopping() map[string]bool {
	stopping := map[string]bool{}
	for i := range v.s.Memory.Actions {
		if a := &v.s.Memory.Actions[i]; a.Step == StepQuarantine {
			stopping[a.Remedy] = true
		}
	}
	return stopping
}

// awakened are the ends of quarantines that nobody has begun and that lost their ground: the
// sandbox is used again, or was since it was stopped, or its task goes on. It says why, by
// the action's id. What is wrong with the sandbox then is for the rules to find anew, by
// their own clocks.
func (v *view) awakened(decisions []Decision) map[string]string {
	ends := stoppedFirst(v.s.Memory.Actions)
	if len(ends) == 0 {
		return nil
	}
	out := map[string]string{}
	for i := range decisions {
		s := decisions[i].Subject
		for j := range s.Boxes {
			b := &s.Boxes[j]
			a := ends[b.Ref]
			//guard:awakened-failed live
			if a == nil || b.State == SandboxFailed { // nobody goes on in that
				continue
			}
			why := s.Task.goesOn(a, v.keyFor(b, s.Task))
			if why == "" && v.settled(a) {
				why = v.used(a, &b.Sandbox, v.now)
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
func (v *view) settled(a *Action) bool {
	resumed := v.s.Memory.Sandboxes[Ref{a.Provider, a.Sandbox}].ResumedAt
	return resumed.After(a.PlannedAt) || v.now.Sub(a.PlannedAt) >= 2*v.p.Full
}

// used says why a sandbox that a quarantine stopped is in use, or was since; "" when it stands
// still. Its provider's clock is compared with no other: ages are.
func (v *view) used(a *Action, sb *Sandbox, now time.Time) string {
	seen := v.s.Memory.Sandboxes[sb.Ref]
	still := now.Sub(latest(seen.StateSince, a.PlannedAt))
	active := sb.AsOf.Sub(sb.LastActivityAt)
	switch {
	//guard:used-running harm
	case sb.State == SandboxRunning || sb.State == SandboxCreating:
		return "somebody started it again after the quarantine: it is in use"
	//guard:used-resumed harm
	case seen.ResumedAt.After(a.PlannedAt):
		return fmt.Sprintf("somebody had started it again by %s, after the quarantine", text.Time(seen.ResumedAt))
	case sb.State.atRest() && seen.State.atRest() && !sb.LastActivityAt.IsZero() && active+skew < still:
		return fmt.Sprintf("it was active %s ago, after the quarantine", text.Duration(active))
	}
	return ""
}

// goesOn says why a task may work again in a sandbox, known to rows by this key, that a
// quarantine stopped: its row is not over, is no requeue of our own, and names no other.
func (t *Task) goesOn(a *Action, key string) string {
	if t == nil || t.State.Terminal() {
		return ""
	}
	ours := strings.Contains(t.Error, Mark(a.Remedy))
	elsewhere := key != "" && t.Sandbox != key && (ours || t.Sandbox != "")
	if elsewhere || ours && t.State == TaskPending {
		return ""
	}
	//guard:goes-on harm
	return fmt.Sprintf("task %s is %s after the quarantine: it may go on in it", text.Clip(t.ID, 60), text.Clip(t.Status, 60))
}

// keyFor is how the task's row would name a sandbox: as it does, if it does; "" when that is not
// known.
func (v *view) keyFor(b *Box, t *Task) string {
	switch {
	case t != nil && b.calledBy(t.Sandbox):
		return t.Sandbox
	case b.SandboxKey == "" && v.p.Providers[b.Provider].SandboxIsID:
		return b.ID
	}
	return b.SandboxKey
}
