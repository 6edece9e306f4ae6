package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

// incidents are the open ones, by the rule whose failures they are. One that was released
// holds nothing and still is one.
func incidents(r *reading, put put) {
	open := map[string]int{}
	for i := range r.Controls.Incidents {
		if one := &r.Controls.Incidents[i]; one.ClosedAt.IsZero() {
			open[one.Rule]++
		}
	}
	for _, rule := range reconcile.RuleNames {
		put(float64(open[rule]), rule)
	}
}

func verdicts(r *reading, put put) { r.byRule("verdicts", put) }

func regrets(r *reading, put put) { r.byRule("regrets", put) }

// byRule is a counter by rule alone. It begins at 0, see totals.
func (r *reading) byRule(name string, put put) {
	sum := map[string]int64{}
	for _, c := range r.counters(name) {
		sum[c.Rule] += c.Value
	}
	for _, rule := range reconcile.RuleNames {
		sum[rule] += 0
	}
	for rule, n := range sum {
		put(float64(n), rule)
	}
}

// demoted tells the rules that sandkeeper has lowered itself from those that a person has.
func demoted(r *reading, put put) {
	for _, rule := range reconcile.RuleNames {
		_, low := r.Controls.Modes[rule]
		put(bit(low && r.Controls.Lowered[rule].Author == reconcile.AuthorSelf), rule)
	}
}

func notices(r *reading, put put) { put(float64(r.Notices)) }

func workAfterStop(r *reading, put put) { r.byProvider("work_after_stop", put) }

func recreations(r *reading, put put) { r.byProvider("recreations", put) }

func recreationsBack(r *reading, put put) { r.byProvider("recreations_back", put) }

func resumes(r *reading, put put) { r.byProvider("resumes", put) }

func resumesWorked(r *reading, put put) { r.byProvider("resumes_worked", put) }

// byProvider is a counter by provider alone; "" is for a task whose provider is not known.
func (r *reading) byProvider(name string, put put) {
	sum := map[string]int64{"": 0}
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
