package decide

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// verdicts are the findings that rule for the first time in this pass: those that decide on
// their subject, that are due, and that no freeze and no doubt holds.
func verdicts(v *view.View, drafts []*draft) []reconcile.Verdict {
	var out []reconcile.Verdict
	for _, r := range drafts {
		if findingRules(r.finding) && news(v, r) && !isCanary(v, r.subject) {
			out = append(out, verdict(v, r))
		}
	}
	return out
}

// findingRules reports whether a finding comes down to its verdict: it is due, and what holds it is
// only what people and budgets want.
func findingRules(f *reconcile.Finding) bool {
	if !f.Due {
		return false
	}
	for _, why := range f.HeldBy {
		if !requested(why.Kind) {
			return false
		}
	}
	return true
}

// requested reports whether a hold says nothing against the verdict itself.
func requested(why reconcile.HeldKind) bool {
	switch why {
	case reconcile.HeldObserve, reconcile.HeldOff, reconcile.HeldRollout, reconcile.HeldUnproven,
		reconcile.HeldBudget, reconcile.HeldBreaker, reconcile.HeldPause, reconcile.HeldHold, reconcile.HeldIncident:
		return true
	}
	return false
}

// findingRestrained reports whether the finding was held by the mode, the rollout or the missing proof of its rule.
func findingRestrained(f *reconcile.Finding) bool {
	_, restrained := f.HeldBy.Of(reconcile.HeldObserve, reconcile.HeldOff, reconcile.HeldRollout, reconcile.HeldUnproven)
	return restrained
}

// news reports whether the finding rules for the first time, or for the first time since its
// rule may act, or since it is the one that decides. One that a freeze interrupted is the
// same one.
func news(v *view.View, r *draft) bool {
	before, open := v.S.Memory.Findings[r.finding.Key()]
	if open && findingRules(&before) && decided(v, r.finding) && !onlyReported(v, &before) {
		return enforced(v, r) && findingRestrained(&before)
	}
	return !ruledRecently(v, r)
}

// onlyReported reports whether the remembered finding was due and came to no verdict, for there was nothing to do but
// to report it: what rules is held, is being repaired, or has its verdict in memory.
func onlyReported(v *view.View, before *reconcile.Finding) bool {
	if len(before.HeldBy) > 0 {
		return false
	}
	for i := range v.S.Memory.Actions {
		if a := &v.S.Memory.Actions[i]; a.Rule == before.Rule && a.Subject == before.Subject {
			return false
		}
	}
	for i := range v.S.Memory.Verdicts {
		if w := &v.S.Memory.Verdicts[i]; w.Rule == before.Rule && w.Subject == before.Subject {
			return false
		}
	}
	return true
}

// decided reports whether the remembered finding decided on its subject: no rule before it in
// the table did. Sandboxes alone are not asked about: there may be thousands of them.
func decided(v *view.View, f *reconcile.Finding) bool {
	if reconcile.TypeOf(f.Subject) != reconcile.SubjectTask {
		return true
	}
	for i := range v.Rules {
		if v.Rules[i].Name == f.Rule {
			break
		}
		before, open := v.S.Memory.Findings[reconcile.FindingKey{Rule: v.Rules[i].Name, Subject: f.Subject}]
		if open && before.Due && len(before.HeldBy) == 0 && v.Rules[i].Policy.Remedy != reconcile.Report {
			return false
		}
	}
	return true
}

// ruledRecently reports whether a verdict of this finding on this attempt still stands.
func ruledRecently(v *view.View, r *draft) bool {
	for i := range v.S.Memory.Verdicts {
		before := &v.S.Memory.Verdicts[i]
		if before.Rule == r.finding.Rule && before.Subject == r.finding.Subject && !before.Over &&
			before.FalsePositiveAt.IsZero() && before.Attempt == subjectAttempt(r.subject) {
			return before.Enforced || !enforced(v, r)
		}
	}
	return false
}

// enforced reports whether the rule may act on the subject of its finding.
func enforced(v *view.View, r *draft) bool {
	f := r.finding
	p := v.P.Rules[f.Rule]
	return p.Mode == reconcile.Enforce && reconcile.RolledOut(f.Rule, f.Subject, p.Rollout) &&
		len(unproven(v, &v.S.Memory.Controls, f.Rule, r.subject)) == 0
}

// verdict is the record of a finding that rules.
func verdict(v *view.View, r *draft) reconcile.Verdict {
	f, s := r.finding, r.subject
	out := reconcile.Verdict{
		Rule: f.Rule, Subject: f.Subject, Task: f.Task, Provider: failedAt(v, s, f), Sandbox: f.Sandbox,
		Template: s.Template(), Signature: r.signature, Reason: f.Reason, At: v.Now, Began: f.Began,
		Enforced: enforced(v, r), Attempt: subjectAttempt(s),
	}
	if out.Signature != "" {
		out.Error = errorOf(v, s)
	}
	if t := s.Task; t != nil {
		out.Worker, out.TaskAt, out.Sign = t.Worker, t.AsOf, reconcile.SignOf(f.Rule, t)
	}
	if !f.Began.IsZero() {
		out.Late = max(v.Now.Sub(f.Began)-patience(v, f.Rule, s), 0)
	}
	if b := subjectBoxAt(s, reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}); b != nil {
		out.Region, out.Kinds = b.Region, b.Kinds
		if len(out.Kinds) == 0 {
			out.Kinds = b.KindsOf() // it was looked up, not listed
		}
		price(v, &out, b)
	}
	return out
}

// patience is the threshold that counts from the moment at which a finding began. A limit that
// somebody has set is over by then.
func patience(v *view.View, rule string, s *reconcile.Subject) time.Duration {
	if reconcile.RuleNamed(rule).Authoritative {
		return 0
	}
	return rules.After(v, rule, s)
}

// price is what the sandbox has cost, and costs on while it is there.
func price(v *view.View, out *reconcile.Verdict, b *reconcile.SeenSandbox) {
	if !b.Here || !b.State.Exists() {
		return
	}
	out.PerHour = v.P.Providers[b.Provider].PriceOf(b.Billed())
	out.Cost = out.PerHour * max(v.Born(*b).Hours(), 0)
}

func subjectBoxAt(s *reconcile.Subject, ref reconcile.Ref) *reconcile.SeenSandbox {
	for i := range s.Boxes {
		if s.Boxes[i].Ref == ref {
			return &s.Boxes[i]
		}
	}
	return nil
}
