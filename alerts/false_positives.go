package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

func verdicts(r *reading, put put) { r.byRule("verdicts", put) }

func falsePositives(r *reading, put put) { r.byRule("regrets", put) }

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
