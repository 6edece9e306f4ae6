package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestRememberBeat: the interval between two heartbeats that were seen one after the other, while the
// worker did nothing else.
func TestRememberBeat(t *testing.T) {
	for name, c := range map[string]struct {
		world    string
		at, gap  time.Duration // how old the heartbeat is that is remembered, and the interval
		unbeaten bool
	}{
		"the first one":                   {world: "task t1 running ev.heartbeat=5s; knew task t1 running", at: 5 * time.Second},
		"the next one":                    {world: "task t1 running ev.heartbeat=5s; knew task t1 running beat=65s", at: 5 * time.Second, gap: time.Minute},
		"the same one":                    {world: "task t1 running ev.heartbeat=5s; knew task t1 running beat=5s gap=30s", at: 5 * time.Second, gap: 30 * time.Second},
		"an older one":                    {world: "task t1 running ev.heartbeat=9s; knew task t1 running beat=5s gap=30s", at: 5 * time.Second, gap: 30 * time.Second},
		"the column is as good":           {world: "task t1 running heartbeat=5s; knew task t1 running beat=65s", at: 5 * time.Second, gap: time.Minute},
		"work between":                    {world: "task t1 running ev.heartbeat=5s ev.activity=64s; knew task t1 running beat=65s gap=30s", at: 5 * time.Second},
		"work at the moment of the first": {world: "task t1 running ev.heartbeat=5s ev.activity=65s; knew task t1 running beat=65s", at: 5 * time.Second, gap: time.Minute},
		"a start between":                 {world: "task t1 running ev.heartbeat=5s ev.started=9s; knew task t1 running beat=65s", at: 5 * time.Second},
		"from the future":                 {world: "task t1 running ev.heartbeat=-1h; knew task t1 running beat=65s gap=30s", at: 65 * time.Second, gap: 30 * time.Second},
		"a clock that is a little ahead":  {world: "task t1 running ev.heartbeat=-5s; knew task t1 running beat=65s", at: -5 * time.Second, gap: 70 * time.Second},
		"none":                            {world: "task t1 running; knew task t1 running since=9m", unbeaten: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
			v := JudgeWorld(w).View
			before := v.SeenTask(0)
			seen, _ := taskSeen(v, &v.S.Tasks[0], &before)
			if c.unbeaten != seen.BeatAt.IsZero() {
				t.Fatalf("remembered at %v", seen.BeatAt)
			}
			if !c.unbeaten && (!seen.BeatAt.Equal(worldtest.TaskNow.Add(-c.at)) || seen.BeatGap != c.gap) {
				t.Errorf("remembered: %s ago, gap %s; want %s, gap %s", worldtest.TaskNow.Sub(seen.BeatAt), seen.BeatGap, c.at, c.gap)
			}
		})
	}
}

// TestMeasuredBeat: an interval counts when a worker took it twice in a row, and no pass can have
// missed a heartbeat in between.
func TestMeasuredBeat(t *testing.T) {
	const twice = "task t1 running ev.heartbeat=5s; knew task t1 running beat=3m5s gap=4m; "
	for name, c := range map[string]struct {
		world   string
		between time.Duration // since the last pass
		want    time.Duration
	}{
		"twice in a row, the shorter counts": {twice, 15 * time.Second, 3 * time.Minute},
		"the shorter came first":             {"task t1 running ev.heartbeat=5s; knew task t1 running beat=4m5s gap=2m", 15 * time.Second, 2 * time.Minute},
		"the longest of several workers": {twice + "task t2 running ev.heartbeat=5s; knew task t2 running beat=5m5s gap=5m", 15 * time.Second,
			5 * time.Minute},
		"once":                              {"task t1 running ev.heartbeat=5s; knew task t1 running beat=3m5s", 15 * time.Second, 0},
		"no newer one":                      {"task t1 running ev.heartbeat=5s; knew task t1 running beat=5s gap=3m", 15 * time.Second, 0},
		"work between":                      {"task t1 running ev.heartbeat=5s ev.activity=9s; knew task t1 running beat=3m5s gap=4m", 15 * time.Second, 0},
		"not known to the ledger":           {"task t1 running ev.heartbeat=5s", 15 * time.Second, 0},
		"over by now":                       {"row t1 completed ev.heartbeat=5s; knew task t1 running beat=3m5s gap=4m", 15 * time.Second, 0},
		"assigned":                          {"task t1 assigned ev.heartbeat=5s; knew task t1 assigned beat=3m5s gap=4m", 15 * time.Second, 0},
		"as long as between two passes":     {twice, 3 * time.Minute, 0},
		"longer by a fifth":                 {twice, 150 * time.Second, 0},
		"longer by more than a fifth":       {twice, 149 * time.Second, 3 * time.Minute},
		"measured before, and longer":       {"source events trusted beat=5m; " + twice, 15 * time.Second, 294 * time.Second},
		"measured before, and nothing now":  {"source events trusted beat=100s; task t1 running ev.heartbeat=5s", 15 * time.Second, 98 * time.Second},
		"measured before, and shorter":      {"source events trusted beat=1m; " + twice, 15 * time.Second, 3 * time.Minute},
		"as long as is believed":            {"task t1 running ev.heartbeat=5s; knew task t1 running beat=10m5s gap=1h", 15 * time.Second, 10 * time.Minute},
		"longer than is believed":           {"task t1 running ev.heartbeat=5s; knew task t1 running beat=12h gap=12h", 15 * time.Second, 10 * time.Minute},
		"a pass that was never made before": {twice, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
			if c.between > 0 {
				w.S.Memory.LastPass = worldtest.LedgerNow.Add(-c.between)
			}
			for _, seen := range JudgeWorld(w).Sources {
				if seen.Name == reconcile.SourceEvents && seen.Beat != c.want {
					t.Errorf("measured %s, want %s", seen.Beat, c.want)
				}
			}
		})
	}
}

// TestMeasuredLimit: three measured heartbeats raise the limit, also that of the veto, and never lower it.
func TestMeasuredLimit(t *testing.T) {
	const beat = "source events trusted beat=60s; "
	const world = "task w1 running started=1h ev.heartbeat=5s; box daytona/w1 running task=w1; box daytona/s1 running task=t1; " +
		"probe daytona/s1 failed=10s; probe daytona/w1 answered=10s; "
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"silent for the measured limit":   {beat + world + "task t1 running started=1h ev.heartbeat=180s", "healthy", ""},
		"silent for a second more":        {beat + world + "task t1 running started=1h ev.heartbeat=181s", "due", "limit 3m"},
		"a short one lowers no limit":     {"source events trusted beat=5s; " + world + "task t1 running started=1h ev.heartbeat=90s", "healthy", ""},
		"nor does it where it is silent":  {"source events trusted beat=5s; " + world + "task t1 running started=1h ev.heartbeat=91s", "due", "limit 1m30s"},
		"a class that may be silent long": {beat + "rule heartbeat-lost when.task.type=gpu then=10m; " + world + "task t1 running started=1h ev.heartbeat=9m attr.type=gpu", "healthy", ""},
	})
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"the veto at the measured limit": {beat + "knew box daytona/s1 running task=t1; look daytona/s1 gone; task t1 running started=1h ev.heartbeat=180s", "kept", "last seen 3m ago"},
		"the veto a second later":        {beat + "knew box daytona/s1 running task=t1; look daytona/s1 gone; task t1 running started=1h ev.heartbeat=181s", "seen", ""},
	})
}

// TestBeatOutlastsAnOutage: what was measured is not forgotten while events are out.
func TestBeatOutlastsAnOutage(t *testing.T) {
	w := worldtest.NewWorld(t, "source events trusted beat=60s; task t{1..3} running started=1h ev.heartbeat=1h; box daytona/s{1..3} running task=t{1..3}")
	for _, seen := range JudgeWorld(w).Sources {
		if seen.Name == reconcile.SourceEvents && (seen.Trusted || seen.Beat != 60*time.Second-60*time.Second/view.BeatWanes) {
			t.Errorf("events: %+v, want them untrusted and the measure kept", seen)
		}
	}
}

// TestDue: after which newest sign another one is promised.
func TestDue(t *testing.T) {
	for world, want := range map[string]bool{
		"ev.heartbeat=5s":                              true,
		"heartbeat=5s":                                 true,
		"ev.waiting=5s":                                true,
		"ev.heartbeat=5s ev.activity=5s":               true,
		"ev.heartbeat=5s ev.activity=4s":               false,
		"ev.heartbeat=5s ev.started=4s":                false,
		"ev.heartbeat=5s activity=4s":                  false,
		"ev.waiting=5s ev.activity=4s":                 false,
		"ev.heartbeat=9s heartbeat=5s ev.activity=6s":  true,
		"ev.heartbeat=5s ev.activity=9s ev.started=9s": true,
		"ev.activity=5s":                               false,
		"":                                             false,
		"ev.finished=1s ev.heartbeat=5s":               true,
		"ev.heartbeat=5s updated=1s":                   true,
	} {
		w := worldtest.NewWorld(t, "task t1 running "+world)
		if got := view.TaskDue(&w.S.Tasks[0]); got != want {
			t.Errorf("%q is due: %v, want %v", world, got, want)
		}
	}
}
