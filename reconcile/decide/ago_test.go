package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestBegan: when what each rule finds began, by the ledger's clock.
func TestBegan(t *testing.T) {
	const others = "task w{1..4} running started=1h ev.heartbeat=1s ev.activity=1s; box daytona/w{1..4} running task=w{1..4}; "
	const box = "box daytona/s1 running task=t1; "
	const fails = "probe daytona/s1 failed=10s; probe daytona/w1 answered=10s; "
	const dead = "probe daytona/s1 answered=1s worker=dead; probe daytona/w1 answered=1s worker=alive; "
	for name, c := range map[string]struct {
		rule, world string
		ago         time.Duration
	}{
		"a stop":                                 {"stop-ignored", box + "row t1 stopped updated=42s", 42 * time.Second},
		"a timeout":                              {"deadline-exceeded", box + "task t1 running started=11m timeout=10m", time.Minute},
		"a timeout at this moment":               {"deadline-exceeded", box + "task t1 running started=10m timeout=10m", 1},
		"a deadline":                             {"deadline-exceeded", box + "task t1 running started=1h deadline=3m", 3 * time.Minute},
		"a timeout, timed by the ledger":         {"deadline-exceeded", box + "task t1 running timeout=10m; knew task t1 running since=12m", 2 * time.Minute},
		"a deadline, timed by the ledger":        {"deadline-exceeded", box + "task t1 running deadline=3m; knew task t1 running since=12m", 3 * time.Minute},
		"the last life sign":                     {"heartbeat-lost", others + box + fails + "task t1 running started=1h ev.heartbeat=100s", 100 * time.Second},
		"an earlier attempt's is not this one's": {"heartbeat-lost", others + box + fails + "task t1 running started=95s heartbeat=1h", 95 * time.Second},
		"the last activity":                      {"inactive", others + box + dead + "task t1 running started=1h ev.heartbeat=1s ev.activity=16m", 16 * time.Minute},
		"it was handed out":                      {"assigned-stale", "task t1 assigned updated=4m; find t1 none", 4 * time.Minute},
		"its sandbox was gone": {"sandbox-missing", "task t1 running started=1h; find t1 none; knew box daytona/s1 running " +
			"task=t1 gone=2m; look daytona/s1 gone; finding sandbox-missing task:t1 first=1m last=15s sighted=15s", 2 * time.Minute},
		"its sandbox was stopped": {"sandbox-missing", "task t1 running started=1h; box daytona/s1 stopped task=t1; " +
			"knew box daytona/s1 stopped since=5m; finding sandbox-missing task:t1 first=1m last=15s sighted=15s", 5 * time.Minute},
		"its sandbox was missed": {"sandbox-missing", "provider daytona id=yes; task t1 running started=1h sandbox=s1; look daytona/s1 gone; " +
			"find t1 none; finding sandbox-missing task:t1 first=1m last=15s sighted=15s", time.Minute},
		"the first failed probe": {"idle-broken", box + "task t1 running started=1h; probe daytona/s1 failed=5m,3m,1m", 5 * time.Minute},
		"orphans have no begin":  {"orphan", "box daytona/s1 running; finding orphan sandbox:daytona/s1 first=1h last=2m sighted=2m sightings=3", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
			w.Only(c.rule)
			found := false
			for _, d := range JudgeWorld(w).Decisions {
				for _, f := range d.Findings {
					found = true
					want := time.Time{}
					if c.ago > 0 {
						want = worldtest.LedgerNow.Add(-c.ago)
					}
					if !f.Began.Equal(want) {
						t.Errorf("began %s, want %s", f.Began, want)
					}
				}
			}
			if !found {
				t.Errorf("%s finds nothing", c.rule)
			}
		})
	}
}

// TestAuthoritativeEnd: a deadline writes the row first and ends the sandboxes after it; a
// stop was written by a person, so only the sandbox is left to be ended.
func TestAuthoritativeEnd(t *testing.T) {
	for world, want := range map[string][]reconcile.Step{
		"box daytona/s{1..2} running task=t1; task t1 running started=11m timeout=10m ev.heartbeat=1s ev.activity=1s": {
			reconcile.StepFail, reconcile.StepTerminate, reconcile.StepTerminate},
		"box daytona/s1 running task=t1; row t1 stopped updated=5s ev.heartbeat=1s": {reconcile.StepTerminate},
	} {
		w := worldtest.NewWorld(t, world)
		w.Only("deadline-exceeded", "stop-ignored")
		_, p := PlanWorld(w)
		var got []reconcile.Step
		for i := range p.Actions {
			if p.Actions[i].Seq != i || p.Actions[i].Remedy != p.Actions[0].ID {
				t.Errorf("step %d has place %d of remedy %s", i, p.Actions[i].Seq, p.Actions[i].Remedy)
			}
			got = append(got, p.Actions[i].Step)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: steps %v, want %v", world, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: steps %v, want %v", world, got, want)
			}
		}
	}
}
