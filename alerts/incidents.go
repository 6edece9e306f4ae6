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
	for _, rule := range r.rules() {
		if reconcile.RuleNamed(rule).Family == reconcile.Failure {
			put(float64(open[rule]), rule)
		}
	}
	for rule, n := range open { // of a rule that was switched off since
		put(float64(n), rule)
	}
}
