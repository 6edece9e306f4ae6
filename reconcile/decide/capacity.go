package decide

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// The subjects of the rule capacity that are no quota's.
const (
	capacityAll      = "capacity:all"
	capacityEscalate = "capacity:all/escalate"
)

// capacityFindings are too many active sandboxes, for a moment or for long, and quotas that
// are nearly used up. What could not be counted or measured is not below any limit: its
// findings stay as they were.
func capacityFindings(v *view.View) []reconcile.Finding {
	p := v.P.Rules["capacity"]
	if p.Mode == reconcile.Off || p.Mode == "" || v.S.Kind != reconcile.Full {
		return nil // a quick pass counts nothing
	}
	out := crowd(v, p)
	for _, provider := range v.P.ProviderNames() {
		for _, q := range v.S.Quotas[provider] {
			if f, full := quotaFinding(v, provider, q, p.Quota); full {
				out = append(out, f)
			}
		}
	}
	return out
}

// crowd compares the active sandboxes with the two levels.
func crowd(v *view.View, p reconcile.RulePolicy) []reconcile.Finding {
	active := v.Owned(reconcile.SandboxState.Active)
	seen := reconcile.Evidence{Source: "providers", At: v.Now, Fact: fmt.Sprintf(
		"%d sandboxes run or come up, %d tasks are live", active, len(v.S.Tasks)+v.S.Plain.Tasks)}
	var out []reconcile.Finding
	if p.Critical > 0 && active > p.Critical {
		out = append(out, report(v, "capacity", capacityAll,
			fmt.Sprintf("%d sandboxes are active, more than %d are critical", active, p.Critical), seen))
	}
	if p.Escalate > 0 && active > p.Escalate {
		f := report(v, "capacity", capacityEscalate, "", seen)
		over := v.Since(f.FirstSeen)
		f.Due = over >= p.For
		f.Reason = fmt.Sprintf("%d sandboxes are active, more than %d for %s, escalated after %s",
			active, p.Escalate, text.Duration(over), text.Duration(p.For))
		out = append(out, f)
	}
	return out
}

func quotaFinding(v *view.View, provider string, q reconcile.Quota, limit int) (reconcile.Finding, bool) {
	if limit <= 0 || q.Limit <= 0 || q.Used*100 <= q.Limit*float64(limit) {
		return reconcile.Finding{}, false
	}
	reason := fmt.Sprintf("%s at %s: %g of %g are used, %.0f %%, more than %d %%",
		q.Name, provider, q.Used, q.Limit, 100*q.Used/q.Limit, limit)
	f := report(v, "capacity", quotaSubject(provider, q.Name), reason,
		reconcile.Evidence{Source: provider, At: v.Now, Fact: fmt.Sprintf("quota %s: %g of %g", q.Name, q.Used, q.Limit)})
	f.Provider = provider
	return f, true
}

func quotaSubject(provider, quota string) string {
	return reconcile.SubjectID{Type: reconcile.SubjectCapacity, Provider: provider, ID: quota}.String()
}

// measured reports whether this pass could have seen the finding of a fleet again: a quota
// that could not be measured is not known to be free by now.
func measured(v *view.View, f reconcile.Finding) bool {
	if f.Rule != "capacity" || f.Provider == "" {
		return true
	}
	_, ours := v.P.Providers[f.Provider]
	_, seen := v.S.Quotas[f.Provider]
	return seen || !ours
}

// Crowded are the providers with a quota that is nearly used up and that ending sandboxes
// relieves, by what this pass or the one before it saw; none without the opt-in, and none
// while the rule may only observe.
func Crowded(v *view.View) map[string]bool {
	p := v.P.Rules["capacity"]
	if !p.MakeRoom || p.Mode != reconcile.Enforce {
		return nil
	}
	crowded := map[string]bool{}
	for _, f := range capacityFindings(v) {
		crowded[relievable(&f)] = true
	}
	for key, f := range v.S.Memory.Findings {
		if key.Rule == "capacity" && !(v.S.Kind == reconcile.Full && measured(v, f)) {
			crowded[relievable(&f)] = true
		}
	}
	delete(crowded, "")
	return crowded
}

// relievable is the provider whose quota the finding is of, "" when it is no quota's, or of
// one that has nothing to do with sandboxes.
func relievable(f *reconcile.Finding) string {
	of := reconcile.ParseSubject(f.Subject)
	if f.Rule != "capacity" || f.Provider == "" || of.Type != reconcile.SubjectCapacity || of.Provider != f.Provider {
		return ""
	}
	for _, other := range []string{"snapshot", "template", "image", "volume"} {
		if strings.HasPrefix(of.ID, other) {
			return ""
		}
	}
	return f.Provider
}

// MakesRoom reports whether a step of the rule at the provider goes first and free of share.
func MakesRoom(crowded map[string]bool, rule, provider string) bool {
	return crowded[provider] && reconcile.RuleNamed(rule).MakesRoom
}
