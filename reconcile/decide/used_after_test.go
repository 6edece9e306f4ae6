package decide

import (
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestUsedAfter: a sandbox that clean-up would have ended and that is used afterwards was not left over.
func TestUsedAfter(t *testing.T) {
	const gone = "box daytona/s1 running created=3h"
	for name, c := range map[string]struct {
		world, rule, task string
		change            func(*reconcile.Verdict)
		wrong             bool
	}{
		"nobody uses it":                {world: gone, rule: "orphan"},
		"a task works in it":            {world: gone + " task=t1; task t1 running started=2h ev.heartbeat=5s", rule: "orphan", wrong: true},
		"a task that is over was it":    {world: gone + " task=t1; row t1 completed updated=2h", rule: "orphan"},
		"it was active by its provider": {world: gone + " active=5m", rule: "orphan", wrong: true},
		"it was active before":          {world: gone + " active=11m", rule: "orphan"},
		"its processor works":           {world: gone + "; vitals daytona/s1 at=12m cpu=40; vitals daytona/s1 at=2m cpu=30", rule: "orphan", wrong: true},
		"it worked once":                {world: gone + "; vitals daytona/s1 at=4m cpu=3; vitals daytona/s1 at=2m cpu=30", rule: "orphan"},
		"it worked until then":          {world: gone + "; vitals daytona/s1 at=14m cpu=40; vitals daytona/s1 at=10m cpu=40", rule: "orphan"},
		"it only waits":                 {world: gone + "; vitals daytona/s1 at=4m cpu=10; vitals daytona/s1 at=2m cpu=10", rule: "orphan"},
		"a stop that is ignored":        {world: gone + " task=t1; row t1 stopped updated=2h; vitals daytona/s1 at=4m cpu=40; vitals daytona/s1 at=2m cpu=40", rule: "stop-ignored", task: "t1"},
		"it was ended by us":            {world: gone + " active=5m", rule: "orphan", change: func(w *reconcile.Verdict) { w.ActedAt = w.At }},
		"it is told already":            {world: gone + " active=5m", rule: "orphan", change: func(w *reconcile.Verdict) { w.FalsePositiveAt = w.At }},
		"its task goes on":              {world: gone + " task=t1; task t1 running started=2h ev.heartbeat=5s", rule: "finished-lingering", task: "t1", wrong: true},
		"a stopped task goes on":        {world: gone + " task=t1; task t1 running started=2h ev.heartbeat=5s", rule: "stop-ignored", task: "t1", wrong: true},
		"it ignores the stop":           {world: gone + " task=t1 active=5m; row t1 stopped updated=2h ev.activity=5m", rule: "stop-ignored", task: "t1"},
		"a finished task is used":       {world: gone + " task=t1; row t1 completed updated=2h ev.activity=5m", rule: "finished-lingering", task: "t1", wrong: true},
		"it was used before":            {world: gone + " task=t1; row t1 completed updated=2h ev.activity=11m", rule: "finished-lingering", task: "t1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, asked := range []bool{true, false} {
				w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
				now := w.S.Memory.Now
				verdict := reconcile.Verdict{Number: 7, Rule: c.rule, Subject: "sandbox:daytona/s1", Task: c.task, Provider: "daytona",
					Sandbox: "s1", At: now.Add(-10 * time.Minute), TaskAt: w.S.Clock.Now.Add(-10 * time.Minute)}
				if c.change != nil {
					c.change(&verdict)
				}
				w.S.Memory.Verdicts = append(w.S.Memory.Verdicts, verdict)
				if asked {
					w.P.Proof = reconcile.ProofPolicy{FalsePositives: 0.02, Samples: 200}
				}
				j, _ := PlanWorld(w)
				wrong := slices.ContainsFunc(j.FalsePositives, func(f reconcile.FalsePositive) bool { return f.Verdict == 7 })
				if wrong != (c.wrong && asked) {
					t.Errorf("where proofs are asked for (%t): wrong %t, want %t: %+v", asked, wrong, c.wrong, j.FalsePositives)
				}
			}
		})
	}
}
