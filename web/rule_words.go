package web

import "github.com/sandkeeper/sandkeeper/reconcile"

// means is what a finding is about, for those who do not know its rule's name.
func means(rule string) string {
	if rule == "clock-untrusted" { // no rule finds it: clocks are looked at before
		return "clocks that cannot be trusted"
	}
	return reconcile.RuleNamed(rule).Means
}
