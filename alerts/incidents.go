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
