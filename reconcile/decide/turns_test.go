package decide

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// countedIn are the tallies of one look in words, and what the ledger remembers after it.
func countedIn(w *worldtest.World) string {
	j, p := PlanWorld(w)
	v := j.View
	var out []string
	for _, c := range Tallies(v, SeenTasks(v), SeenSandboxes(v, j.Decisions)) {
		words := fmt.Sprintf("%s %s %d", c.Name, c.Provider, c.Value)
		out = append(out, strings.Join(strings.Fields(words), " "))
	}
	remember(w, j, p)
	return strings.Join(out, ", ")
}

// TestTallies: each event of a life counts once over many looks, whatever comes between.
func TestTallies(t *testing.T) {
	type look struct{ world, want string }
	const box = "box daytona/s1 running task=t1; "
	for name, looks := range map[string][]look{
		"another sandbox, and its worker speaks": {
			{"task t1 running started=1h sandbox=s1", ""},
			{"task t1 running started=1h sandbox=s2 ev.heartbeat=1s", "recreations daytona 1"},
			{"task t1 running started=1h sandbox=s2 ev.heartbeat=1m1s", ""},
			{"task t1 running started=1h sandbox=s2 ev.heartbeat=1s", "recreations_back daytona 1"},
			{"task t1 running started=1h sandbox=s2 ev.heartbeat=1s", ""},
		},
		"another sandbox, and the task is completed": {
			{"task t1 running started=1h sandbox=s1", ""},
			{"task t1 running started=1h sandbox=s2", "recreations daytona 1"},
			{"row t1 completed sandbox=s2", "recreations_back daytona 1"},
			{"row t1 completed sandbox=s2", ""},
		},
		"another sandbox, and the task fails": {
			{"task t1 running started=1h sandbox=s1", ""},
			{"task t1 running started=1h sandbox=s2", "recreations daytona 1"},
			{"row t1 failed sandbox=s2", ""},
			{"task t1 running sandbox=s3", "recreations daytona 1"},
			{"task t1 running sandbox=s3 ev.heartbeat=1s", "recreations_back daytona 1"},
		},
		"cleared by a requeue, and live again with another": {
			{"task t1 running started=1h sandbox=s1", ""},
			{"task t1 pending", ""},
			{"task t1 assigned", ""},
			{"task t1 running sandbox=s2", "recreations daytona 1"},
			{"task t1 running sandbox=s2 ev.heartbeat=5s", "recreations_back daytona 1"},
		},
		"its first sandbox": {
			{"task t1 pending", ""},
			{"task t1 running sandbox=s1", ""},
			{"task t1 running sandbox=s1 ev.heartbeat=5s", ""},
		},
		"paused, resumed, and a probe is answered": {
			{"task t1 running started=9h; box daytona/s1 running task=t1", ""},
			{"task t1 running started=9h; box daytona/s1 suspended task=t1", ""},
			{"task t1 running started=9h; box daytona/s1 creating task=t1", "resumes daytona 1"},
			{"task t1 running started=9h; " + box, ""},
			{"task t1 running started=9h; " + box + "probe daytona/s1 answered=2m1s", ""},
			{"task t1 running started=9h; " + box + "probe daytona/s1 answered=1s", "resumes_worked daytona 1"},
			{"task t1 running started=9h; " + box + "probe daytona/s1 answered=1s", ""},
		},
		"stopped, resumed, and its worker speaks; then once more": {
			{"task t1 running started=9h; box daytona/s1 stopped task=t1", ""},
			{"task t1 running started=9h; " + box, "resumes daytona 1"},
			{"task t1 running started=9h ev.heartbeat=1m1s; " + box, ""},
			{"task t1 running started=9h ev.heartbeat=5s; " + box, "resumes_worked daytona 1"},
			{"task t1 running started=9h ev.heartbeat=5s; box daytona/s1 suspended task=t1", ""},
			{"task t1 running started=9h ev.heartbeat=5s; " + box, "resumes daytona 1"},
			{"task t1 running started=9h ev.heartbeat=5s; " + box, "resumes_worked daytona 1"},
		},
		"a first start is no resume": {
			{"task t1 running started=9h; box daytona/s1 creating task=t1", ""},
			{"task t1 running started=9h ev.heartbeat=5s; " + box, ""},
		},
		"work after a stop": {
			{"task t1 running started=9h ev.heartbeat=5s updated=1h; " + box, ""},
			{"row t1 stopped updated=10s ev.heartbeat=12s; " + box, ""},
			{"row t1 stopped updated=1m ev.heartbeat=1s; " + box, "work_after_stop daytona 1"},
			{"row t1 stopped updated=2m ev.heartbeat=1s; " + box, ""},
			{"row t1 stopped updated=2m ev.heartbeat=0s; " + box, "work_after_stop daytona 1"},
			{"row t1 stopped updated=2m ev.heartbeat=-1h; " + box, ""},
			{"task t1 running started=1s updated=1s ev.heartbeat=0s; " + box, ""},
		},
		"work after a stop, seen in the look that sees the stop": {
			{"task t1 running started=9h updated=1h; " + box, ""},
			{"row t1 stopped updated=1m ev.activity=30s; " + box, "work_after_stop daytona 1"},
			{"row t1 stopped updated=2m ev.activity=1m; " + box, ""},
		},
		"work after a stop, of a task that was never seen before": {
			{"row t1 stopped updated=8s ev.heartbeat=2s; " + box, "work_after_stop daytona 1"},
			{"row t1 stopped updated=1m8s ev.heartbeat=1m2s; " + box, ""},
		},
		"a stop of a task that was never seen before": {
			{"row t1 stopped updated=8s ev.heartbeat=9s; " + box, ""},
			{"row t1 stopped updated=1m8s ev.heartbeat=1s; " + box, "work_after_stop daytona 1"},
		},
		"a stop that nothing times": {
			{"task t1 running started=9h; " + box, ""},
			{"row t1 stopped ev.activity=1s; " + box, ""},
			{"row t1 stopped ev.activity=1s; " + box, "work_after_stop daytona 1"},
		},
		"a stopped row is touched: that is no work": {
			{"task t1 running started=9h updated=1h; " + box, ""},
			{"row t1 stopped updated=10s activity=10s; " + box, ""},
			{"row t1 stopped updated=1s activity=1s; " + box, ""},
		},
		"another sandbox, and its row is set up once more": {
			{"task t1 running started=1h sandbox=s1", ""},
			{"task t1 running started=1h sandbox=s2", "recreations daytona 1"},
			{"task t1 assigned updated=1s activity=1s", ""},
		},
		"resumed, and its row is set up once more": {
			{"task t1 assigned updated=1h activity=1h; box daytona/s1 stopped task=t1", ""},
			{"task t1 assigned updated=1h activity=1h; " + box, "resumes daytona 1"},
			{"task t1 assigned updated=1s activity=1s; " + box, ""},
			{"task t1 running updated=1s activity=1s; " + box, "resumes_worked daytona 1"},
		},
		"a failed task's worker lives on: that is no stop": {
			{"task t1 running started=9h updated=1h; " + box, ""},
			{"row t1 failed updated=1m ev.activity=30s; " + box, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t)
			for i, l := range looks {
				w.Observe(l.world)
				if got := countedIn(w); got != l.want {
					t.Fatalf("look %d (%s) counts %q, want %q", i, l.world, got, l.want)
				}
				w.S.Memory.Now = w.S.Memory.Now.Add(time.Minute)
			}
		})
	}
}

// TestTalliesProvider: a task counts for a provider only where there is no doubt which.
func TestTalliesProvider(t *testing.T) {
	for row, want := range map[string]string{
		"task t1 running sandbox=s2":               "recreations 1",
		"task t1 running sandbox=s2 provider=e2b":  "recreations e2b 1",
		"task t1 running sandbox=s2 provider=moon": "recreations 1",
	} {
		if got := countedIn(worldtest.NewWorld(t, "provider e2b; knew task t1 running sandbox=s1", row)); got != want {
			t.Errorf("%s counts %q, want %q", row, got, want)
		}
	}
}

// TestTalliesUntrusted: what a wrong database shows is not counted.
func TestTalliesUntrusted(t *testing.T) {
	w := worldtest.NewWorld(t, "tasks standby; knew task t1 running sandbox=s1; task t1 running sandbox=s2")
	if got := countedIn(w); got != "" {
		t.Errorf("counts %q of a database that is not trusted", got)
	}
}
