package reconcile

import (
	"slices"
	"testing"
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
		"it is still to be stopped": {over + kept + "action a1 idle-broken task:t1 quarantine box=daytona/s1 claimed=1m", nil,
			false, nil},
		"it waits after a failed attempt, and for no quarantine": {
			over + "action a2 idle-broken task:t1 terminate box=daytona/s1 remedy=a1 seq=1 attempts=1 later=3h", nil, false, nil},
		"another sandbox of the task is not": {over + kept + "box daytona/s2 running task=t1 updated=1h",
			do("terminate daytona/s2"), false, nil},
		"a live task is judged all the same": {"task t1 running started=1h timeout=10m; box daytona/s1 stopped task=t1; " +
			"box daytona/s2 running task=t1; rule sandbox-missing mode=off; " + kept,
			do("fail t1", "terminate daytona/s2"), false, nil},
		"a live task whose only sandbox it is, too": {"task t1 running started=1h timeout=10m; box daytona/s1 suspended task=t1; " +
			kept, do("fail t1"), false, nil},
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
			j, p := newWorld(t, anchor, c.world).plan()
			if got := stepLines(p); !slices.Equal(got, c.steps) {
				t.Errorf("steps = %q, want %q", got, c.steps)
			}
			if !slices.Equal(p.Withdrawn, c.withdrawn) {
				t.Errorf("withdrawn = %v, want %v", p.Withdrawn, c.withdrawn)
			}
			resting := slices.ContainsFunc(j.Decisions, func(d Decision) bool {
				return d.Kept == "in quarantine until 2026-03-01 18:00:00" && len(d.Findings) == 0
			})
			if resting != c.kept {
				t.Errorf("kept in quarantine: %v, want %v\n%+v", resting, c.kept, j.Decisions)
			}
		})
	}
}

// TestQuarantineOfAPlannedEnd: a terminate that was planned before the remedy became
// quarantine is withdrawn, and not carried out without the quarantine.
func TestQuarantineOfAPlannedEnd(t *testing.T) {
	w := newWorld(t, anchor, "rule orphan remedy=quarantine; "+oneOrphan+
		"action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1")
	entry := w.p.Providers["daytona"]
	entry.Suspends = true
	w.p.Providers["daytona"] = entry
	_, p := w.plan()
	if len(p.Actions) != 0 || !slices.Equal(p.Withdrawn, []string{"a1"}) {
		t.Errorf("actions %v, withdrawn %v; want only a1 withdrawn", p.Actions, p.Withdrawn)
	}
	w.s.Memory.Actions = nil
	_, p = w.plan()
	if len(p.Actions) != 2 || p.Actions[0].Step != StepQuarantine || p.Actions[1].Step != StepTerminate {
		t.Errorf("then %q, want the quarantine before the end", stepLines(p))
	}
}
