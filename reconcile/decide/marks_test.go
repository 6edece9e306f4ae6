package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestRememberMark: when the ledger saw the mark of activity change last.
func TestRememberMark(t *testing.T) {
	for name, c := range map[string]struct {
		world string
		mark  string
		at    time.Duration // how long ago; negative: never
	}{
		"it changed":                {"task t1 running mark=2; knew task t1 running mark=1", "2", 0},
		"it changed before":         {"task t1 running mark=2; knew task t1 running mark=2 marked=5m", "2", 5 * time.Minute},
		"it changed again":          {"task t1 running mark=3; knew task t1 running mark=2 marked=5m", "3", 0},
		"it was never seen before":  {"task t1 running mark=2", "2", -1},
		"it is mapped since now":    {"task t1 running mark=2; knew task t1 running", "2", -1},
		"it never changed":          {"task t1 running mark=2; knew task t1 running mark=2", "2", -1},
		"it became empty":           {"task t1 running; knew task t1 running mark=2", "", -1},
		"it was empty, and is not":  {"task t1 running mark=2; knew task t1 running since=9m", "2", -1},
		"it became empty, and once": {"task t1 running; knew task t1 running mark=2 marked=5m", "", 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			v := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world)).View
			before := v.SeenTask(0)
			seen, _ := taskSeen(v, &v.S.Tasks[0], &before)
			want := time.Time{}
			if c.at >= 0 {
				want = worldtest.LedgerNow.Add(-c.at)
			}
			if !seen.MarkAt.Equal(want) || seen.MarkSum != reconcile.Sum(c.mark) {
				t.Errorf("remembered: at %s, of %q: %v; want %s", seen.MarkAt, c.mark, seen.MarkSum == reconcile.Sum(c.mark), want)
			}
		})
	}
}

// TestMarkIsActivity: a mark whose change the ledger timed is what the worker did, as long ago as that.
func TestMarkIsActivity(t *testing.T) {
	const world = "task w1 running started=1h ev.heartbeat=5s ev.activity=5s; box daytona/w1 running task=w1; " +
		"box daytona/s1 running task=t1; probe daytona/s1 answered=1s worker=dead alive=30m; probe daytona/w1 answered=1s worker=alive; "
	testRule(t, "inactive", map[string]ruleCase{
		"changed for the limit":        {world + "task t1 running started=1h mark=2; knew task t1 running mark=2 marked=15m", "due", "last activity 2026-03-01 11:45:00"},
		"changed a second later":       {world + "task t1 running started=1h mark=2; knew task t1 running mark=2 marked=14m59s", "healthy", ""},
		"changes now":                  {world + "task t1 running started=1h mark=3; knew task t1 running mark=2 marked=1h", "healthy", ""},
		"changed long ago, and events": {world + "task t1 running started=1h mark=2 ev.activity=10m; knew task t1 running mark=2 marked=1h", "healthy", ""},
		"was never seen to change":     {world + "task t1 running started=1h mark=2; knew task t1 running mark=2", "healthy", ""},
		"is mapped since now":          {world + "task t1 running started=1h mark=2; knew task t1 running", "healthy", ""},
		"nobody knew the task":         {world + "task t1 running started=1h mark=2", "healthy", ""},
		"changed while nobody watched": {world + "task t1 running started=1h mark=2; knew task t1 running mark=2 marked=1h; watched since=10m", "healthy", ""},
	})
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"a change inside the limit vetoes": {
			"task t1 running started=1h mark=2; knew task t1 running mark=2 marked=90s; knew box daytona/s1 running task=t1; look daytona/s1 gone",
			"kept", "last seen 1m30s ago"},
		"a change a second older does not": {
			"task t1 running started=1h mark=2; knew task t1 running mark=2 marked=91s; knew box daytona/s1 running task=t1; look daytona/s1 gone",
			"seen", ""},
	})
	testRule(t, "assigned-stale", map[string]ruleCase{
		"a change before it runs begins its time anew": {
			"task t1 assigned updated=4m mark=2; knew task t1 assigned since=4m mark=2 marked=2m; find t1 none",
			"kept", "assigned for 2m of 3m"},
		"a change for the limit": {
			"task t1 assigned updated=4m mark=2; knew task t1 assigned since=4m mark=2 marked=3m; find t1 none", "due", ""},
		"a change a moment ago: it is being set up": {
			"task t1 assigned updated=4m mark=2; knew task t1 assigned since=4m mark=1; find t1 none", "kept", "it is being set up"},
	})
}

// TestMarkLeavesTheSnapshot: what judging adds to a task stays with the judgement.
func TestMarkLeavesTheSnapshot(t *testing.T) {
	w := worldtest.NewWorld(t, "task t1 running started=1h mark=2; knew task t1 running mark=1")
	j := JudgeWorld(w)
	if !w.S.Tasks[0].ActivityAt.IsZero() || j.View.S.Tasks[0].ActivityAt.IsZero() {
		t.Errorf("activity %v in the snapshot, %v in the judgement; want it in the judgement alone",
			w.S.Tasks[0].ActivityAt, j.View.S.Tasks[0].ActivityAt)
	}
	if second := j.View.TaskSubject(&reconcile.Task{ID: "t1", State: reconcile.TaskRunning, Mark: "3", AsOf: worldtest.TaskNow}, nil); !second.Task.ActivityAt.Equal(worldtest.TaskNow) {
		t.Errorf("a second look sees activity at %v, want it now", second.Task.ActivityAt)
	}
}
