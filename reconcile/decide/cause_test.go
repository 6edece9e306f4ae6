package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestCause: what the failing ones share and the healthy ones do not. Ten healthy tasks run
// beside five failures.
func TestCause(t *testing.T) {
	const (
		healthy = "task w{01..10} running started=1h ev.heartbeat=9s; "
		failing = "task d{1..5} running started=1h timeout=10m ev.heartbeat=9s; "
		good    = "box daytona/w{01..10} running task=w{01..10} region=eu; "
		bad     = "box daytona/d{1..5} running task=d{1..5} region=us; "
		plain   = "box daytona/w{01..10} running task=w{01..10}; box daytona/d{1..5} running task=d{1..5}; "
		working = "worker 1 w01 w02 w03 w04 w05 w06 w07 w08 w09 w10; "
	)
	for name, c := range map[string]struct{ world, want string }{
		"nothing is known": {healthy + failing + plain, ""},
		"a region":         {healthy + failing + good + bad, "5 of 5 failures have region us, and so have 0 of 10 tasks that work"},
		"all are in it":    {healthy + failing + bad + "box daytona/w{01..10} running task=w{01..10} region=us", ""},
		"nobody works":     {failing + bad, ""},
		"one of ten healthy ones is in it": {healthy + failing + bad + "box daytona/w01 running task=w01 region=us; " +
			"box daytona/w{02..10} running task=w{02..10} region=eu", "region us, and so have 1 of 10"},
		"two of ten healthy ones are in it": {healthy + failing + bad + "box daytona/w{01..02} running task=w{01..02} region=us; " +
			"box daytona/w{03..10} running task=w{03..10} region=eu", ""},
		"four of five failures are in it": {healthy + failing + good + "box daytona/d{1..4} running task=d{1..4} region=us; " +
			"box daytona/d5 running task=d5 region=ap", ""},
		"a worker version": {healthy + failing + plain + working + "worker 2 d1 d2 d3 d4 d5",
			"5 of 5 failures have worker version 2, and so have 0 of 10"},
		"the same version everywhere": {healthy + failing + plain + working + "worker 1 d1 d2 d3 d4 d5", ""},
		"a region and a version": {healthy + failing + good + bad + working + "worker 2 d1 d2 d3 d4 d5",
			"region us, and so have 0 of 10 tasks that work; 5 of 5 failures have worker version 2"},
		"a template that works for nobody else": {healthy + failing + "box daytona/w{01..10} running task=w{01..10} " +
			"template=light; box daytona/d{1..5} running task=d{1..5} template=gpu", "5 of 5 failures have template gpu"},
		"an unusable template": {healthy + failing + plain + `template daytona/light inactive error="not used for 14 days"; ` +
			"started daytona/light ago=650h",
			`snapshot "light" is inactive (not used for 14 days), last successful start from it 2026-02-02 05:00`},
		"an unusable template that is another one": {healthy + failing + "template daytona/light inactive; " +
			"box daytona/w{01..10} running task=w{01..10} template=gpu; box daytona/d{1..5} running task=d{1..5} template=gpu", ""},
		"the provider's error": {healthy + failing + "box daytona/w{01..10} running task=w{01..10}; " +
			`box daytona/d{1..5} failed task=d{1..5} error="no runner 7 left"`, "the error is: no runner # left"},
		"a silent task is not healthy": {"task w{01..10} running started=1h ev.heartbeat=9m; " + failing + good + bad, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, "systemic count=5", c.world)
			w.Only("deadline-exceeded", "systemic")
			j := JudgeWorld(w)
			if len(j.Incidents) != 1 {
				t.Fatalf("incidents = %+v, want one", j.Incidents)
			}
			in := &j.Incidents[0]
			if c.want == "" && in.Cause != "" || !strings.Contains(in.Cause, c.want) {
				t.Errorf("cause = %q, want %q", in.Cause, c.want)
			}
			if len(in.Evidence) < causeExamples || c.want != "" && len(in.Evidence) == causeExamples {
				t.Errorf("evidence = %+v, want the examples and what speaks for the cause", in.Evidence)
			}
		})
	}
}
