package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// assessActivity: when no worker was active for a whole threshold of the rule inactive, either
// what shows activity is down or nothing works for anybody, a model's API for example. Nobody
// is stuck then. After it came back, one whole threshold passes before inactivity counts again.
func (v assessor) assessActivity() {
	if v.P.Tasks.None || !v.Judges("inactive") {
		return
	}
	rule := v.P.Rules["inactive"]
	limit := rulePolicyLeast(&rule)
	var why reconcile.Distrust
	//guard:activity-out P6
	if idle := snapshotTasksAsOf(v.S).Sub(v.LastActive); v.Actors >= 3 && idle > limit {
		why = said("%d tasks run and none was active for %s: what shows activity is down, or nothing works "+
			"for anybody", v.Actors, text.Duration(idle))
	}
	if _, known := v.Sources[reconcile.SourceActivity]; !known && why.None() {
		return
	}
	v.trustAgain(reconcile.SourceActivity, why, limit, "activity is back; inactivity timers restarted")
}

// rulePolicyLeast is the shortest threshold of the rule for any class.
func rulePolicyLeast(p *reconcile.RulePolicy) time.Duration {
	least := p.After
	for _, o := range p.Overrides {
		least = min(least, o.After)
	}
	return least
}

// snapshotTasksAsOf is the task database's now when the live set was read.
func snapshotTasksAsOf(s *reconcile.Snapshot) time.Time {
	switch {
	case len(s.Tasks) > 0:
		return s.Tasks[0].AsOf
	case s.Plain.Tasks > 0:
		return s.Plain.AsOf
	}
	return s.T0
}

// Judges reports whether the rule is judged at all.
func (v *View) Judges(rule string) bool { return v.P.Judges(rule) }
