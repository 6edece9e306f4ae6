package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestLooping(t *testing.T) {
	const live = "task t1 pending updated=1m attempts=3/9; "
	testRule(t, "looping", map[string]ruleCase{
		"three times within the hour":        {live + "knew task t1 pending turns=1h,30m,2m", "report", "3 attempts ended without success within 1h, the last 2m ago"},
		"the first a second too long ago":    {live + "knew task t1 pending turns=1h0m1s,30m,2m", "healthy", ""},
		"twice":                              {live + "knew task t1 pending turns=30m,2m", "healthy", ""},
		"more often before":                  {live + "knew task t1 pending turns=5h,4h,3h,2h,30m,2m", "healthy", ""},
		"the ledger's clock ran backwards":   {live + "knew task t1 pending turns=-1m,-2m,-3m", "report", ""},
		"the third in this pass":             {live + "knew task t1 running turns=30m,2m", "report", "the last 0s ago"},
		"it runs once more":                  {"task t1 running started=1m; knew task t1 running turns=30m,20m,2m", "report", ""},
		"it is over":                         {"row t1 failed updated=1m; box daytona/s1 running task=t1; knew task t1 failed turns=30m,20m,2m", "healthy", ""},
		"never seen before":                  {live, "healthy", ""},
		"another count":                      {"rule looping count=2; " + live + "knew task t1 pending turns=30m,2m", "report", ""},
		"another window":                     {"rule looping window=10m; " + live + "knew task t1 pending turns=30m,20m,2m", "healthy", ""},
		"a remedy that changes is not taken": {"rule looping remedy=fail; " + live + "knew task t1 pending turns=30m,20m,2m", "report", ""},
	})
}

// TestLoopingStopsRequeues: asked by whoever requeues; a rule that is off stops nobody.
func TestLoopingStopsRequeues(t *testing.T) {
	for world, want := range map[string]bool{
		"knew task t1 running turns=30m,20m,2m":                                     true,
		"knew task t1 running turns=30m,2m":                                         false,
		"knew task t1 running turns=30m,20m,2m; rule looping mode=observe":          true,
		"knew task t1 running turns=30m,20m,2m; rule looping mode=off":              false,
		"knew task t1 running turns=30m,20m,2m; rule looping count=0":               false,
		"knew task t1 running turns=30m,20m,2m,90s; rule looping count=4 window=1h": true,
	} {
		j := JudgeWorld(worldtest.NewWorld(t, "task t1 running started=1h updated=1h", world))
		if n, got := rules.AttemptsEnded(j.View, j.Decisions[0].Subject); got != want {
			t.Errorf("%s: looping = %d, %v, want %v", world, n, got, want)
		}
	}
}

// TestTurns: what ends an attempt without success, and what does not.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		before, now string
		want        int
	}{
		"it failed":                            {"running", "row t1 failed", 1},
		"it failed before it started":          {"assigned", "row t1 failed", 1},
		"it waits again":                       {"running", "task t1 pending", 1},
		"it waits again, never started":        {"assigned", "task t1 pending", 1},
		"handed out anew":                      {"running", "task t1 assigned", 1},
		"it was completed":                     {"running", "row t1 completed", 0},
		"it was stopped":                       {"running", "row t1 stopped", 0},
		"it is not mapped":                     {"running", "task t1 unknown", 0},
		"it was handed out":                    {"pending", "task t1 assigned", 0},
		"it began":                             {"assigned", "task t1 running", 0},
		"it began, with its first session":     {"assigned", "task t1 running session=a attempts=1/3 sandbox=s1", 0},
		"nothing happened":                     {"running session=a attempts=1 sandbox=s1", "task t1 running session=a attempts=1/3 sandbox=s1", 0},
		"its row was touched":                  {"running updated=1h", "task t1 running updated=1s", 0},
		"its first session came while it ran":  {"running", "task t1 running session=a", 0},
		"its first sandbox came while it ran":  {"running", "task t1 running sandbox=s1", 0},
		"another session":                      {"running session=a", "task t1 running session=b", 1},
		"the session ended":                    {"running session=a", "task t1 running", 0},
		"another sandbox":                      {"running sandbox=s1", "task t1 running sandbox=s2", 1},
		"no sandbox any more":                  {"running sandbox=s1", "task t1 running", 0},
		"another attempt":                      {"running attempts=1", "task t1 running attempts=2/3", 1},
		"all of these at once are one":         {"running attempts=1 session=a sandbox=s1", "task t1 running attempts=2/3 session=b sandbox=s2", 1},
		"fewer attempts":                       {"running attempts=2", "task t1 running attempts=1/3", 0},
		"attempts are counted at the start":    {"assigned attempts=1", "task t1 running attempts=2/3", 0},
		"attempts are counted at the hand-out": {"pending attempts=1", "task t1 assigned attempts=2/3", 0},
		"another attempt, assigned":            {"assigned attempts=1", "task t1 assigned attempts=2/3", 1},
		"another sandbox, assigned: it was the last attempt's":    {"assigned sandbox=s1", "task t1 assigned sandbox=s2", 0},
		"a failed one waits again: it was counted when it failed": {"failed", "task t1 pending", 0},
		"a failed one runs again":                                 {"failed", "task t1 running attempts=2/3", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, "knew task t1 "+c.before, c.now)
			for _, seen := range SeenTasks(JudgeWorld(w).View) {
				if seen.ID == "t1" && len(seen.Attempts) != c.want {
					t.Errorf("turns = %v, want %d", seen.Attempts, c.want)
				}
			}
			if got := JudgeWorld(w).View.Entered(w.S.Memory.Tasks.Of("t1"), w.Task1()).Attempts; len(got) != c.want {
				t.Errorf("turns of the subject = %v, want %d", got, c.want)
			}
		})
	}
}

// TestTurnsOverPasses: each turn counts once, however often it is looked at, and at most ten
// are kept.
func TestTurnsOverPasses(t *testing.T) {
	w := worldtest.NewWorld(t, "task t1 running started=1h updated=1h sandbox=s1 attempts=0/99")
	for i := range 14 {
		for _, text := range []string{"row t1 failed", "row t1 failed", "task t1 pending", "task t1 pending", "task t1 assigned", "task t1 running"} {
			j, p := PlanWorld(w)
			remember(w, j, p)
			w.S.Memory.Now = w.S.Memory.Now.Add(time.Minute)
			w.Observe(text + " updated=1s attempts=" + string(rune('1'+min(i, 8))) + "/99")
		}
	}
	j, p := PlanWorld(w)
	remember(w, j, p)
	attempts := w.S.Memory.Tasks.Of("t1").Attempts
	if len(attempts) != view.MostTurns {
		t.Fatalf("%d turns, want %d", len(attempts), view.MostTurns)
	}
	for i := range attempts[1:] {
		if got := attempts[i+1].Sub(attempts[i]); got != 6*time.Minute {
			t.Errorf("turn %d came %s after the one before, want 6m", i+1, got)
		}
	}
}

// TestTurnsAreNews: a turn alone is news for the ledger, and the ledger's own list is never
// written to.
func TestTurnsAreNews(t *testing.T) {
	attempts := make([]time.Time, 2, 9)
	one := reconcile.TaskSeen{Attempts: attempts}
	two := reconcile.TaskSeen{Attempts: view.Turned(attempts, worldtest.LedgerNow)}
	if taskSeenSame(&one, &two) || !taskSeenSame(&two, &two) || len(attempts) != 2 || !attempts[:3][2].IsZero() {
		t.Errorf("one turn more is no news, or was written into %v", attempts[:3])
	}
	for name, other := range map[string]reconcile.TaskSeen{
		"recreated": {Recreated: worldtest.LedgerNow}, "late": {LateSign: worldtest.LedgerNow},
	} {
		if taskSeenSame((&reconcile.TaskSeen{}), &other) {
			t.Errorf("%s is no news", name)
		}
	}
}
