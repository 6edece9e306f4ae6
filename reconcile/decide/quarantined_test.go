package decide

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestInQuarantine: a sandbox that was stopped and is kept for a while is nobody's finding
// until that is over, and its end stays planned.
func TestInQuarantine(t *testing.T) {
	const (
		over   = "row t1 failed updated=2h; box daytona/s1 stopped task=t1 updated=1h; "
		kept   = "action a2 idle-broken task:t1 terminate box=daytona/s1 remedy=a1 seq=1 kept=3h; "
		orphan = "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; box daytona/s1 stopped; "
	)
	for name, c := range map[string]struct {
		world     string
		steps     []string
		kept      bool // in quarantine
		withdrawn []string
	}{
		"not in quarantine": {over, do("terminate daytona/s1"), false, nil},
		"in quarantine":     {over + kept, nil, true, nil},
		"an orphan in quarantine": {
			orphan + "action a2 orphan sandbox:daytona/s1 terminate box=daytona/s1 remedy=a1 seq=1 kept=3h", nil, true, nil},
		"the time is over": {over + "action a2 idle-broken task:t1 terminate box=daytona/s1 remedy=a1 seq=1 kept=-1s", nil,
			false, nil},
		"the time of its own rule's quarantine is over: it is not stopped once more": {
			"rule stop-ignored remedy=quarantine; row t1 stopped updated=2h; box daytona/s1 stopped task=t1 updated=1h; " +
				"action a2 stop-ignored task:t1 terminate box=daytona/s1 remedy=a1 seq=1 kept=-1s", nil, false, nil},
		"it is still to be stopped": {over + kept + "action a1 idle-broken task:t1 quarantine box=daytona/s1 claimed=1m", nil,
			false, nil},
		"it waits after a failed attempt, and for no quarantine": {
			over + "action a2 idle-broken task:t1 terminate box=daytona/s1 remedy=a1 seq=1 attempts=1 later=3h", nil, false, nil},
		"another sandbox of the task is not": {over + kept + "box daytona/s2 running task=t1 updated=1h",
			do("terminate daytona/s2"), false, nil},
		"a live task is judged all the same": {"task t1 running started=1h timeout=10m; box daytona/s1 stopped task=t1; " +
			"box daytona/s2 running task=t1; rule sandbox-missing mode=off; " + kept,
			do("fail t1", "terminate daytona/s2"), false, []string{"a2"}},
		"a live task whose only sandbox it is, too": {"task t1 running started=1h timeout=10m; box daytona/s1 suspended task=t1; " +
			kept, do("fail t1"), false, []string{"a2"}},
		"what a person asked for is not withdrawn": {
			"action a1 operator sandbox:daytona/s1 terminate box=daytona/s1; box daytona/s1 running; ", nil, false, nil},
		"what was asked for in an emergency is not either": {
			"action a1 emergency sandbox:daytona/s1 terminate box=daytona/s1; box daytona/s1 running; ", nil, false, nil},
		"what a rule planned is": {
			"action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1; box daytona/s1 running created=1m; ", nil, false,
			[]string{"a1"}},
		"a rule leaves alone what a person asked for": {
			oneOrphan + "action a1 operator sandbox:daytona/s1 terminate box=daytona/s1", nil, false, nil},
		"a rule leaves alone what a person brings back": {
			oneOrphan + "action a1 operator sandbox:daytona/s1 resume box=daytona/s1", nil, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			j, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			if got := stepLines(p); !slices.Equal(got, c.steps) {
				t.Errorf("steps = %q, want %q", got, c.steps)
			}
			if !slices.Equal(p.Withdrawn, c.withdrawn) {
				t.Errorf("withdrawn = %v, want %v", p.Withdrawn, c.withdrawn)
			}
			quarantined := slices.ContainsFunc(j.Decisions, func(d Decision) bool {
				return d.Kept == "in quarantine until 2026-03-01 18:00:00 UTC" && len(d.Findings) == 0
			})
			if quarantined != c.kept {
				t.Errorf("kept in quarantine: %v, want %v\n%+v", quarantined, c.kept, j.Decisions)
			}
		})
	}
}

// TestAwakened: the end of a quarantine goes when its sandbox is used again, or was, and not
// before that is certain.
func TestAwakened(t *testing.T) {
	const (
		end    = "action a2 orphan sandbox:daytona/s1 terminate box=daytona/s1 remedy=a1 seq=1 planned=1h kept=3h; "
		ending = "action a2 idle-broken task:t1 terminate box=daytona/s1 remedy=a1 seq=1 planned=1h kept=3h; "
		still  = "knew box daytona/s1 stopped since=50m; box daytona/s1 stopped created=9h; "
	)
	for name, c := range map[string]struct {
		world string
		why   string
	}{
		"it stands still": {end + still, ""},
		"it is paused":    {end + "box daytona/s1 suspended", ""},
		"nobody knows it": {end + "box daytona/s1 unknown", ""},
		"it runs":         {end + "box daytona/s1 running", "in use"},
		"it is coming up": {end + "box daytona/s1 creating", "in use"},
		"it was stopped only just now, and a listing may be old": {
			"action a2 orphan sandbox:daytona/s1 terminate box=daytona/s1 remedy=a1 seq=1 planned=239s kept=3h; " +
				"knew box daytona/s1 running; box daytona/s1 running", ""},
		"a listing cannot be that old": {
			"action a2 orphan sandbox:daytona/s1 terminate box=daytona/s1 remedy=a1 seq=1 planned=4m kept=3h; " +
				"knew box daytona/s1 running; box daytona/s1 running", "in use"},
		"it was stopped just now, and the ledger saw it come back": {
			"action a2 orphan sandbox:daytona/s1 terminate box=daytona/s1 remedy=a1 seq=1 planned=2m kept=3h; " +
				"knew box daytona/s1 running resumed=1m; box daytona/s1 running", "in use"},
		"it had come back before": {end + "knew box daytona/s1 stopped resumed=1h; box daytona/s1 stopped", ""},
		"it came back since and stands still again": {end + "knew box daytona/s1 stopped resumed=59m; box daytona/s1 stopped",
			"started it again"},
		"it was active until it was stopped": {end + "knew box daytona/s1 stopped since=50m; box daytona/s1 stopped active=51m", ""},
		"its clock is a little off":          {end + "knew box daytona/s1 stopped since=50m; box daytona/s1 stopped active=2995s", ""},
		"it was active since":                {end + "knew box daytona/s1 stopped since=50m; box daytona/s1 stopped active=2994s", "was active"},
		"it stood still before that, and was active until then": {
			end + "knew box daytona/s1 stopped since=5h; box daytona/s1 stopped active=61m", ""},
		"it is not stopped yet": {end + "action a1 orphan sandbox:daytona/s1 quarantine box=daytona/s1 claimed=1h attempts=1; " +
			"box daytona/s1 running", ""},
		"its end has begun": {"action a2 orphan sandbox:daytona/s1 terminate box=daytona/s1 remedy=a1 seq=1 attempts=1 planned=1h kept=-1s; " +
			"box daytona/s1 running", ""},
		"another sandbox of it is not stopped yet": {end + "box daytona/s1 running; " +
			"action a3 orphan sandbox:daytona/s1 quarantine box=daytona/s2 remedy=a1 seq=1", "in use"},
		"its task is over":                       {ending + "row t1 failed; box daytona/s1 stopped task=t1", ""},
		"its task goes on":                       {ending + "task t1 running started=1m; box daytona/s1 stopped task=t1", "task t1 is running"},
		"its task is to go on":                   {ending + "task t1 pending; box daytona/s1 stopped task=t1", "task t1 is pending"},
		"it is to, by our own requeue":           {ending + `task t1 pending error="x [sandkeeper a1]"; box daytona/s1 stopped task=t1`, ""},
		"its task has a status that nobody maps": {ending + "row t1 unknown status=odd; box daytona/s1 stopped task=t1", "task t1 is odd"},
		"its task goes on in another one": {"provider daytona id=yes; " + ending +
			"task t1 running started=1m sandbox=s2; box daytona/s1 stopped task=t1; box daytona/s2 running task=t1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			if got := p.Reused["a2"]; (got == "") != (c.why == "") || !strings.Contains(got, c.why) {
				t.Errorf("awakened because %q, want %q", got, c.why)
			}
			if got := slices.Contains(p.Withdrawn, "a2"); got != (c.why != "") {
				t.Errorf("withdrawn: %v", p.Withdrawn)
			}
		})
	}
}

// TestQuarantineOfAPlannedEnd: a terminate that was planned before the remedy became
// quarantine is withdrawn, and not carried out without the quarantine.
func TestQuarantineOfAPlannedEnd(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "rule orphan remedy=quarantine; "+oneOrphan+
		"action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1")
	entry := w.P.Providers["daytona"]
	entry.Suspends = true
	w.P.Providers["daytona"] = entry
	_, p := PlanWorld(w)
	if len(p.Actions) != 0 || !slices.Equal(p.Withdrawn, []string{"a1"}) {
		t.Errorf("actions %v, withdrawn %v; want only a1 withdrawn", p.Actions, p.Withdrawn)
	}
	w.S.Memory.Actions = nil
	_, p = PlanWorld(w)
	if len(p.Actions) != 2 || p.Actions[0].Step != reconcile.StepQuarantine || p.Actions[1].Step != reconcile.StepTerminate {
		t.Errorf("then %q, want the quarantine before the end", stepLines(p))
	}
}

// TestLaterEndOfWhatLivesAgain: an end that waits behind a row that was written goes when the row is live again, before
// the work that began since is over and looks like what was failed.
func TestLaterEndOfWhatLivesAgain(t *testing.T) {
	const (
		end  = "action a2 heartbeat-lost task:t1 terminate box=daytona/s1 remedy=a1 seq=1 planned=10m; "
		box  = "box daytona/s1 running task=t1 created=2h; "
		fail = "action a1 heartbeat-lost task:t1 fail planned=10m; "
		live = "task t1 running started=1m ev.heartbeat=5s; "
	)
	for name, c := range map[string]struct {
		world string
		goes  bool
	}{
		"its row is failed":           {end + box + "row t1 failed; ", false},
		"its row is live again":       {end + box + live, true},
		"its row waits again":         {end + box + "task t1 pending; ", true},
		"it waits by our own requeue": {end + box + `task t1 pending error="x [sandkeeper a1]"; `, false},
		"its row was not written yet": {end + fail + box + live, false},
		"its end was begun":           {strings.Replace(end, "seq=1", "seq=1 attempts=1", 1) + box + live, false},
		"its sandbox is of another by now": {end + "box daytona/s1 running task=t2 created=2h; " +
			"task t2 running started=1h ev.heartbeat=5s; row t1 failed; ", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			if got := p.Reused["a2"]; (got != "") != c.goes {
				t.Errorf("it goes because %q, want that it goes: %t", got, c.goes)
			}
		})
	}
}
