package reconcile

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// sourceActivity is what shows that workers do something. Heartbeats may go on while it is out.
const sourceActivity = "activity"

// assessActivity: when no worker was active for a whole threshold of the rule inactive, either
// what shows activity is down or nothing works for anybody, a model's API for example. Nobody
// is stuck then. After it came back, one whole threshold passes before inactivity counts again.
func (v *view) assessActivity() {
	if v.p.Tasks.None || !v.judges("inactive") {
		return
	}
	rule := v.p.Rules["inactive"]
	limit := rule.least()
	why := ""
	//guard:activity-out P6
	if idle := v.s.tasksAsOf().Sub(v.lastActive); v.actors >= 3 && idle > limit {
		why = fmt.Sprintf("%d tasks run and none was active for %s: what shows activity is down, or nothing works "+
			"for anybody", v.actors, text.Duration(idle))
	}
	if _, known := v.sources[sourceActivity]; !known && why == "" {
		return
	}
	v.trustAgain(sourceActivity, why, limit, "activity came back; inactivity counts")
}

// least is the shortest threshold of the rule for any class.
func (p *RulePolicy) least() time.Duration {
	least := p.After
	for _, o := range p.Overrides {
		least = min(least, o.After)
	}
	return least
}

// tasksAsOf is the task database's now when the live set was read.
func (s *Snapshot) tasksAsOf() time.Time {
	if len(s.Tasks) == 0 {
		return s.T0
	}
	return s.Tasks[0].AsOf
}

// judges reports whether the rule is judged at all.
func (v *view) judges(rule string) bool { return v.p.judges(rule) }

func (p *Policy) judges(rule string) bool {
	mode := p.Rules[rule].Mode
	return mode != Off && mode != ""
}
