package run

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestLifted: an open action that was planned before the quota filled up is claimed free of
// share.
func TestLifted(t *testing.T) {
	w := worldtest.Roomy(t, "quota daytona cpu used=90")
	j := judgeWorld(w)
	here := &executor{}
	here.view = j.View
	for name, test := range map[string]struct {
		rule, provider string
		want           bool
	}{
		"clean-up there":     {"orphan", "daytona", true},
		"lingering there":    {"finished-lingering", "daytona", true},
		"old there":          {"over-age", "daytona", true},
		"a failure of work":  {"idle-broken", "daytona", false},
		"a stop":             {"stop-ignored", "daytona", false},
		"clean-up elsewhere": {"orphan", "e2b", false},
		"a row":              {"orphan", "", false},
	} {
		if got := here.lifted(&reconcile.Action{Rule: test.rule, Provider: test.provider}); got != test.want {
			t.Errorf("%s: lifted = %t, want %t", name, got, test.want)
		}
	}
}
