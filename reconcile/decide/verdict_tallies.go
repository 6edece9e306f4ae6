package decide

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// VerdictTallies are what the new verdicts of a pass add to the counters: how long it took to find
// what they found, and what a leak was until then. A leak begins with the stop or the end of its
// task where that is known, else with the sandbox.
func VerdictTallies(v *view.View, decisions []Decision, verdicts []reconcile.Verdict) (out []reconcile.Counter) {
	of := map[string]*reconcile.Subject{}
	for i := range decisions {
		of[decisions[i].Subject.ID] = decisions[i].Subject
	}
	for i := range verdicts {
		r := &verdicts[i]
		if !r.Began.IsZero() {
			out = append(out, reconcile.Timed(reconcile.TimedDetection, r.Rule, r.Provider, r.Late)...)
		}
		if s := of[r.Subject]; s != nil && r.Sandbox != "" && reconcile.RuleNamed(r.Rule).Family == reconcile.CleanUp {
			out = append(out, leakOf(v, s, r)...)
		}
	}
	return out
}

func leakOf(v *view.View, s *reconcile.Subject, r *reconcile.Verdict) []reconcile.Counter {
	b := subjectBoxAt(s, reconcile.Ref{Provider: r.Provider, ID: r.Sandbox})
	if b == nil || !b.Here || !b.State.Exists() {
		return nil
	}
	lasted := max(leakedFor(v, s, b, r), 0)
	add := func(name string, n int64) reconcile.Counter {
		return reconcile.Counter{Name: name, Rule: r.Rule, Provider: r.Provider, Value: n}
	}
	out := []reconcile.Counter{add(reconcile.Leaks, 1), add(reconcile.LeakedMillis, lasted.Milliseconds())}
	if r.PerHour > 0 {
		out = append(out, add(reconcile.LeakedMicros, int64(r.PerHour*lasted.Hours()*1e6)))
	}
	return out
}

// leakedFor is how long the sandbox was there for nothing, no longer than it exists: since the finding began, or since
// its task was over.
func leakedFor(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, r *reconcile.Verdict) time.Duration {
	age := v.Born(*b)
	if !r.Began.IsZero() {
		return min(age, r.At.Sub(r.Began))
	}
	if s.Task != nil && !s.Task.State.Live() {
		if over, by := v.StateAge(s); by != "" {
			return min(age, over)
		}
	}
	return age
}
