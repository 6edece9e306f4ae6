package alerts

import "github.com/sandkeeper/sandkeeper/reconcile"

func breakers(r *reading, put put) {
	for _, rule := range reconcile.RuleNames {
		put(0, rule)
	}
	for rule := range r.Controls.Breakers {
		put(1, rule)
	}
}

func pauses(r *reading, put put) {
	for _, p := range r.Controls.Pauses {
		put(1, p.Scope)
	}
}

func holds(r *reading, put put) { put(float64(len(r.Controls.Holds))) }

func lowered(r *reading, put put) {
	for rule, mode := range r.Controls.Modes {
		put(1, rule, string(mode))
	}
}
