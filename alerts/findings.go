package alerts

import (
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// everywhere calls do for each rule that is judged and each place where it can find something: at each
// provider, and at none where a task without a sandbox is one of its findings.
func (r *reading) everywhere(do func(rule, provider string)) {
	for _, rule := range r.rules() {
		places := r.providers()
		if nowhere(reconcile.RuleNamed(rule)) {
			places = append(places, "")
		}
		for _, provider := range places {
			do(rule, provider)
		}
	}
}

// nowhere reports whether the rule may find something that is at no provider: a task without a sandbox,
// or the fleet as a whole.
func nowhere(r *reconcile.Rule) bool {
	ofSandbox := slices.Contains(r.Remedies, reconcile.Terminate) || r.FullOnly
	return r.NeedsTasks && !ofSandbox || r.Family == reconcile.Fleet && r.Name != "template-unusable"
}

// rules are those that are judged here. A process that was told no policy denies none.
func (r *reading) rules() []string {
	if len(r.policy.Rules) == 0 {
		return reconcile.RuleNames
	}
	return slices.DeleteFunc(slices.Clone(reconcile.RuleNames), func(name string) bool {
		mode := r.policy.Rules[name].Mode
		blind := r.policy.Tasks.None && reconcile.RuleNamed(name).NeedsTasks
		return mode == reconcile.Off || mode == "" || blind
	})
}

// judged reports whether the rule comes to verdicts: it is about one task or sandbox, and its remedy does something.
func (r *reading) judged(rule string) bool {
	of := reconcile.RuleNamed(rule)
	p, known := r.policy.Rules[rule]
	if !known {
		p.Remedy = of.Remedies[len(of.Remedies)-1]
	}
	return of.Family != reconcile.Fleet && p.Remedy != reconcile.Report
}

// verdictRules are the rules that come to verdicts here.
func (r *reading) verdictRules() []string {
	return slices.DeleteFunc(slices.Clone(r.rules()), func(rule string) bool { return !r.judged(rule) })
}

// armedRules are those of them that may act.
func (r *reading) armedRules() []string {
	return slices.DeleteFunc(r.verdictRules(), func(rule string) bool {
		p, known := r.policy.Rules[rule]
		return known && p.Mode != reconcile.Enforce
	})
}

// providers are the configured ones and those that the ledger has a listing of.
func (r *reading) providers() []string {
	names := map[string]bool{}
	for name := range r.policy.Providers {
		names[name] = true
	}
	for _, s := range r.Sources {
		if name, ok := reconcile.OfKind(reconcile.SourceListing, s.Name); ok {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// counters are the ledger's totals of one name.
func (r *reading) counters(name string) []reconcile.Counter {
	var named []reconcile.Counter
	for _, c := range r.Counters {
		if c.Name == name {
			named = append(named, c)
		}
	}
	return named
}

func findings(r *reading, put put) {
	r.everywhere(func(rule, provider string) { put(0, rule, provider) })
	for _, f := range r.Findings {
		put(float64(f.Open), f.Rule, f.Provider)
	}
}

func findingsDue(r *reading, put put) {
	r.everywhere(func(rule, provider string) { put(0, rule, provider) })
	for _, f := range r.Findings {
		put(float64(f.Due), f.Rule, f.Provider)
	}
}

func findingAge(r *reading, put put) {
	for _, f := range r.Findings {
		if f.Open > 0 && !f.Oldest.IsZero() {
			put(r.Now.Sub(f.Oldest).Seconds(), f.Rule)
		}
	}
}

func findingsOpened(r *reading, put put) { r.totals("findings_opened", put) }

func findingsResolved(r *reading, put put) { r.totals("findings_resolved", put) }

// totals are counters by rule and provider. They begin at 0 and not with their first event:
// a counter that appears with the value 1 has not increased as far as Prometheus knows, so
// an alert would miss the first event of each kind.
func (r *reading) totals(name string, put put) {
	r.everywhere(func(rule, provider string) { put(0, rule, provider) })
	for _, c := range r.counters(name) {
		put(float64(c.Value), c.Rule, c.Provider)
	}
}

// byProvider is a counter by provider alone.
func (r *reading) byProvider(name string, put put) {
	sum := map[string]int64{}
	for _, provider := range r.providers() {
		sum[provider] = 0
	}
	for _, c := range r.counters(name) {
		sum[c.Provider] += c.Value
	}
	for provider, n := range sum {
		put(float64(n), provider)
	}
}

// ofTasks is such a counter of what happens to tasks; "" is for one whose provider is not known.
func (r *reading) ofTasks(name string, put put) {
	if !r.policy.Tasks.None {
		put(0, "")
		r.byProvider(name, put)
	}
}

// mostTenants is how many tenants have series of their own.
const mostTenants = 20

func shielded(r *reading, put put) {
	shown, others := map[string]bool{}, map[string]float64{}
	for _, s := range r.Shielded {
		if len(shown) < mostTenants {
			shown[s.Tenant] = true
		}
		if shown[s.Tenant] {
			put(s.Open.Seconds(), s.Tenant, s.By)
			continue
		}
		others[s.By] += s.Open.Seconds()
	}
	for by, open := range others {
		put(open, "other", by)
	}
}

func held(r *reading, put put) {
	for _, h := range r.Held {
		put(float64(h.Count), h.Rule, h.By)
	}
}
