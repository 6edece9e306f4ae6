package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A planCase is a world and its steps in one line each.
type planCase struct {
	world string
	want  []string
}

func testPlan(t *testing.T, cases map[string]planCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, p := newWorld(t, anchor, c.world).plan()
			if got := stepLines(p); !slices.Equal(got, c.want) {
				t.Errorf("plan of %s\n got %q\nwant %q", c.world, got, c.want)
			}
		})
	}
}

// stepLines are the steps of a plan as "do fail t1" or "held terminate daytona/s1: why".
func stepLines(p *Plan) []string {
	var out []string
	for i := range p.Steps {
		s := &p.Steps[i]
		line := "do "
		if s.HeldBy != "" {
			line = "held "
		}
		line += string(s.Step) + " " + stepTarget(&s.Action)
		if s.HeldBy != "" {
			line += ": " + s.HeldBy
		}
		out = append(out, line)
	}
	return out
}

func stepTarget(a *Action) string {
	if a.Step == StepTerminate {
		return a.Provider + "/" + a.Sandbox
	}
	return a.Task
}

func do(steps ...string) []string {
	for i := range steps {
		steps[i] = "do " + steps[i]
	}
	return steps
}

// orphans are n sandboxes that no task explains, seen twice: due.
func orphans(n int) string {
	return fmt.Sprintf("finding orphan sandbox:daytona/o{%s..%d} first=10m last=2m sighted=2m sightings=3; "+
		"box daytona/o{%s..%d} running",
		padded(1, len(fmt.Sprint(n))), n, padded(1, len(fmt.Sprint(n))), n)
}

const (
	staleTask  = "task t1 assigned updated=1h; find t1 none; "
	lateTask   = "task t1 running started=1h timeout=10m; box daytona/s1 running task=t1; "
	oneOrphan  = "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; box daytona/s1 running; "
	deadWorker = "task w{1..3} running started=1h ev.heartbeat=9s; box daytona/w{1..3} running task=w{1..3}; " +
		"task t1 running started=1h ev.heartbeat=9m; box daytona/s1 running task=t1; "
)

func TestRemedies(t *testing.T) {
	testPlan(t, map[string]planCase{
		"a row alone":                     {staleTask, do("fail t1")},
		"the row first, then its sandbox": {lateTask, do("fail t1", "terminate daytona/s1")},
		"the row, then all its sandboxes": {
			lateTask + "box daytona/s2 suspended task=t1", do("fail t1", "terminate daytona/s1", "terminate daytona/s2")},
		"what has ended is left": {
			lateTask + "box daytona/s2 ended task=t1", do("fail t1", "terminate daytona/s1")},
		"what is being deleted is left": {
			lateTask + "box daytona/s2 deleting task=t1", do("fail t1", "terminate daytona/s1")},
		"what nobody knows the state of is left": {
			lateTask + "box daytona/s2 unknown task=t1", do("fail t1", "terminate daytona/s1")},
		"what is not ours is left": {
			lateTask + "box daytona/s2 running task=t1 owned=no", do("fail t1", "terminate daytona/s1")},
		"what is not there is left": {
			lateTask + "knew box daytona/s2 running task=t1", do("fail t1", "terminate daytona/s1")},
		"a sandbox alone": {oneOrphan, do("terminate daytona/s1")},
		"only the one that lingers": {
			"row t1 stopped updated=1h; box daytona/s{1..2} running task=t1", do("terminate daytona/s1")},
		"only the spare one": {
			"provider daytona id=yes; task t1 running started=1h ev.heartbeat=9s sandbox=s1; " +
				"box daytona/s{1..2} running task=t1", do("terminate daytona/s2")},
		"a failed sandbox leaves its task to sandbox-missing": {
			"task t1 running started=1h ev.heartbeat=9s; box daytona/s1 failed task=t1", do("terminate daytona/s1")},
		"a report is no step":        {"rule assigned-stale remedy=report; " + staleTask, nil},
		"what is not due is no step": {"box daytona/s1 running created=10m", nil},
		"terminate instead of fail": {
			"rule provisioning-stuck remedy=terminate; rule assigned-stale mode=off; task t1 assigned updated=1h; " +
				"box daytona/s1 creating task=t1", do("terminate daytona/s1")},
		"what is not built does nothing instead of worse": {"rule orphan remedy=quarantine; " + oneOrphan, nil},
		"what is not built fails no row instead": {
			"rule errored remedy=quarantine; task t1 running started=1h ev.heartbeat=9s; box daytona/s1 failed task=t1", nil},
	})
}

func TestRequeue(t *testing.T) {
	const again = "rule assigned-stale remedy=requeue; "
	testPlan(t, map[string]planCase{
		"attempts are left":       {again + "task t1 assigned updated=1h attempts=2/3; find t1 none", do("requeue t1")},
		"no attempts are left":    {again + "task t1 assigned updated=1h attempts=3/3; find t1 none", do("fail t1")},
		"more than allowed":       {again + "task t1 assigned updated=1h attempts=4/3; find t1 none", do("fail t1")},
		"attempts are not mapped": {again + staleTask, do("fail t1")},
		"an unusable template explains it": {
			again + "task t1 assigned updated=1h attempts=0/3; find t1 none; template daytona/light inactive", do("fail t1")},
		"another template than its own is unusable": {
			again + "task t1 assigned updated=1h attempts=0/3 template=heavy; find t1 none; " +
				"template daytona/light inactive", do("requeue t1")},
		"the remedy is to fail": {"task t1 assigned updated=1h attempts=0/3; find t1 none", do("fail t1")},
	})
}

func TestDecisive(t *testing.T) {
	testPlan(t, map[string]planCase{
		"the first that may act decides": {
			"rule assigned-stale mode=observe; task t1 running updated=1h timeout=10m; knew task t1 running since=1h; " +
				"find t1 none", do("fail t1")},
		"none may act: the first is shown": {
			"rule assigned-stale mode=observe; rule deadline-exceeded mode=observe; " +
				"task t1 running updated=1h timeout=10m; knew task t1 running since=1h; find t1 none",
			[]string{"held fail t1: observe"}},
		"a finished worker vetoes each failing": {
			"task t1 running started=1h timeout=10m ev.finished=2m; box daytona/s1 running task=t1",
			[]string{"held fail t1: veto: finished-unrecorded", "held terminate daytona/s1: veto: finished-unrecorded"}},
		"it vetoes a requeue as well": {
			"rule deadline-exceeded remedy=requeue; task t1 running started=1h timeout=10m attempts=0/3 ev.finished=2m; " +
				"box daytona/s9 ended task=t1",
			[]string{"held requeue t1: veto: finished-unrecorded"}},
		"a finish of an earlier attempt vetoes nothing": {
			"task t1 running started=1h timeout=10m ev.finished=2h; " +
				"box daytona/s1 running task=t1", do("fail t1", "terminate daytona/s1")},
		"off, it vetoes nothing": {
			"rule finished-unrecorded mode=off; task t1 running started=1h timeout=10m ev.finished=2m; " +
				"box daytona/s1 running task=t1",
			do("fail t1", "terminate daytona/s1")},
		"in observe mode it vetoes": {
			"rule finished-unrecorded mode=observe; task t1 running started=1h timeout=10m ev.finished=2m; " +
				"box daytona/s9 ended task=t1",
			[]string{"held fail t1: veto: finished-unrecorded"}},
		"a sandbox of a finished worker may still be ended": {
			"task t1 running started=1h ev.finished=2m; box daytona/s1 failed task=t1", do("terminate daytona/s1")},
		"an unmapped status is never written": {
			"task t1 unknown status=odd; box daytona/s1 creating task=t1",
			[]string{`held fail t1: status "odd" is not mapped`, `held terminate daytona/s1: status "odd" is not mapped`}},
	})
}

func TestModes(t *testing.T) {
	testPlan(t, map[string]planCase{
		"enforce": {oneOrphan, do("terminate daytona/s1")},
		"observe": {
			"rule orphan mode=observe; " + oneOrphan, []string{"held terminate daytona/s1: observe"}},
		"off": {"rule orphan mode=off; " + oneOrphan, nil},
		"nobody is rolled out": {
			"rule orphan rollout=0; " + oneOrphan, []string{"held terminate daytona/s1: rollout: 0%"}},
		"observe and not rolled out": {
			"rule orphan mode=observe rollout=0; " + oneOrphan, []string{"held terminate daytona/s1: observe; rollout: 0%"}},
		"another rule is not enforced": {"rule duplicate mode=observe; " + oneOrphan, do("terminate daytona/s1")},
	})
	for name, c := range map[string]struct {
		world string
		want  Mode
	}{
		"as configured":                  {"", Enforce},
		"lowered to observe":             {"mode orphan observe", Observe},
		"lowered to off":                 {"mode orphan off", Off},
		"never raised":                   {"rule orphan mode=observe; mode orphan enforce", Observe},
		"off is not raised to observe":   {"rule orphan mode=off; mode orphan observe", Off},
		"new in this version, not named": {"rule orphan named=no; knows duplicate", Observe},
		"new in this version, named":     {"rule orphan named=yes; knows duplicate", Enforce},
		"known before, not named":        {"rule orphan named=no; knows orphan", Enforce},
		"a fresh ledger knows them all":  {"rule orphan named=no", Enforce},
		"new and off stays off":          {"rule orphan named=no mode=off; knows duplicate", Off},
		"another one was lowered":        {"mode duplicate off", Enforce},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.world)
			before := w.p.Rules["orphan"].Mode
			if got := w.p.Effective(&w.s.Memory).Rules["orphan"].Mode; got != c.want {
				t.Errorf("effective mode = %s, want %s", got, c.want)
			}
			if w.p.Rules["orphan"].Mode != before {
				t.Error("Effective changed the policy that it was made from")
			}
		})
	}
}

// TestRollout: the percent is by subject, stays, and only grows with the setting.
func TestRollout(t *testing.T) {
	in := 0
	for i := range 1000 {
		subject := fmt.Sprintf("task:t%d", i)
		for percent := range 100 {
			if rolledOut("orphan", subject, percent) && !rolledOut("orphan", subject, percent+1) {
				t.Fatalf("%s is rolled out at %d%% and not at %d%%", subject, percent, percent+1)
			}
		}
		if rolledOut("orphan", subject, 30) {
			in++
		}
		if rolledOut("orphan", subject, 0) || !rolledOut("orphan", subject, 100) {
			t.Fatalf("%s: want none at 0%% and all at 100%%", subject)
		}
	}
	if in < 250 || in > 350 {
		t.Errorf("at 30%% %d of 1000 are rolled out, want about 300", in)
	}
}

func TestPausesAndHolds(t *testing.T) {
	held := func(why string) []string { return []string{"held terminate daytona/s1: " + why} }
	free := do("terminate daytona/s1")
	heldRow := func(why string) []string { return []string{"held fail t1: " + why} }
	testPlan(t, map[string]planCase{
		"all is paused": {
			oneOrphan + `pause all reason="deploy of 14:00" by=ana`, held("pause: all (deploy of 14:00) by ana")},
		"the rule is paused":          {oneOrphan + "pause rule:orphan", held("pause: rule:orphan")},
		"another rule is paused":      {oneOrphan + "pause rule:errored", free},
		"its provider is paused":      {oneOrphan + "pause provider:daytona", held("pause: provider:daytona")},
		"another provider is paused":  {oneOrphan + "pause provider:e2b", free},
		"the sandbox is held":         {oneOrphan + "hold sandbox:s1 by=ana", held("hold: sandbox:s1 by ana")},
		"the sandbox is held in full": {oneOrphan + "hold sandbox:daytona/s1", held("hold: sandbox:daytona/s1")},
		"the same id elsewhere":       {oneOrphan + "hold sandbox:e2b/s1", free},
		"another sandbox is held":     {oneOrphan + "hold sandbox:s2", free},
		"its name is held": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"box daytona/s1 running name=build-7; hold sandbox:build-7", held("hold: sandbox:build-7")},
		"its label is held": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"box daytona/s1 running label.keep=yes; hold label:keep is=yes", held("hold: label:keep=yes")},
		"its label has another value": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"box daytona/s1 running label.keep=no; hold label:keep is=yes", free},
		"it has no such label": {oneOrphan + "hold label:keep is=yes", free},
		"its provider is held": {oneOrphan + "hold provider:daytona", held("hold: provider:daytona")},
		"the task that it names is held": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"box daytona/s1 running task=t7; hold task:t7", held("hold: task:t7")},
		"the task that it named before its labels were lost is held": {
			oneOrphan + "knew box daytona/s1 running task=t7; knew task t7 completed; hold task:t7", held("hold: task:t7")},
		"the task is held":               {staleTask + "hold task:t1", heldRow("hold: task:t1")},
		"another task is held":           {staleTask + "hold task:t2", do("fail t1")},
		"every provider of it is paused": {staleTask + "pause provider:daytona", heldRow("pause: provider:daytona")},
		"one of its providers is paused": {"provider e2b; " + staleTask + "pause provider:e2b", do("fail t1")},
		"its own provider is held": {
			"provider e2b; task t1 assigned provider=e2b updated=1h; find t1 none; " +
				"hold provider:e2b", heldRow("hold: provider:e2b")},
		"a task with a held sandbox": {
			lateTask + "hold sandbox:s1", []string{"held fail t1: hold: sandbox:s1", "held terminate daytona/s1: hold: " +
				"sandbox:s1"}},
		"two holds at once":           {oneOrphan + "hold sandbox:s1; pause all", held("pause: all; hold: sandbox:s1")},
		"an empty hold holds nothing": {oneOrphan + "hold task:; hold provider:; hold label:", free},
	})
}

func TestBudgets(t *testing.T) {
	const fifty = "box daytona/f{01..50} running task=f{01..50}; " +
		"row f{01..50} completed updated=1s; " // with the anchor 51
	count := func(p *Plan) (do int, held map[string]int) {
		held = map[string]int{}
		for i := range p.Steps {
			if p.Steps[i].HeldBy == "" {
				do++
				continue
			}
			held[p.Steps[i].HeldBy]++
		}
		return do, held
	}
	for name, c := range map[string]struct {
		world string
		do    int
		held  string
	}{
		"all fit":                     {fifty + orphans(5), 5, ""},
		"the share, rounded down":     {fifty + orphans(8), 5, "budget: share 10% of 59 sandboxes"},
		"the share is at least one":   {orphans(3), 1, "budget: share 10% of 4 sandboxes"},
		"per_pass is smaller":         {"limits per_pass=3; " + fifty + orphans(8), 3, "budget: per_pass 3"},
		"per_pass of nothing":         {"limits per_pass=0; " + fifty + orphans(3), 0, "budget: per_pass 0"},
		"per_hour is nearly spent":    {"spent 198; " + fifty + orphans(5), 2, "budget: per_hour 200"},
		"per_hour is spent":           {"spent 200; " + fifty + orphans(5), 0, "budget: per_hour 200"},
		"per_hour is more than spent": {"spent 900; " + fifty + orphans(5), 0, "budget: per_hour 200"},
		"a listing failed: the last inventory counts": {
			"provider e2b; listing e2b failed=503; " +
				"knew box e2b/e{01..50} running; " + orphans(8), 5, "budget: share 10% of 59 sandboxes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := newWorld(t, anchor, c.world).plan()
			do, held := count(p)
			if do != c.do || c.held == "" && len(held) > 0 || c.held != "" && (len(held) != 1 || held[c.held] == 0) {
				t.Errorf("%d steps to do and held by %v, want %d and %q", do, held, c.do, c.held)
			}
		})
	}
	testPlan(t, map[string]planCase{
		"a row alone takes no share": {
			"task t{1..3} assigned updated=1h; find t{1..3} none", do("fail t1", "fail t2", "fail t3")},
		"a row alone takes of per_pass": {
			"limits per_pass=2; task t{1..3} assigned updated=1h; find t{1..3} none",
			append(do("fail t1", "fail t2"), "held fail t3: budget: per_pass 2")},
		"a row alone takes of per_hour": {
			"limits per_hour=2; task t{1..3} assigned updated=1h; find t{1..3} none",
			append(do("fail t1", "fail t2"), "held fail t3: budget: per_hour 2")},
		"a row whose sandbox was only looked at and gone": {
			"task t{1..2} assigned updated=1h; knew box daytona/s{1..2} running task=t{1..2}; look daytona/s{1..2} gone; " +
				"knew box daytona/x{1..5} running; box daytona/x{1..5} running", do("fail t1", "fail t2")},
		"a row with a stopped sandbox takes its share": {
			"task t{1..2} running started=1h timeout=10m; box daytona/s{1..2} stopped task=t{1..2}",
			[]string{"do fail t1", "do terminate daytona/s1", "held fail t2: budget: share 10% of 3 sandboxes",
				"held terminate daytona/s2: budget: share 10% of 3 sandboxes"}},
		"the oldest finding first": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"finding orphan sandbox:daytona/s2 first=11m last=2m sighted=2m sightings=3; box daytona/s{1..2} running",
			[]string{"held terminate daytona/s1: budget: share 10% of 3 sandboxes", "do terminate daytona/s2"}},
		"what was planned before comes first": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"finding orphan sandbox:daytona/s2 first=11m last=2m sighted=2m sightings=3; box daytona/s{1..2} running; " +
				"action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1",
			[]string{"do terminate daytona/s1", "held terminate daytona/s2: budget: share 10% of 3 sandboxes"}},
		"what is held takes no budget": {
			"finding orphan sandbox:daytona/s{1..2} first=10m last=2m sighted=2m sightings=3; " +
				"box daytona/s{1..2} running; hold sandbox:s1",
			[]string{"held terminate daytona/s1: hold: sandbox:s1", "do terminate daytona/s2"}},
	})
}

// TestLimitsShared: the share of the fleet, at least one, never more than per_pass.
func TestLimitsShared(t *testing.T) {
	for _, c := range []struct {
		perPass int
		share   float64
		fleet   int
		want    int
	}{
		{20, 0.1, 0, 1}, {20, 0.1, 9, 1}, {20, 0.1, 19, 1}, {20, 0.1, 20, 2}, {20, 0.1, 199, 19}, {20, 0.1, 200, 20},
		{20, 0.1, 10000, 20}, {0, 0.1, 100, 0}, {20, 0, 100, 1}, {20, 1, 7, 7}, {100, 0.07, 100, 7}, {100, 0.29, 100, 29},
	} {
		if got := (Limits{PerPass: c.perPass, Share: c.share}).shared(c.fleet); got != c.want {
			t.Errorf("shared(%d) with per_pass %d and share %g = %d, want %d", c.fleet, c.perPass, c.share, got, c.want)
		}
	}
}

func TestOpenActions(t *testing.T) {
	const planned = "action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1 "
	for name, c := range map[string]struct {
		world     string
		steps     []string
		actions   int // new ones
		withdrawn []string
	}{
		"none yet":                        {oneOrphan, do("terminate daytona/s1"), 1, nil},
		"planned and not begun: the same": {oneOrphan + planned, do("terminate daytona/s1"), 0, nil},
		"begun: left alone":               {oneOrphan + planned + "claimed=1m", nil, 0, nil},
		"tried before: left alone":        {oneOrphan + planned + "attempts=1", nil, 0, nil},
		"accepted: left alone":            {oneOrphan + planned + "claimed=1m outcome=accepted", nil, 0, nil},
		"planned, and healthy by now": {
			"box daytona/s1 running task=t1; row t1 completed updated=1s; " + planned, nil, 0, []string{"a1"}},
		"begun, and healthy by now": {
			"box daytona/s1 running task=t1; row t1 completed updated=1s; " + planned + "claimed=1m", nil, 0, nil},
		"planned, and gone by now": {planned, nil, 0, []string{"a1"}},
		"planned, and held by now": {
			oneOrphan + planned + "; pause all", []string{"held terminate daytona/s1: pause: all"}, 0, []string{"a1"}},
		"planned, and observed by now": {
			"rule orphan mode=observe; " + oneOrphan + planned, []string{"held terminate daytona/s1: " +
				"observe"}, 0, []string{"a1"}},
		"planned, and a quick pass": {"pass quick; " + oneOrphan + planned, nil, 0, nil},
		"planned by another rule": {
			oneOrphan + "action a1 errored sandbox:daytona/s1 terminate box=daytona/s1", nil, 0, []string{"a1"}},
		"its sandbox waits under another rule": {
			lateTask + "action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1", nil, 0, []string{"a1"}},
		"all steps of what is withdrawn go": {
			"task t1 running started=1h ev.heartbeat=9s; box daytona/s1 running task=t1; " +
				"action a1 heartbeat-lost task:t1 fail; " +
				"action a2 heartbeat-lost task:t1 terminate box=daytona/s1 remedy=a1 seq=1", nil, 0, []string{"a1", "a2"}},
		"a begun remedy keeps its later steps": {"row t1 failed updated=1h; box daytona/s1 running task=t1; " +
			"action a2 heartbeat-lost task:t1 terminate box=daytona/s1 remedy=a1 seq=1", nil, 0, nil},
		"a new sandbox joins a planned remedy": {lateTask + "action a1 deadline-exceeded task:t1 fail",
			do("fail t1", "terminate daytona/s1"), 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := newWorld(t, anchor, c.world).plan()
			if got := stepLines(p); !slices.Equal(got, c.steps) {
				t.Errorf("steps = %q, want %q", got, c.steps)
			}
			if len(p.Actions) != c.actions {
				t.Errorf("%d new actions, want %d: %v", len(p.Actions), c.actions, p.Actions)
			}
			if !slices.Equal(p.Withdrawn, c.withdrawn) {
				t.Errorf("withdrawn = %v, want %v", p.Withdrawn, c.withdrawn)
			}
		})
	}
}

// TestActionsOfAPlan: ids are derived, a remedy's steps are numbered and know their first.
func TestActionsOfAPlan(t *testing.T) {
	world := newWorld(t, anchor, lateTask+"box daytona/s2 running task=t1")
	_, p := world.plan()
	_, same := newWorld(t, anchor, lateTask+"box daytona/s2 running task=t1").plan()
	seen := map[string]bool{}
	for i, a := range p.Actions {
		if a.ID != same.Actions[i].ID {
			t.Errorf("action %d is %s and %s of the same world, want the same id", i, a.ID, same.Actions[i].ID)
		}
		if a.Seq != i || a.Remedy != p.Actions[0].ID || a.Pass != 7 || a.Outcome != OutcomePending || a.RowOnly ||
			!a.PlannedAt.Equal(ledgerNow) {
			t.Errorf("action %d = %+v, want it to be step %d of remedy %s in pass 7", i, a, i, p.Actions[0].ID)
		}
		seen[a.ID] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different ids, want 3", len(seen))
	}
	world.s.Memory.Now = ledgerNow.Add(time.Second)
	if _, later := world.plan(); later.Actions[0].ID == p.Actions[0].ID {
		t.Error("the same id in a later pass, want another")
	}
	if _, alone := newWorld(t, anchor, staleTask).plan(); !alone.Actions[0].RowOnly {
		t.Error("a row alone is not marked as such")
	}
	if got := Mark(p.Actions[0].ID); !marked("gone "+got) || !strings.HasSuffix(got, "]") {
		t.Errorf("Mark = %q, want marked to know it", got)
	}
}

func TestBreaker(t *testing.T) {
	const listed = "breaker orphan sandbox:daytona/o1 sandbox:daytona/o2; "
	const fleet = "box daytona/f{01..30} running task=f{01..30}; row f{01..30} completed updated=1s; "
	ids := func(n int) (out []string) {
		for i := range n {
			out = append(out, "sandbox:daytona/o"+padded(i+1, len(fmt.Sprint(n))))
		}
		return out
	}
	for name, c := range map[string]struct {
		world  string
		opened []string // subjects of the breaker, nil when none is open
		since  time.Time
		do     int
	}{
		"more than ten and than 30%": {orphans(11), ids(11), ledgerNow, 0},
		"ten of a small fleet":       {orphans(10), nil, time.Time{}, 1},
		"more than ten, exactly 30%": {
			"limits breaker=25 share=100; " + fleet + "box daytona/g{1..2} running " +
				"task=f01; " + orphans(11), nil, time.Time{}, 11},
		"more than ten, a little more": {
			"limits breaker=25 share=100; " + fleet + "box daytona/g1 running " +
				"task=f01; " + orphans(11), ids(11), ledgerNow, 0},
		"held otherwise, it does not open": {"rule orphan mode=observe; " + orphans(11), nil, time.Time{}, 0},
		"rows alone do not open it": {
			"task t{01..15} assigned updated=1h; find t{01..15} none", nil, time.Time{}, 15},
		"open, and few are left":    {listed + fleet + orphans(2), ids(2), ledgerNow.Add(-time.Hour), 0},
		"open, and a new one joins": {listed + fleet + orphans(3), ids(3), ledgerNow.Add(-time.Hour), 0},
		"open, and one of them is healthy": {
			listed + fleet + "finding orphan sandbox:daytona/o2; " + orphans(1), ids(1), ledgerNow.Add(-time.Hour), 0},
		"open, and all are healthy": {
			listed + fleet + "finding orphan sandbox:daytona/o{1..2}; " +
				"box daytona/o{1..2} running task=f01", nil, time.Time{}, 0},
		"open, and a quick pass sees none": {
			"pass quick; " + listed + "finding orphan sandbox:daytona/o{1..2}", ids(2), ledgerNow.Add(-time.Hour), 0},
		"open, and the listing fails": {
			listed + "listing daytona failed=503; " +
				"finding orphan sandbox:daytona/o{1..2} provider=daytona", ids(2), ledgerNow.Add(-time.Hour), 0},
		"open, and all is paused meanwhile": {
			listed + fleet + "pause all; " + orphans(2), ids(2), ledgerNow.Add(-time.Hour), 0},
		"open, and another rule is free": {
			listed + orphans(2) + "; row t1 stopped updated=1h; " +
				"box daytona/s1 running task=t1", ids(2), ledgerNow.Add(-time.Hour), 1},
		"released": {
			listed + fleet + orphans(2) + "; " +
				"release breaker:orphan sandbox:daytona/o1 sandbox:daytona/o2", nil, time.Time{}, 2},
		"one of two is released": {
			listed + fleet + orphans(2) + "; " +
				"release breaker:orphan sandbox:daytona/o1", ids(2)[1:], ledgerNow.Add(-time.Hour), 1},
		"another rule's is released": {
			listed + fleet + orphans(2) + "; " +
				"release breaker:errored sandbox:daytona/o1 sandbox:daytona/o2", ids(2), ledgerNow.Add(-time.Hour), 0},
		"released, and a few new ones": {
			fleet + orphans(4) + "; release breaker:orphan sandbox:daytona/o1 sandbox:daytona/o2", nil, time.Time{}, 3},
		"released, and many new ones trip it": {
			"limits share=50; " + orphans(15) + "; " +
				"release breaker:orphan sandbox:daytona/o01 sandbox:daytona/o02", ids(15)[2:], ledgerNow, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := newWorld(t, anchor, c.world).plan()
			b, open := p.Breakers["orphan"]
			if open != (c.opened != nil) || !slices.Equal(b.Subjects, c.opened) || !b.OpenedAt.Equal(c.since) {
				t.Errorf("breaker = %v since %s, want %v since %s", b.Subjects, b.OpenedAt, c.opened, c.since)
			}
			if open && b.Hash != SubjectsHash(b.Subjects) {
				t.Errorf("hash = %s, want that of the subjects", b.Hash)
			}
			done := 0
			for i := range p.Steps {
				switch s := &p.Steps[i]; {
				case s.HeldBy == "":
					done++
				case open && s.Rule == "orphan" && slices.Contains(b.Subjects, s.Subject) && !strings.Contains(s.HeldBy,
					b.Hash) && !strings.Contains(s.HeldBy, "pause"):
					t.Errorf("%s is held by %q, want the way to release it", s.Subject, s.HeldBy)
				}
			}
			if done != c.do {
				t.Errorf("%d steps to do, want %d: %q", done, c.do, stepLines(p))
			}
		})
	}
}

// TestBreakerOverPasses: full and quick passes take turns, and it stays open.
func TestBreakerOverPasses(t *testing.T) {
	w := newWorld(t, anchor, orphans(12))
	w.s.Memory.Controls.Breakers = map[string]Breaker{}
	hash := ""
	for pass, kind := range []PassKind{Full, Quick, Quick, Full} {
		w.s.Kind = kind
		j, p := w.plan()
		w.remember(j, p)
		b := p.Breakers["orphan"]
		if len(b.Subjects) != 12 || !b.OpenedAt.Equal(ledgerNow) || hash != "" && b.Hash != hash {
			t.Fatalf("pass %d (%s): breaker = %+v, want the same 12 subjects since %s", pass, kind, b, ledgerNow)
		}
		hash = b.Hash
		w.s.Memory.Now = w.s.Memory.Now.Add(time.Minute)
	}
}
