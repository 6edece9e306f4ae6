package run

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// stoppedBefore settles a quarantine whose sandbox is gone, has failed, or stands still by an
// earlier attempt of ours that a crash cut short.
func (r *run) stoppedBefore(a reconcile.Action, look reconcile.Look) (reconcile.Action, bool) {
	switch {
	case look.Gone:
		return r.withdraw(a, "the sandbox is gone"), true
	case look.Error != "":
		return a, false
	case look.Sandbox.State == reconcile.SandboxEnded, look.Sandbox.State == reconcile.SandboxDeleting:
		return r.withdraw(a, "the sandbox is "+reconcile.FirstOf(text.Clip(look.Sandbox.Raw, 60),
			string(look.Sandbox.State))), true
	//guard:quarantine-again once
	case look.Sandbox.State.AtRest() && a.Attempts > 1:
		a.Outcome, a.ClosedAt = reconcile.OutcomeDone, r.now
		a.Detail = "is " + reconcile.FirstOf(text.Clip(look.Sandbox.Raw, 60),
			string(look.Sandbox.State)) + " when looked at again"
		return a, true
	case look.Sandbox.State == reconcile.SandboxFailed: // no provider stops it, and it would be asked for ever
		a.Outcome, a.ClosedAt = reconcile.OutcomeDone, r.now
		a.Detail = "it has failed: nothing runs in it that could be stopped"
		return a, true
	}
	return a, false
}

// woken settles the end of a quarantine whose sandbox does not stand still any more, or did
// not all the time: somebody started it, so it is in use. In a state that says nothing it
// waits.
func (r *run) woken(a reconcile.Action, sb *reconcile.Sandbox) (reconcile.Action, bool) {
	if !a.InQuarantine() {
		return a, false
	}
	//guard:quarantine-used harm
	if why := r.view.Used(&a, sb, r.now); why != "" {
		return r.withdraw(a, why), true
	}
	//guard:quarantine-unknown harm
	if sb.State == reconcile.SandboxUnknown {
		return r.later(a, "it is in a state that is not known: "+text.Clip(sb.Raw, 60)), true
	}
	return a, false
}

// heldAtTheEnd is what holds the end of a quarantine as it would hold a first step: it comes
// long after its verdict, which is a decision of its own.
func (r *run) heldAtTheEnd(a *reconcile.Action) reconcile.HeldBy {
	rule, known := r.policy.Rules[a.Rule]
	if !a.InQuarantine() || !known {
		return nil
	}
	holds := r.view.FrozenFor(a.Provider, a.Subject)
	if !reconcile.RolledOut(a.Rule, a.Subject, rule.Rollout) {
		holds = append(holds, reconcile.HeldByRollout(rule.Rollout))
	}
	if rule.Remedy == reconcile.Report {
		holds = append(holds, reconcile.HeldReported())
	}
	return holds
}
