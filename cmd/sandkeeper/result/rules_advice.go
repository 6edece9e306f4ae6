package result

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// What it takes to advise somebody to arm a rule.
const (
	enoughVerdicts = 20
	enoughTime     = 2 * 24 * time.Hour
)

// An arming is what is known when somebody thinks of arming a rule.
type arming struct {
	reconcile.RuleReport
	policy  reconcile.RulePolicy
	watched time.Duration // since its first finding on record, within the window
	self    bool          // it was lowered by its own regrets
}

// share is the percentage of its verdicts that were regretted.
func (a *arming) share() float64 {
	if a.Verdicts == 0 {
		return 0
	}
	return 100 * float64(a.FalsePositives) / float64(a.Verdicts)
}

// advice is one line on what to do with the rule's mode; "" when there is nothing to say.
func (a *arming) advice() string {
	name := a.Rule
	switch {
	case a.policy.Mode == reconcile.Off:
		return "is off; what it says here is of the time before"
	case a.policy.Remedy == reconcile.Report:
		return ""
	case a.self:
		return fmt.Sprintf("lowered itself: %s; correct its threshold, then arm it again with: sandkeeper mode %s clear",
			a.back(), name)
	case a.FalsePositives > 0 && a.policy.Mode == reconcile.Enforce:
		return a.back() + ": look at " + a.lookAt() + "; a longer `after` spares such tasks"
	case a.FalsePositives > 0:
		return a.back() + ": look at " + a.lookAt() + " before you arm it"
	case a.policy.Mode == reconcile.Enforce:
		return a.widen()
	case a.Verdicts == 0:
		return "nothing came due: there is nothing to judge it by yet"
	case a.Verdicts < enoughVerdicts || a.watched < enoughTime:
		return a.back() + ": too little to say, watch on"
	case !reconcile.Watched(name):
		return fmt.Sprintf("%d in %s; what it ends cannot come back, so look at some with explain, "+
			"then enforce with rollout 10", a.Verdicts, text.Coarse(max(a.watched, time.Hour)))
	}
	return a.back() + ": ready for enforce with rollout 10"
}

// widen is for a rule that is armed and was not wrong.
func (a *arming) widen() string {
	if a.policy.Rollout >= 100 || a.Verdicts < enoughVerdicts {
		return ""
	}
	return fmt.Sprintf("%s with rollout %d: ready for rollout %d", a.back(), a.policy.Rollout,
		min(100, max(10, 5*a.policy.Rollout)))
}

// back says how many came back to life, of how many, in which time.
func (a *arming) back() string {
	if !reconcile.Watched(a.Rule) {
		return fmt.Sprintf("%s in %s", console.Plural(a.Verdicts, "verdict"), text.Coarse(max(a.watched, time.Hour)))
	}
	return fmt.Sprintf("%d of %d in %s came back to life", a.FalsePositives, a.Verdicts,
		text.Coarse(max(a.watched, time.Hour)))
}

// lookAt names the newest that came back.
func (a *arming) lookAt() string {
	if len(a.Examples) == 0 {
		return "them"
	}
	return "explain " + reconcile.FirstOf(a.Examples[0].Task, a.Examples[0].Subject)
}
