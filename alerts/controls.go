package alerts

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func breakers(r *reading, put put) {
	for _, rule := range r.armedRules() {
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

// proven says of each rule that enforces whether it may act, and by what.
func proven(r *reading, put put) {
	policy := r.policy.WithLearned(&r.Controls)
	for rule, p := range policy.Rules {
		if p.Mode != reconcile.Enforce {
			continue
		}
		switch s := policy.Standing(&r.Controls, r.Now, rule); s.Kind {
		case reconcile.ProofNone:
			put(0, rule, "nothing")
		case reconcile.ProofNeedless:
		default:
			put(1, rule, string(s.Kind))
		}
	}
}

func holdsEndless(r *reading, put put) {
	n := 0
	for _, h := range r.Controls.Holds {
		if h.Until.IsZero() {
			n++
		}
	}
	put(float64(n))
}

func holdOldest(r *reading, put put) {
	oldest := time.Time{}
	for _, h := range r.Controls.Holds {
		if h.Until.IsZero() && !h.At.IsZero() && (oldest.IsZero() || h.At.Before(oldest)) {
			oldest = h.At
		}
	}
	if !oldest.IsZero() {
		put(seconds(oldest))
	}
}

func holdNextEnd(r *reading, put put) {
	next := time.Time{}
	for _, h := range r.Controls.Holds {
		if !h.Until.IsZero() && (next.IsZero() || h.Until.Before(next)) {
			next = h.Until
		}
	}
	if !next.IsZero() {
		put(seconds(next))
	}
}
