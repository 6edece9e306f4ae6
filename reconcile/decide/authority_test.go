package decide

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestAccusedAlone: what was found of a sandbox that its task's row names fails the task with it; one that a label
// alone gives to a task that has another ends alone, also when that shows only right before the deed.
func TestAccusedAlone(t *testing.T) {
	const world = "provider daytona id=yes; task t1 running sandbox=s2; box daytona/s1 creating task=t1"
	const works = "; box daytona/s2 running task=t1"
	for name, test := range map[string]struct {
		world  string
		remedy reconcile.Remedy
		steps  []reconcile.Step // of the plan, in their order
		fails  bool             // a fail that was planned before goes on
	}{
		"the only one":                  {world, reconcile.Fail, []reconcile.Step{reconcile.StepFail, reconcile.StepTerminate}, true},
		"beside one that works":         {world + works, reconcile.Fail, []reconcile.Step{reconcile.StepTerminate}, false},
		"beside one, to be quarantined": {world + works, reconcile.Quarantine, []reconcile.Step{reconcile.StepQuarantine, reconcile.StepTerminate}, false},
	} {
		w := worldtest.NewWorld(t, worldtest.Anchor, test.world)
		w.Only("provisioning-stuck")
		r := w.P.Rules["provisioning-stuck"]
		r.Remedy = test.remedy
		w.P.Rules["provisioning-stuck"] = r
		at := w.P.Providers["daytona"]
		at.Suspends = true
		w.P.Providers["daytona"] = at
		j, p := PlanWorld(w)
		var got []reconcile.Step
		for _, a := range p.Actions {
			if got = append(got, a.Step); a.Sandbox != "s1" && a.Sandbox != "" {
				t.Errorf("%s: %s of %s", name, a.Step, a.Sandbox)
			}
		}
		if len(got) != len(test.steps) || got[0] != test.steps[0] || got[len(got)-1] != test.steps[len(got)-1] {
			t.Errorf("%s: %v is planned, want %v", name, got, test.steps)
		}
		for i := range j.Decisions {
			if j.Decisions[i].Subject.ID != "task:t1" {
				continue
			}
			for step, want := range map[reconcile.Step]bool{reconcile.StepFail: test.fails, reconcile.StepTerminate: true} {
				o := Recheck{View: j.View, Subject: j.Decisions[i].Subject}
				if o.Judge(&reconcile.Action{Rule: "provisioning-stuck", Step: step}); (o.Finding != nil) != want {
					t.Errorf("%s: a %s goes on: %t, want %t (%s)", name, step, o.Finding != nil, want, o.Kept)
				}
			}
		}
	}
}
