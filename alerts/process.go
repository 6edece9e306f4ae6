package alerts

import (
	"runtime"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What this process knows by itself.

func build(r *reading, put put) { put(1, r.version, runtime.Version()) }

func up(r *reading, put put) { put(bit(r.up)) }

func reloaded(r *reading, put put) {
	if r.config != nil {
		ok, _ := r.config()
		put(bit(ok))
	}
}

func reloadedAt(r *reading, put put) {
	if r.config == nil {
		return
	}
	if _, at := r.config(); !at.IsZero() {
		put(seconds(at))
	}
}

func refused(r *reading, put put) {
	if r.refused == nil {
		return
	}
	logIns, hosts := r.refused()
	put(float64(logIns), "login")
	put(float64(hosts), "host")
}

// intervals tell the alerts how old a pass may be. Without them a rule would need a number
// of its own for each house.
func intervals(r *reading, put put) {
	put(r.policy.Quick.Seconds(), string(reconcile.Quick))
	put(r.policy.Full.Seconds(), string(reconcile.Full))
}

// limits are absent when the rule is off or has no number: then no number of sandboxes is too
// large, and a limit of 0 would have the alerts fire at the first one.
func limits(r *reading, put put) {
	p := r.policy.Rules["capacity"]
	if p.Mode == reconcile.Off || p.Mode == "" {
		return
	}
	for level, limit := range map[string]int{"critical": p.Critical, "escalate": p.Escalate} {
		if limit > 0 {
			put(float64(limit), level)
		}
	}
}
