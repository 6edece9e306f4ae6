package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestPendingStuck(t *testing.T) {
	testRule(t, "pending-stuck", map[string]ruleCase{
		"pending for the limit":            {"task t1 pending updated=10m", "report", "nothing picks it up: pending for 10m"},
		"pending for a second less":        {"task t1 pending updated=9m59s", "healthy", ""},
		"updated in the future":            {"task t1 pending updated=-1h", "healthy", ""},
		"not due yet":                      {"task t1 pending updated=1h due=-1m", "healthy", ""},
		"due a moment ago":                 {"task t1 pending updated=1h due=9m", "healthy", ""},
		"due long ago":                     {"task t1 pending updated=1h due=10m", "report", ""},
		"since its own clock says so":      {"task t1 pending updated=1m since=10m", "report", "pending for 10m"},
		"created long ago, pending lately": {"task t1 pending created=9h updated=1m", "healthy", ""},
		"the ledger saw it longer":         {"task t1 pending updated=1m; knew task t1 pending since=10m", "report", ""},
		"run again a moment ago":           {"task t1 pending updated=1h; knew task t1 failed since=30m", "healthy", ""},
		"run again for a second less":      {"task t1 pending updated=12m; knew task t1 pending since=9m59s first=1h", "healthy", ""},
		"run again long ago":               {"task t1 pending updated=1h; knew task t1 pending since=10m", "report", "pending for 10m"},
		"pending since it was first seen":  {"task t1 pending updated=1h; knew task t1 pending since=5m first=5m", "report", "pending for 1h"},
		"no clock at all":                  {"task t1 pending", "healthy", ""},
		"assigned":                         {"task t1 assigned updated=1h", "healthy", ""},
		"failed":                           {"row t1 failed updated=1h; box daytona/s1 running task=t1", "healthy", ""},
		"a worker of it speaks":            {"task t1 pending updated=1h ev.heartbeat=90s", "kept", "a worker of it was last seen 1m30s ago"},
		"a worker of it spoke":             {"task t1 pending updated=1h ev.heartbeat=91s", "report", ""},
		"a sandbox comes up for it":        {"task t1 pending updated=1h; box daytona/s1 creating task=t1", "kept", "s1 is creating"},
		"tasks came back a moment ago":     {"task t1 pending updated=1h; source tasks trusted recovered=9m59s", "healthy", ""},
		"tasks came back long ago":         {"task t1 pending updated=1h; source tasks trusted recovered=10m", "report", ""},
		"a class with more time": {
			"rule pending-stuck when.task.type=gpu then=1h; task t1 pending updated=59m attr.type=gpu", "healthy", ""},
		"its template is inactive": {
			"task t1 pending updated=1h template=light; template daytona/light inactive", "report", `snapshot "light" is inactive`},
		"a quota is used up":     {"task t1 pending updated=1h; quota daytona cpu used=95", "report", "at daytona quota cpu: 95 of 100 used"},
		"a quota is not used up": {"task t1 pending updated=1h; quota daytona cpu used=94", "report", "pending for 1h\n"},
		"the config wants it failed": {
			"rule pending-stuck remedy=fail; task t1 pending updated=10m", "due", ""},
		"tasks are not trusted": {
			"tasks standby; task t1 pending updated=10m", "held", "tasks-untrusted"},
	})
}

// TestPendingStuckEvidence: all quotas and how many run are in it, also those that are fine.
func TestPendingStuckEvidence(t *testing.T) {
	w := worldtest.NewWorld(t, "task t1 pending updated=1h; task w1 running started=1h; quota daytona cpu used=10; "+
		"template daytona/light failed")
	w.Only("pending-stuck")
	var facts []string
	for _, d := range JudgeWorld(w).Decisions {
		for _, f := range d.Findings {
			for _, e := range f.Evidence {
				facts = append(facts, e.Source+": "+e.Fact)
			}
		}
	}
	got := strings.Join(facts, "\n")
	for _, want := range []string{"tasks: pending for 1h by updated_at, limit 10m; 1 tasks run",
		"daytona: quota cpu: 10 of 100 used", `daytona: snapshot "light" is failed`} {
		if !strings.Contains(got, want) {
			t.Errorf("evidence is\n%s\nwant %q in it", got, want)
		}
	}
}
