package alerts

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func verdicts(r *reading, put put) { r.byRule("verdicts", r.rules(), put) }

func falsePositives(r *reading, put put) { r.byRule("regrets", r.watched(), put) }

// watched are the rules whose verdicts can turn out to be false.
func (r *reading) watched() []string {
	return slices.DeleteFunc(slices.Clone(r.rules()), func(rule string) bool { return !reconcile.Watched(rule) })
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

// demoted tells the rules that sandkeeper has lowered itself from those that a person has.
func demoted(r *reading, put put) {
	for _, rule := range r.watched() {
		_, low := r.Controls.Modes[rule]
		put(bit(low && r.Controls.Lowered[rule].Author == reconcile.AuthorSelf), rule)
	}
}
