package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// unproven is what holds an enforced rule that has not shown on this platform that it is right often enough. A rule
// that only looks is held by that already.
func unproven(v *view.View, c *reconcile.Controls, rule string, s *reconcile.Subject) reconcile.HeldBy {
	if v.P.Proof.Off() || v.P.Rules[rule].Mode != reconcile.Enforce || rule == reconcile.CanaryRule && isCanary(v, s) {
		return nil
	}
	if now := v.P.Standing(c, v.Now, rule, reconcile.ProofClasses(s)...); !now.Proven() {
		return reconcile.HeldBy{now.Held()}
	}
	return nil
}

// asksForProof reports whether the action begins something by a rule: what is under way goes on, and an operator's
// word needs no proof.
func asksForProof(a *reconcile.Action, f *Facts) bool {
	under := f.Reissued || !a.ActedAt.IsZero() || !a.FirstActed.IsZero() || a.Outcome == reconcile.OutcomeAccepted
	return !a.Asked() && (a.Seq == 0 && !under)
}
