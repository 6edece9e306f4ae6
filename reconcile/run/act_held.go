package run

import (
	"errors"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// heldBy is what holds a claim.
func heldBy(err error) reconcile.HeldBy {
	var refused *reconcile.ClaimError
	if errors.As(err, &refused) {
		return reconcile.HeldBy{refused.By}
	}
	return reconcile.HeldBy{{Kind: reconcile.HeldOther, Reason: err.Error()}}
}

// heldNow is what keeps an open action from being carried out, whoever planned it and
// when: the operators' wishes, the mode that is in force now, and, for one that nobody has
// begun, that this pass does not call for it.
func (r *run) heldNow(a *reconcile.Action, controls *reconcile.Controls) reconcile.HeldBy {
	holds := reconcile.StepHolds(controls, a, r.target(a)).With(r.policy.Holds(controls, a)...)
	if _, ours := r.policy.Providers[a.Provider]; !ours && a.Sandbox != "" && a.Provider != "" {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldNoEntry,
			Reason: fmt.Sprintf("no entry %q: the config does not name it any more", a.Provider)})
	}
	if a.Asked() {
		//guard:asked-frozen P3
		return append(holds, r.frozen(a)...)
	}
	//guard:step-unknown-rule P9
	if _, known := r.policy.Rules[a.Rule]; !known {
		holds = holds.With(reconcile.Off.Held()) // of another version
	}
	if a.InQuarantine() && !a.Begun() && a.NextAttempt.After(r.now) {
		return append(holds, reconcile.Held{Kind: reconcile.HeldQuarantineEnd,
			Reason: "in quarantine until " + text.Time(a.NextAttempt)})
	}
	//guard:quarantine-end-held P3
	holds = append(holds, r.heldAtTheEnd(a)...)
	if a.Seq > 0 || a.Begun() {
		return holds
	}
	//guard:step-rollout P9
	if percent := r.policy.Rules[a.Rule].Rollout; !reconcile.RolledOut(a.Rule, a.Subject, percent) {
		holds = append(holds, reconcile.HeldByRollout(percent))
	}
	//guard:step-due P7
	if !r.due[a.ID] {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUncalled, Reason: "this pass does not call for it"})
	}
	return holds
}
