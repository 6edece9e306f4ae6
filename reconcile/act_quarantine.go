package reconcile

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// atRest reports whether nothing runs in a sandbox of this state, and it can come back.
func (s SandboxState) atRest() bool { return s == SandboxStopped || s == SandboxSuspended }

// stoppedBefore settles a quarantine whose sandbox is gone, has failed, or stands still by an
// earlier attempt of ours that a crash cut short.
func (r *run) stoppedBefore(a Action, look Look) (Action, bool) {
	switch {
	case look.Gone:
		return r.withdraw(a, "the sandbox is gone"), true
	case look.Error != "":
		return a, false
	case look.Sandbox.State == SandboxEnded, look.Sandbox.State == SandboxDeleting:
		return r.withdraw(a, "the sandbox is "+firstOf(text.Clip(look.Sandbox.Raw, 60), string(look.Sandbox.State))), true
	//guard:quarantine-again once
	case look.Sandbox.State.atRest() && a.Attempts > 1:
		a.Outcome, a.ClosedAt = OutcomeDone, r.now
		a.Detail = "is " + firstOf(text.Clip(look.Sandbox.Raw, 60), string(look.Sandbox.State)) + " when looked at again"
		return a, true
	case look.Sandbox.State == SandboxFailed: // no provider stops it, and it would be asked for ever
		a.Outcome, a.ClosedAt = OutcomeDone, r.now
		a.Detail = "it has failed: nothing runs in it that could be stopped"
		return a, true
	}
	return a, false
}

// woken settles the end of a quarantine whose sandbox does not stand still any more, or did
// not all the time: somebody started it, so it is in use. In a state that says nothing it
// waits.
func (r *run) woken(a Action, sb *Sandbox) (Action, bool) {
	if !a.inQuarantine() {
		return a, false
	}
	//guard:quarantine-used harm
	if why := r.view.used(&a, sb, r.now); why != "" {
		return r.withdraw(a, why), true
	}
	//guard:quarantine-unknown harm
	if sb.State == SandboxUnknown {
		return r.later(a, "it is in a state that is not known: "+text.Clip(sb.Raw, 60)), true
	}
	return a, false
}

// onlyReports holds the end of a quarantine whose rule was set to report meanwhile.
const onlyReports = "the rule only reports it now"

// heldAtTheEnd is what holds the end of a quarantine as it would hold a first step: it comes
// long after its verdict, which is a decision of its own.
func (r *run) heldAtTheEnd(a *Action) []string {
	rule, known := r.policy.Rules[a.Rule]
	if !a.inQuarantine() || !known {
		return nil
	}
	holds := r.view.frozenFor(a.Provider, a.Subject)
	if !rolledOut(a.Rule, a.Subject, rule.Rollout) {
		holds = append(holds, fmt.Sprintf("rollout: %d%%", rule.Rollout))
	}
	if rule.Remedy == Report {
		holds = append(holds, onlyReports)
	}
	return holds
}
