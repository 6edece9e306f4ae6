package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestWhatRestsIsLeft: what does not run is not ended, unless the config says so; either way what
// runs is.
func TestWhatRestsIsLeft(t *testing.T) {
	const keep = "provider daytona endsatrest=no; "
	const seen = "finding orphan sandbox:daytona/s1 first=1m last=1m sighted=1m sightings=1; "
	for name, c := range map[string]struct {
		rule, world string
		left, ended string // what the rule says where it is left, and where it is ended
		says        string
	}{
		"a stopped task's":     {"stop-ignored", "row t1 stopped updated=1h; box daytona/s1 STATE task=t1", "healthy", "due", ""},
		"a finished task's":    {"finished-lingering", "row t1 completed updated=1h; box daytona/s1 STATE task=t1", "healthy", "due", ""},
		"an old one":           {"over-age", "rule over-age after=90m; task t1 running started=1h; box daytona/s1 STATE task=t1 created=2h", "healthy", "due", ""},
		"nobody's":             {"orphan", seen + "box daytona/s1 STATE", "report", "due", "reported only: it does not run (at_rest: terminate ends it)"},
		"nobody's, seen once":  {"orphan", "box daytona/s1 STATE", "seen", "seen", ""},
		"one of two of a task": {"duplicate", "provider daytona id=yes; task t1 running started=1h sandbox=s0; box daytona/s0 running task=t1 key=s0; box daytona/s1 STATE task=t1", "healthy", "DUPLICATE", ""},
	} {
		for _, state := range []string{"suspended", "stopped", "running"} {
			t.Run(name+", "+state, func(t *testing.T) {
				for policy, want := range map[string]string{keep: c.left, "": c.ended} {
					if state == "running" {
						want = c.ended
					}
					if want == "DUPLICATE" { // what is stopped is no live sandbox in any case
						want = map[string]string{"suspended": "due", "stopped": "healthy", "running": "due"}[state]
					}
					w := worldtest.NewWorld(t, worldtest.Anchor, policy, strings.ReplaceAll(c.world, "STATE", state))
					w.Only(c.rule)
					got, words := said(JudgeWorld(w))
					if got != want {
						t.Errorf("with %q it is %s, want %s: %s", policy, got, want, words)
					}
					if got == "report" && !strings.Contains(words, c.says) {
						t.Errorf("it says %q, want %q in it", words, c.says)
					}
				}
			})
		}
	}
}

// TestOneRestsAndOneRuns: what rests hides nothing of what runs.
func TestOneRestsAndOneRuns(t *testing.T) {
	const keep = "provider daytona endsatrest=no; box daytona/s1 suspended task=t1 created=9h; box daytona/s2 running task=t1; "
	for rule, world := range map[string]string{
		"stop-ignored":       "row t1 stopped updated=1h",
		"finished-lingering": "row t1 completed updated=1h",
		"over-age":           "rule over-age after=30m; task t1 running started=1h",
	} {
		w := worldtest.NewWorld(t, worldtest.Anchor, keep, world)
		w.Only(rule)
		if got, words := said(JudgeWorld(w)); got != "due" || !strings.Contains(words, "sandbox=s2") {
			t.Errorf("%s is %s: %s; want s2 ended", rule, got, words)
		}
	}
}

// TestWhyItIsLeft: whoever asks is told that it rests.
func TestWhyItIsLeft(t *testing.T) {
	for rule, row := range map[string]string{"stop-ignored": "row t1 stopped updated=1h", "finished-lingering": "row t1 completed updated=1h"} {
		for policy, want := range map[string]string{"no": "its sandbox s1 is suspended: what does not run is left (at_rest: keep)", "yes": ""} {
			w := worldtest.NewWorld(t, worldtest.Anchor, "provider daytona endsatrest="+policy, row, "box daytona/s1 suspended task=t1")
			if got := answersOf(w, "task:t1")[rule]; (want != "") != (got.Says == SaysHealthy) || !strings.Contains(got.Why, want) {
				t.Errorf("%s with at_rest %s: %s, %q; want %q", rule, policy, got.Says, got.Why, want)
			}
		}
	}
}

// TestRemedyLeavesWhatRests: whoever fails a task leaves the sandbox that rests.
func TestRemedyLeavesWhatRests(t *testing.T) {
	const keep = "provider daytona endsatrest=no; "
	const late = "task t1 running started=1h timeout=10m; box daytona/s2 running task=t1; box daytona/s1 "
	testPlan(t, map[string]planCase{
		"one is suspended":         {keep + late + "suspended task=t1", do("fail t1", "terminate daytona/s2")},
		"one is stopped":           {keep + late + "stopped task=t1", do("fail t1", "terminate daytona/s2")},
		"one has failed":           {keep + late + "failed task=t1", do("fail t1", "terminate daytona/s1", "terminate daytona/s2")},
		"it is to be ended anyway": {late + "suspended task=t1", do("fail t1", "terminate daytona/s1", "terminate daytona/s2")},
	})
}
