package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

// leakSeries are a total of leaks by rule and provider, for the rules that clean up. It begins at 0,
// see totals.
func (r *reading) leakSeries(name string, unit float64, put put) {
	r.everywhere(func(rule, provider string) {
		cleans := reconcile.RuleNamed(rule).Family == reconcile.CleanUp && r.judged(rule)
		if cleans && (name != reconcile.LeakedMicros || r.priced(provider)) {
			put(0, rule, provider)
		}
	})
	for _, c := range r.counters(name) {
		put(float64(c.Value)/unit, c.Rule, c.Provider)
	}
}

// priced reports whether the config says what sandboxes of the provider cost. Without a price nothing
// is known of money, and 0 would be wrong.
func (r *reading) priced(provider string) bool { return r.policy.Providers[provider].Priced() }

func leaks(r *reading, put put) { r.leakSeries(reconcile.Leaks, 1, put) }

func leakedSeconds(r *reading, put put) { r.leakSeries(reconcile.LeakedMillis, 1e3, put) }

func leakedUSD(r *reading, put put) { r.leakSeries(reconcile.LeakedMicros, 1e6, put) }

func leaking(r *reading, put put) {
	for _, m := range r.Leaking {
		put(float64(m.Count), m.Rule, m.Provider)
	}
}

func leakingUSD(r *reading, put put) { r.money(r.Leaking, put) }

func saved(r *reading, put put) { r.money(r.Saved, put) }

func (r *reading) money(amounts []reconcile.Money, put put) {
	for _, m := range amounts {
		if r.priced(m.Provider) {
			put(m.USD, m.Rule, m.Provider)
		}
	}
}

func budgetUsed(r *reading, put put) { put(float64(r.Spent)) }

func budgetLeft(r *reading, put put) {
	if limit := r.policy.Limits.PerHour; limit > 0 {
		put(float64(max(limit-r.Spent, 0)))
	}
}

func ledgerBytes(r *reading, put put) {
	if r.Bytes > 0 {
		put(float64(r.Bytes))
	}
}

func ledgerCreated(r *reading, put put) {
	if !r.Stamped.IsZero() {
		put(seconds(r.Stamped))
	}
}
