package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

// incidents are the open ones, by the rule whose failures they are and their provider. One that was released
// holds nothing and still is one.
func incidents(r *reading, put put) {
	open, found := map[[2]string]int{}, map[string]bool{}
	for i := range r.Controls.Incidents {
		if one := &r.Controls.Incidents[i]; one.ClosedAt.IsZero() {
			open[[2]string{one.Rule, one.Provider}]++
			found[one.Rule] = true
		}
	}
	for _, rule := range r.verdictRules() {
		if reconcile.RuleNamed(rule).Family == reconcile.Failure && !found[rule] {
			put(0, rule, "")
		}
	}
	for of, n := range open { // also of a rule that was switched off since
		put(float64(n), of[0], of[1])
	}
}
