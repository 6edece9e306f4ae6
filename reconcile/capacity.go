package reconcile

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The subjects of the rule capacity; a quota's is followed by its provider and name.
const (
	capacityAll      = "capacity:all"
	capacityEscalate = "capacity:all/escalate"
	capacityOf       = "capacity:"
)

// capacityFindings are too many active sandboxes, for a moment or for long, and quotas that
// are nearly used up. What could not be counted or measured is not below any limit: its
// findings stay as they were.
func (v *view) capacityFindings() []Finding {
	p := v.p.Rules["capacity"]
	if p.Mode == Off || p.Mode == "" || v.s.Kind != Full {
		return nil // a quick pass counts nothing
	}
	out := v.crowd(p)
	for _, provider := range v.p.providerNames() {
		for _, q := range v.s.Quotas[provider] {
			if f, full := v.quotaFinding(provider, q, p.Quota); full {
				out = append(out, f)
			}
		}
	}
	return out
}

// crowd compares the active sandboxes with the two levels.
func (v *view) crowd(p RulePolicy) []Finding {
	active := v.owned(SandboxState.active)
	seen := Evidence{Source: "providers", At: v.now, Fact: fmt.Sprintf(
		"%d sandboxes run or come up, %d tasks are live", active, len(v.s.Tasks))}
	var out []Finding
	if p.Critical > 0 && active > p.Critical {
		out = append(out, v.report("capacity", capacityAll,
			fmt.Sprintf("%d sandboxes are active, more than %d are critical", active, p.Critical), seen))
	}
	if p.Escalate > 0 && active > p.Escalate {
		f := v.report("capacity", capacityEscalate, "", seen)
		over := v.since(f.FirstSeen)
		f.Due = over >= p.For
		f.Reason = fmt.Sprintf("%d sandboxes are active, more than %d for %s, escalated after %s",
			active, p.Escalate, text.Duration(over), text.Duration(p.For))
		out = append(out, f)
	}
	return out
}

// active reports whether a sandbox in this state takes part of what may run at once.
func (s SandboxState) active() bool { return s == SandboxRunning || s == SandboxCreating }

func (v *view) quotaFinding(provider string, q Quota, limit int) (Finding, bool) {
	if limit <= 0 || q.Limit <= 0 || q.Used*100 <= q.Limit*float64(limit) {
		return Finding{}, false
	}
	reason := fmt.Sprintf("%s at %s: %g of %g are used, %.0f %%, more than %d %%",
		q.Name, provider, q.Used, q.Limit, 100*q.Used/q.Limit, limit)
	f := v.report("capacity", quotaSubject(provider, q.Name), reason,
		Evidence{Source: provider, At: v.now, Fact: fmt.Sprintf("quota %s: %g of %g", q.Name, q.Used, q.Limit)})
	f.Provider = provider
	return f, true
}

func quotaSubject(provider, quota string) string { return capacityOf + provider + "/" + quota }

// measured reports whether this pass could have seen the finding of a fleet again: a quota
// that could not be measured is not known to be free by now.
func (v *view) measured(f Finding) bool {
	if f.Rule != "capacity" || f.Provider == "" {
		return true
	}
	_, ours := v.p.Providers[f.Provider]
	_, seen := v.s.Quotas[f.Provider]
	return seen || !ours
}

// crowded are the providers with a quota that is nearly used up and that ending sandboxes
// relieves, by what this pass or the one before it saw; none without the opt-in, and none
// while the rule may only observe.
func (v *view) crowded() map[string]bool {
	p := v.p.Rules["capacity"]
	if !p.MakeRoom || p.Mode != Enforce {
		return nil
	}
	crowded := map[string]bool{}
	for _, f := range v.capacityFindings() {
		crowded[relievable(&f)] = true
	}
	for key, f := range v.s.Memory.Findings {
		if key.Rule == "capacity" && !(v.s.Kind == Full && v.measured(f)) {
			crowded[relievable(&f)] = true
		}
	}
	delete(crowded, "")
	return crowded
}

// relievable is the provider whose quota the finding is of, "" when it is no quota's, or of
// one that has nothing to do with sandboxes.
func relievable(f *Finding) string {
	quota, isQuota := strings.CutPrefix(f.Subject, capacityOf+f.Provider+"/")
	if f.Rule != "capacity" || f.Provider == "" || !isQuota {
		return ""
	}
	for _, other := range []string{"snapshot", "template", "image", "volume"} {
		if strings.HasPrefix(quota, other) {
			return ""
		}
	}
	return f.Provider
}

// makesRoom reports whether a step of the rule at the provider goes first and free of share.
func makesRoom(crowded map[string]bool, rule, provider string) bool {
	return crowded[provider] && RuleNamed(rule).MakesRoom
}
