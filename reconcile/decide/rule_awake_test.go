package decide

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestAwake(t *testing.T) {
	const ran = "knew box daytona/s1 running task=t1 since=1h; box daytona/s1 running task=t1; "
	testRule(t, "awake", map[string]ruleCase{
		"parked, and its sandbox runs":          {ran + "row t1 parked updated=1h", "report", "its task is parked"},
		"parked a moment less":                  {ran + "row t1 parked updated=59m59s", "kept", "of 1h"},
		"parked long ago, and it runs for less": {"knew box daytona/s1 running task=t1 since=59m; box daytona/s1 running task=t1; row t1 parked updated=9h", "kept", ""},
		"parked, by its own clock":              {ran + "row t1 parked updated=1m since=1h", "report", ""},
		"parked, and it is suspended":           {"box daytona/s1 suspended task=t1; row t1 parked updated=9h", "healthy", ""},
		"parked, and it is foreign":             {"box daytona/s1 running task=t1 owned=no; row t1 parked updated=9h", "healthy", ""},
		"parked outside of where":               {ran + "row t1 parked updated=9h outside=yes", "healthy", ""},
		"waits by design":                       {ran + "row t1 waiting updated=9h", "healthy", ""},
		"runs, and should sleep":                {ran + "task t1 running started=9h sleeps=1h", "report", "should have put it to sleep 1h ago"},
		"runs, and should sleep since less":     {ran + "task t1 running started=9h sleeps=59m", "kept", ""},
		"runs, and will sleep":                  {ran + "task t1 running started=9h sleeps=-1m", "healthy", ""},
		"over, and should sleep":                {ran + "row t1 completed updated=9h sleeps=9h", "healthy", ""},
		"parked, and its rule stops":            {"rule awake remedy=stop; " + ran + "row t1 parked updated=1h", "held", "cannot stop or pause"},
		"parked, its rule stops, and it was used since": {"rule awake remedy=stop; " + ran +
			"row t1 parked updated=9h activity=59m", "report", "it was used 59m ago"},
		"parked, its rule stops, and nothing tells of its use": {"tasks eventless; rule awake remedy=stop; " + ran + "row t1 parked updated=9h", "report",
			"nothing here tells when it was used last"},
		"runs, should sleep, and its rule stops": {"rule awake remedy=stop; " + ran + "task t1 running started=9h sleeps=1h",
			"report", "its row says that it runs"},
		"the table was down until a while ago": {ran + "row t1 parked updated=9h; source tasks trusted recovered=59m", "kept", ""},
	})
}

// TestSandboxesAreKept: with `sandboxes: keep` what a task explains is told and never ended, and what no task explains is.
func TestSandboxesAreKept(t *testing.T) {
	for name, c := range map[string]struct {
		world string
		want  []string
	}{
		"of a stopped task": {"box daytona/s1 running task=t1; row t1 stopped updated=9h", nil},
		"failed, of a completed one": {
			"knew box daytona/s1 failed task=t1 since=9h; box daytona/s1 failed task=t1; row t1 completed updated=9h", nil},
		"a dead worker's, the row is failed": {deadWorker, []string{"fail t1"}},
		"of no task": {"box daytona/s1 running created=9h; finding orphan sandbox:daytona/s1 first=5m last=1m sighted=1m sightings=2",
			[]string{"terminate s1"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, "tasks keep; "+c.world))
			var got []string
			for _, s := range p.Steps {
				if len(s.HeldBy) == 0 {
					got = append(got, strings.TrimSpace(string(s.Step)+" "+reconcile.FirstOf(s.Sandbox, s.Task)))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("done %q, want %q", got, c.want)
			}
		})
	}
}

// TestRestsAreKept: nothing of a task that is parked, or waits by design, is ended by any rule, whatever state it
// is in, and its row is not judged.
func TestRestsAreKept(t *testing.T) {
	const old = " created=900h; knew box daytona/s1 running task=t1 since=900h; "
	for _, state := range []string{"parked", "waiting"} {
		for _, box := range []string{
			"", "box daytona/s1 running task=t1" + old, "box daytona/s1 failed task=t1" + old, "box daytona/s1 stopped task=t1" + old,
			"box daytona/s1 suspended task=t1" + old, "box daytona/s1 creating task=t1" + old, "box daytona/s1 unknown task=t1" + old,
			"box daytona/s{1..3} running task=t1" + old, "box daytona/s1 running task=t1" + old + "probe daytona/s1 failed=10s; ",
		} {
			for _, clocks := range []string{"", " updated=900h", " updated=900h created=900h started=900h deadline=800h ended=900h sleeps=900h"} {
				w := worldtest.NewWorld(t, worldtest.Anchor, box+"; row t1 "+state+clocks+"; rule over-age mode=enforce after=1h")
				_, p := PlanWorld(w)
				for _, s := range p.Steps {
					if len(s.HeldBy) == 0 && (s.Task == "t1" || strings.HasPrefix(s.Sandbox, "s")) {
						t.Errorf("%s%s, %s: %s by %s", state, clocks, box, s.Step, s.Rule)
					}
				}
			}
		}
	}
}
