package reconcile

import (
	"strings"
	"time"
)

// verdicts are the findings that rule for the first time in this pass: those that decide on
// their subject, that are due, and that no freeze and no doubt holds.
func (v *view) verdicts(drafts []*draft) []Verdict {
	var out []Verdict
	for _, r := range drafts {
		if r.finding.rules() && v.news(r) {
			out = append(out, v.verdict(r))
		}
	}
	return out
}

// rules reports whether a finding comes down to its verdict: it is due, and what holds it is
// only what people and budgets want.
func (f *Finding) rules() bool {
	if !f.Due {
		return false
	}
	for _, why := range f.HeldBy {
		if !wished(why) {
			return false
		}
	}
	return true
}

// wished reports whether a hold says nothing against the verdict itself.
func wished(why string) bool {
	kind, _, _ := strings.Cut(why, " ")
	switch kind {
	case string(Observe), string(Off), "rollout:", "budget:", "breaker:", "pause:", "hold:", "incident:":
		return true
	}
	return false
}

// restrained reports whether the finding was held by the mode or the rollout of its rule.
func (f *Finding) restrained() bool {
	for _, why := range f.HeldBy {
		if why == string(Observe) || why == string(Off) || strings.HasPrefix(why, "rollout:") {
			return true
		}
	}
	return false
}

// news reports whether the finding rules for the first time, or for the first time since its
// rule may act, or since it is the one that decides. One that a freeze interrupted is the
// same one.
func (v *view) news(r *draft) bool {
	before, open := v.s.Memory.Findings[r.finding.Key()]
	if open && before.rules() && v.decided(r.finding) {
		return v.enforced(r.finding) && before.restrained()
	}
	return !v.ruledLately(r)
}

// decided reports whether the remembered finding decided on its subject: no rule before it in
// the table did. Sandboxes alone are not asked about: there may be thousands of them.
func (v *view) decided(f *Finding) bool {
	if !strings.HasPrefix(f.Subject, "task:") {
		return true
	}
	for i := range v.rules {
		if v.rules[i].Name == f.Rule {
			break
		}
		before, open := v.s.Memory.Findings[FindingKey{v.rules[i].Name, f.Subject}]
		if open && before.Due && len(before.HeldBy) == 0 && v.rules[i].policy.Remedy != Report {
			return false
		}
	}
	return true
}

// ruledLately reports whether a verdict of this finding on this attempt still stands.
func (v *view) ruledLately(r *draft) bool {
	for i := range v.s.Memory.Verdicts {
		before := &v.s.Memory.Verdicts[i]
		if before.Rule == r.finding.Rule && before.Subject == r.finding.Subject && !before.Over &&
			before.RegretAt.IsZero() && before.Attempt == r.subject.attempt() {
			return before.Enforced || !v.enforced(r.finding)
		}
	}
	return false
}

// enforced reports whether the rule may act on the subject of its finding.
func (v *view) enforced(f *Finding) bool {
	p := v.p.Rules[f.Rule]
	return p.Mode == Enforce && rolledOut(f.Rule, f.Subject, p.Rollout)
}

// verdict is the record of a finding that rules.
func (v *view) verdict(r *draft) Verdict {
	f, s := r.finding, r.subject
	out := Verdict{
		Rule: f.Rule, Subject: f.Subject, Task: f.Task, Provider: v.failedAt(s, f), Sandbox: f.Sandbox,
		Template: s.template(), Signature: r.signature, Reason: f.Reason, At: v.now, Began: f.Began,
		Enforced: v.enforced(f), Attempt: s.attempt(),
	}
	if out.Signature != "" {
		out.Error = v.errorOf(s)
	}
	if t := s.Task; t != nil {
		out.Worker, out.TaskAt, out.Sign = t.Worker, t.AsOf, signOf(f.Rule, t)
	}
	if !f.Began.IsZero() {
		out.Late = max(v.now.Sub(f.Began)-v.patience(f.Rule, s), 0)
	}
	if b := s.boxAt(Ref{f.Provider, f.Sandbox}); b != nil {
		out.Region = b.Region
		v.price(&out, b)
	}
	return out
}

// patience is the threshold that counts from the moment at which a finding began. A limit that
// somebody has set is over by then.
func (v *view) patience(rule string, s *Subject) time.Duration {
	if RuleNamed(rule).Authoritative {
		return 0
	}
	return v.threshold(rule, s)
}

// price is what the sandbox has cost, and costs on while it is there.
func (v *view) price(out *Verdict, b *Box) {
	if !b.Here || !b.State.Exists() {
		return
	}
	out.PerHour = v.p.Providers[b.Provider].PricePerHour
	out.Cost = out.PerHour * max(v.born(*b).Hours(), 0)
}

func (s *Subject) boxAt(ref Ref) *Box {
	for i := range s.Boxes {
		if s.Boxes[i].Ref == ref {
			return &s.Boxes[i]
		}
	}
	return nil
}
