package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// planted is a canary at its second sighting, an hour old.
const planted = "finding orphan sandbox:daytona/s1 first=1m last=1m sighted=1m sightings=1; " +
	"box daytona/s1 running name=c1 canary=yes; "

// TestCanary: what sandkeeper planted is ended by the rule orphan, under the same modes and budgets as any leak, and
// with no proof. Only what the ledger knows of is one; a label alone frees nothing.
func TestCanary(t *testing.T) {
	const known = planted + "canary k1 sandbox=s1; "
	unproven := []string{"held terminate daytona/s1: unproven: not proven on your history: it was not held against it yet"}
	goes := do("terminate daytona/s1")
	testPlan(t, map[string]planCase{
		"a canary":                                   {known, goes},
		"no proof is needed":                         {known + "proof needed", goes},
		"a label alone is none":                      {planted + "proof needed", unproven},
		"another one's":                              {planted + "canary k1 sandbox=s2; proof needed", unproven},
		"by its name, where no answer came":          {planted + "canary k1 name=c1; proof needed", goes},
		"by a name, though its id is another":        {planted + "canary k1 sandbox=s2 name=c1; proof needed", unproven},
		"without the label":                          {strings.Replace(known, "canary=yes", "", 1) + "proof needed", unproven},
		"not ours":                                   {strings.Replace(known, "canary=yes", "canary=yes owned=no", 1), nil},
		"its rule only looks":                        {known + "rule orphan mode=observe", []string{"held terminate daytona/s1: observe"}},
		"it may belong to a task with no sandbox":    {known + "task t2 running started=1h ev.heartbeat=5s; find t2 none", goes},
		"the budget of the hour is used up":          {known + "limits per_hour=1; spent 1", []string{"held terminate daytona/s1: budget: per_hour 1"}},
		"where each sandbox has a link, it has none": {"provider daytona required=no; " + known, goes},
	})
}

// TestCanaryIsNoFault: a canary gives no verdict, no other rule judges it, and it opens no breaker; one that is open for
// the platform's own leaks holds it, too.
func TestCanaryIsNoFault(t *testing.T) {
	leaks := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "finding orphan sandbox:daytona/o%02[1]d first=1m last=1m sighted=1m sightings=1; "+
				"box daytona/o%02[1]d running created=2h; ", i)
		}
		return b.String()
	}
	const limits = "limits breaker=25 share=100; rule errored after=1m; "
	failed := strings.Replace(planted, "running", "failed", 1) + "canary k1 sandbox=s1; knew box daytona/s1 failed since=1h; "
	for name, c := range map[string]struct {
		world   string
		breaker bool
		goes    bool
		verdict int
	}{
		"alone":                           {limits + planted + "canary k1 sandbox=s1; ", false, true, 0},
		"it failed":                       {limits + failed, false, true, 0},
		"a leak of the platform's":        {limits + planted, false, true, 1},
		"beside as many leaks as may be":  {limits + planted + "canary k1 sandbox=s1; " + leaks(10), false, true, 10},
		"beside one more, which are held": {limits + planted + "canary k1 sandbox=s1; " + leaks(11), true, false, 11},
	} {
		t.Run(name, func(t *testing.T) {
			j, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			if len(j.Verdicts) != c.verdict {
				t.Errorf("verdicts = %+v, want %d", j.Verdicts, c.verdict)
			}
			b, open := p.Breakers["orphan"]
			if open != c.breaker || slices.Contains(b.Subjects, "sandbox:daytona/s1") {
				t.Errorf("breaker = %+v, want it open: %t, and never for the canary", b, c.breaker)
			}
			if goes := slices.Contains(stepLines(p), "do terminate daytona/s1"); goes != c.goes {
				t.Errorf("steps = %q, want the canary ended: %t", stepLines(p), c.goes)
			}
			for _, f := range p.Findings {
				if f.Subject == "sandbox:daytona/s1" && f.Rule != "orphan" {
					t.Errorf("%s judged the canary: %s", f.Rule, f.Reason)
				}
			}
		})
	}
}
