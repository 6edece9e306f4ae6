package alerts

import (
	"runtime"
	"time"

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

// A Pool is the state of the connections to one database.
type Pool struct {
	Name            string
	Idle, Used, Max int
	Acquires, Waits int64
	Waited          time.Duration
}

func (r *reading) eachPool(do func(Pool)) {
	if r.pools == nil {
		return
	}
	for _, p := range r.pools() {
		do(p)
	}
}

func poolConns(r *reading, put put) {
	r.eachPool(func(p Pool) {
		put(float64(p.Idle), p.Name, "idle")
		put(float64(p.Used), p.Name, "used")
		put(float64(p.Max), p.Name, "max")
	})
}

func poolAcquires(r *reading, put put) {
	r.eachPool(func(p Pool) { put(float64(p.Acquires), p.Name) })
}

func poolWaits(r *reading, put put) { r.eachPool(func(p Pool) { put(float64(p.Waits), p.Name) }) }

func poolWaited(r *reading, put put) {
	r.eachPool(func(p Pool) { put(p.Waited.Seconds(), p.Name) })
}

func writtenAt(r *reading, put put) {
	if !r.written.IsZero() {
		put(seconds(r.written))
	}
}

func rates(r *reading, put put) {
	if r.rates == nil {
		return
	}
	for provider, perSecond := range r.rates() {
		if perSecond > 0 {
			put(perSecond, provider)
		}
	}
}

// thresholds are the bounds of alerts that the config names.
func thresholds(r *reading, put put) {
	failures := 0
	if p := r.policy.Rules["systemic"]; p.Mode != reconcile.Off {
		failures = p.Count
	}
	for alert, bound := range map[string]float64{
		"SandkeeperManyOnOneTask": float64(r.bounds.ManyOnOneTask), "SandkeeperLedgerGrowing": r.bounds.LedgerGiB * (1 << 30),
		"SandkeeperDetectionSlow": r.bounds.Detected.Seconds(), "SandkeeperSystemicFailure": float64(failures),
	} {
		if bound > 0 {
			put(bound, alert)
		}
	}
}

func leakLimit(r *reading, put put) {
	if r.bounds.LeakUSD > 0 {
		put(r.bounds.LeakUSD)
	}
}

func budgetLimit(r *reading, put put) {
	if n := r.policy.Limits.PerHour; n > 0 {
		put(float64(n))
	}
}

func ruleModes(r *reading, put put) {
	for _, rule := range r.rules() {
		if p, known := r.policy.Rules[rule]; known {
			put(1, rule, string(p.Mode))
		}
	}
}
