package alerts

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func verdicts(r *reading, put put) { r.byRule("verdicts", r.verdictRules(), put) }

func falsePositives(r *reading, put put) { r.byRule("regrets", watched(r.verdictRules()), put) }

// watched are those of the rules whose verdicts can turn out to be false.
func watched(rules []string) []string {
	return slices.DeleteFunc(rules, func(rule string) bool { return !reconcile.Watched(rule) })
}

// byRule is a counter by rule alone. For these rules it begins at 0, see totals.
func (r *reading) byRule(name string, rules []string, put put) {
	sum := map[string]int64{}
	for _, c := range r.counters(name) {
		sum[c.Rule] += c.Value
	}
	for _, rule := range rules {
		sum[rule] += 0
	}
	for rule, n := range sum {
		put(float64(n), rule)
	}
}

// demoted tells the rules that sandkeeper has lowered itself from those that an operator has. A rule that only observes
// has nothing to lose.
func demoted(r *reading, put put) {
	for _, rule := range watched(r.armedRules()) {
		put(0, rule)
	}
	for _, rule := range r.rules() {
		if _, low := r.Controls.Modes[rule]; low && r.Controls.Lowered[rule].Author == reconcile.AuthorSelf {
			put(1, rule)
		}
	}
}
