package alerts

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func passEnd(r *reading, put put) {
	for kind, p := range r.Passes {
		put(seconds(p.EndedAt), string(kind))
	}
}

func passDuration(r *reading, put put) {
	for kind, p := range r.Passes {
		put(p.EndedAt.Sub(p.BeganAt).Seconds(), string(kind))
	}
}

// passAge is made of two times of one clock: a Prometheus whose own clock is wrong neither
// pages nor keeps silent because of that. A pass of the future has no age: the ledger's clock
// was set back, and an alert of its own tells of the age that is not there.
func passAge(r *reading, put put) {
	for kind, p := range r.Passes {
		if age := r.Now.Sub(p.EndedAt); age >= -time.Minute {
			put(age.Seconds(), string(kind))
		}
	}
}

func passes(r *reading, put put) {
	for _, kind := range []reconcile.PassKind{reconcile.Quick, reconcile.Full} {
		put(0, string(kind), "complete")
		put(0, string(kind), "incomplete")
	}
	for _, c := range r.counters("passes") {
		kind, outcome, _ := strings.Cut(c.What, ":")
		put(float64(c.Value), kind, outcome)
	}
}
