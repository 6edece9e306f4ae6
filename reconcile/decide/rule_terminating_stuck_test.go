package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestTerminatingStuck(t *testing.T) {
	const box = "box daytona/s1 running task=t1 region=eu name=box-one; row t1 failed updated=1h; "
	const asked = "action a1 heartbeat-lost task:t1 terminate box=daytona/s1 seq=1 outcome=accepted claimed=30s attempts=3 "
	testRule(t, "terminating-stuck", map[string]ruleCase{
		"accepted for the limit":          {box + asked + "asked=30s first=2m", "report", "sandbox s1 was to be terminated 2m ago, daytona accepted it, and it is still running"},
		"accepted for a second less":      {box + asked + "asked=30s first=1m59s", "healthy", ""},
		"accepted in the future":          {box + asked + "asked=-1h first=-1h", "healthy", ""},
		"one request, no first on record": {box + asked + "asked=2m", "report", ""},
		"asked, not accepted yet":         {box + "action a1 heartbeat-lost task:t1 terminate box=daytona/s1 claimed=1h asked=1h", "healthy", ""},
		"of another sandbox":              {box + strings.ReplaceAll(asked, "s1", "s2") + "asked=1h", "healthy", ""},
		"a step on the row":               {box + "action a1 heartbeat-lost task:t1 fail outcome=accepted claimed=1h asked=1h", "healthy", ""},
		"it is gone":                      {"row t1 failed updated=1h; look daytona/s1 gone; knew box daytona/s1 running task=t1; " + asked + "asked=1h", "healthy", ""},
		"it is ended":                     {"box daytona/s1 ended task=t1; row t1 failed updated=1h; " + asked + "asked=1h", "healthy", ""},
		"it is still being deleted":       {"box daytona/s1 deleting task=t1; row t1 failed updated=1h; " + asked + "asked=1h", "report", "still deleting"},
		"being deleted, not by us":        {"box daytona/s1 deleting task=t1 updated=2m; row t1 failed updated=1h", "report", "is deleting for 2m, and no request of sandkeeper's for its end stands"},
		"being deleted, asked for without an answer": {"box daytona/s1 deleting task=t1 updated=2m; row t1 failed updated=1h; " +
			"action a1 heartbeat-lost task:t1 terminate box=daytona/s1 seq=1 claimed=2m attempts=1 asked=2m", "report",
			"is deleting for 2m, and sandkeeper asked for it, without an answer that says what came of it"},
		"being deleted for less": {"box daytona/s1 deleting task=t1 updated=1m59s; row t1 failed updated=1h", "healthy", ""},
		"as the ledger saw":      {"box daytona/s1 deleting task=t1 updated=1s; knew box daytona/s1 deleting since=2m; row t1 failed updated=1h", "report", ""},
		"listed again, and its end was confirmed": {"box daytona/s1 deleting task=t1 updated=2m; row t1 failed updated=1h; " +
			"knew box daytona/s1 deleting since=2m ours=yes", "report",
			"is listed as deleting, for 2m, and daytona confirmed its termination, which sandkeeper asked for"},
		"somebody else's":        {"box daytona/s1 deleting owned=no updated=1h", "healthy", ""},
		"of an orphan":           {"box daytona/s1 running; action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1 outcome=accepted claimed=1m asked=2m", "report", ""},
		"the longest of two":     {box + "box daytona/s0 deleting task=t1 updated=3m; " + asked + "asked=30s first=9m", "report", "sandbox=s1"},
		"a listing that was cut": {box + asked + "asked=2m; listing daytona missing=eu", "held", "listing-untrusted"},
		"a class with more time": {
			"rule terminating-stuck when.region=eu then=1h; " + box + asked + "asked=59m", "healthy", ""},
	})
}

// TestTerminatingStuckForSupport: the text for the provider's support names all that its
// people ask for.
func TestTerminatingStuckForSupport(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, `box daytona/s1 deleting task=t1 region=eu-2 name=box-one created=1h error="volume busy"; `+
		`row t1 failed updated=1h; action a1 heartbeat-lost task:t1 terminate box=daytona/s1 seq=1 outcome=accepted `+
		`claimed=30s attempts=7 asks=3 asked=4m first=5m again=30s detail="accepted 5m ago and still there, asked again"`)
	w.Only("terminating-stuck")
	got := ""
	for _, d := range JudgeWorld(w).Decisions {
		for _, f := range d.Findings {
			for _, e := range f.Evidence {
				if strings.HasPrefix(e.Fact, "For the provider's support") {
					got = e.Fact
				}
			}
		}
	}
	const want = `For the provider's support: sandbox s1 (name box-one) in region eu-2, created 2026-03-01 06:00:00 UTC, ` +
		`does not go away. Its deletion was requested first at 2026-03-01 14:55:00 UTC and last at 2026-03-01 14:59:30 UTC ` +
		`(3 times) and accepted. At 2026-03-01 07:00:00 UTC your API still shows it in state "deleting", for 5m by now. ` +
		`The error it shows: volume busy. What came of the last request: accepted 5m ago and still there, asked again. ` +
		`Please terminate it and tell us whether it was billed meanwhile.`
	if got != want {
		t.Errorf("got:  %s\nwant: %s", got, want)
	}
}

// TestTerminatingStuckStopsNothing: the finding takes nobody's place, neither the terminate
// that is asked for again nor the rules that would end what is left.
func TestTerminatingStuckStopsNothing(t *testing.T) {
	w := worldtest.NewWorld(t, "box daytona/s{1..2} running task=t1; row t1 stopped updated=1h; "+
		"action a1 stop-ignored task:t1 terminate box=daytona/s1 outcome=accepted claimed=1m asked=1h")
	_, p := PlanWorld(w)
	found, ends := false, false
	for _, f := range p.Findings {
		found = found || f.Rule == "terminating-stuck" && f.Due
	}
	for i := range p.Steps {
		ends = ends || p.Steps[i].Sandbox == "s2" && p.Steps[i].Rule == "stop-ignored" && len(p.Steps[i].HeldBy) == 0
	}
	if !found || !ends || len(p.Withdrawn) > 0 {
		t.Errorf("found %v, the other sandbox is ended %v, withdrawn %v; want true, true, none", found, ends, p.Withdrawn)
	}
}
