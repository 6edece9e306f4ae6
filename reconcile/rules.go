package reconcile

import "time"

// SignOf is the newest sign of life that would refute the rule.
func SignOf(rule string, t *Task) time.Time {
	if RuleNamed(rule).RefutedBy == ByActivity {
		return t.Activity()
	}
	return t.LastSeen()
}
