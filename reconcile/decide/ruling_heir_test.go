package decide

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestHeirOfTwo: what only its name links to a task is not ended with that one, where another live task had a sandbox of
// the name, as the ledger knows or a row that names a former one says.
func TestHeirOfTwo(t *testing.T) {
	const own = "provider daytona id=yes nameslast=yes; task t2 running sandbox=s9; box daytona/s1 running key=s1 name=k0 lasting=yes; "
	row := []reconcile.Task{{ID: "t2", State: reconcile.TaskRunning, Sandbox: "s0"}}
	over := []reconcile.Task{{ID: "t2", State: reconcile.TaskFailed, Sandbox: "s0"}}
	for name, c := range map[string]struct {
		world string
		heirs []reconcile.Task
		users []reconcile.Task
		kept  bool
	}{
		"nobody else had its name":              {own, nil, nil, false},
		"the ledger knows one of its name":      {own + "knew task t2 running; knew box daytona/s0 stopped name=k0 task=t2", nil, nil, true},
		"its task is over":                      {own + "knew box daytona/s0 stopped name=k0 task=t3", nil, nil, false},
		"a live row names a former one":         {own, row, nil, true},
		"a row that is over names a former one": {own, over, nil, false},
		"its own row names it": {own + "knew task t2 running; knew box daytona/s0 stopped name=k0 task=t2", row,
			[]reconcile.Task{{ID: "t1", Sandbox: "s1"}}, false},
	} {
		v := JudgeWorld(worldtest.NewWorld(t, c.world)).View
		a := reconcile.Action{Step: reconcile.StepTerminate, Rule: "assigned-stale", Subject: "task:t1", Task: "t1", Seq: 1}
		sb := v.S.Sandboxes[0]
		f := &Facts{Lookup: reconcile.Lookup{Sandbox: sb}, Heirs: c.heirs, Users: c.users}
		if out := heirOfTwo(v, &a, f); (out.Outcome == reconcile.OutcomeWithdrawn) != c.kept {
			t.Errorf("%s: %q (%s), want it kept: %t", name, out.Outcome, out.Why, c.kept)
		}
	}
}

// TestHeirOfARow: the row that holds the id of a sandbox tells whose a later one of its name is, also where the ledger
// remembers the former as nobody's, as after a standby.
func TestHeirOfARow(t *testing.T) {
	v := JudgeWorld(worldtest.NewWorld(t, "provider daytona id=yes nameslast=yes; task t1 running sandbox=s0; "+
		"knew box daytona/s0 stopped name=k0; box daytona/s1 running name=k0 lasting=yes")).View
	for i := range v.S.Sandboxes {
		if b := v.Box(&v.S.Sandboxes[i]); b.ID == "s1" && v.Successor(&b) != "t1" {
			t.Errorf("the later sandbox of the name is %q's, want t1's", v.Successor(&b))
		}
	}
}
