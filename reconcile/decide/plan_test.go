package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
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
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
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
		if len(s.HeldBy) > 0 {
			line = "held "
		}
		line += string(s.Step) + " " + stepTarget(&s.Action)
		if len(s.HeldBy) > 0 {
			line += ": " + s.HeldBy.String()
		}
		out = append(out, line)
	}
	return out
}

func stepTarget(a *reconcile.Action) string {
	if a.Sandbox != "" {
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
		worldtest.Padded(1, len(fmt.Sprint(n))), n, worldtest.Padded(1, len(fmt.Sprint(n))), n)
}

const (
	staleTask = "task t1 assigned updated=1h; find t1 none; "
	lateTask  = "task t1 running started=1h timeout=10m; box daytona/s1 running task=t1; "
	takenTask = "provider daytona id=yes; task t1 running started=1h timeout=10m sandbox=s1; find t1 none; " +
		"task t2 running started=1h ev.heartbeat=9s; box daytona/s1 running task=t2 label.keep=yes; "
	lookedTask = "pass quick; task t1 running started=1h timeout=10m sandbox=s1; provider daytona id=yes; " +
		"look daytona/s1 running task=t2 label.keep=yes; "
	oneOrphan = "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; box daytona/s1 running; "
	ephemeral = "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
		"box daytona/s1 running no-stop=ephemeral; "
	deadWorker = "task w{1..3} running started=1h ev.heartbeat=9s; box daytona/w{1..3} running task=w{1..3}; " +
		"task t1 running started=1h ev.heartbeat=9m; box daytona/s1 running task=t1; " +
		"probe daytona/s1 failed=10s; probe daytona/w1 answered=10s; "
	// Its sandbox is gone, so that nothing but the row is left to be ended.
	lateAndSilent = "rule sandbox-missing mode=off; task t1 running started=1h timeout=10m ev.heartbeat=9m; " +
		"knew box daytona/s1 running task=t1; look daytona/s1 gone; "
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
		"what nobody has looked at is owed its end": {
			lateTask + "knew box daytona/s2 running task=t1", do("fail t1", "terminate daytona/s1", "terminate daytona/s2")},
		"what a look found gone is left": {
			lateTask + "knew box daytona/s2 running task=t1; look daytona/s2 gone", do("fail t1", "terminate daytona/s1")},
		"what is missing since an earlier pass is left": {
			lateTask + "knew box daytona/s2 running task=t1 gone=9m", do("fail t1", "terminate daytona/s1")},
		"what an entry had that left the config is left": {
			lateTask + "knew box e2b/s2 running task=t1", do("fail t1", "terminate daytona/s1")},
		"what is owed and on its way out already is left": {
			lateTask + "knew box daytona/s2 running task=t1; action a9 operator sandbox:daytona/s2 terminate box=daytona/s2 claimed=1m",
			do("fail t1", "terminate daytona/s1")},
		"a remedy for one sandbox alone owes nothing": {
			"provider daytona id=yes; task t1 running started=1h ev.heartbeat=9s sandbox=s1; " +
				"box daytona/s{1..2} running task=t1; knew box daytona/s{1..3} running task=t1", do("terminate daytona/s2")},
		"a sandbox alone": {oneOrphan, do("terminate daytona/s1")},
		"only the one that lingers": {
			"row t1 stopped updated=1h; box daytona/s{1..2} running task=t1", do("terminate daytona/s1")},
		"only the spare one": {
			"provider daytona id=yes; task t1 running started=1h ev.heartbeat=9s sandbox=s1; " +
				"box daytona/s{1..2} running task=t1", do("terminate daytona/s2")},
		"a failed sandbox leaves its task to sandbox-missing": {
			"rule heartbeat-lost mode=off; task t1 running started=1h ev.heartbeat=10m; box daytona/s1 failed task=t1", do("terminate daytona/s1")},
		"a row that nobody can fail keeps its sandboxes": {"tasks readonly; " + lateTask, nil},
		"a row that nobody can fail is handed out again": {
			"tasks readonly requeues; rule deadline-exceeded remedy=requeue; task t1 running started=1h timeout=10m attempts=1/3; " +
				"box daytona/s1 running task=t1", do("requeue t1", "terminate daytona/s1")},
		"a row that nobody can fail, with no attempts left": {
			"tasks readonly requeues; rule deadline-exceeded remedy=requeue; task t1 running started=1h timeout=10m attempts=3/3; " +
				"box daytona/s1 running task=t1", nil},
		"a report is no step":        {"rule assigned-stale remedy=report; " + staleTask, nil},
		"what is not due is no step": {"box daytona/s1 running created=10m", nil},
		"terminate instead of fail": {
			"rule provisioning-stuck remedy=terminate; rule assigned-stale mode=off; task t1 assigned updated=1h; " +
				"box daytona/s1 creating task=t1", do("terminate daytona/s1")},
		"a provider that cannot stop or pause: nothing instead of worse": {"rule orphan remedy=quarantine; " + oneOrphan,
			[]string{"held quarantine daytona/s1: quarantine: daytona cannot stop or pause",
				"held terminate daytona/s1: quarantine: daytona cannot stop or pause"}},
		"a sandbox that a stop would delete: the same": {"rule orphan remedy=quarantine; provider daytona suspends=yes; " + ephemeral,
			[]string{"held quarantine daytona/s1: quarantine: daytona cannot stop and keep sandbox s1, for " +
				"ephemeral; set the rule's remedy to terminate or report",
				"held terminate daytona/s1: quarantine: daytona cannot stop and keep sandbox s1, for " +
					"ephemeral; set the rule's remedy to terminate or report"}},
		"a sandbox that a stop would delete, which is only ended": {ephemeral, do("terminate daytona/s1")},
		"a quarantine of a sandbox fails no row instead": {
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
			"rule heartbeat-lost mode=observe; " + lateAndSilent, do("fail t1")},
		"none may act: the first is shown": {
			"rule heartbeat-lost mode=observe; rule deadline-exceeded mode=observe; " + lateAndSilent,
			[]string{"held fail t1: observe"}},
		"none may act: the first is shown, with what holds it": {
			"rule heartbeat-lost rollout=0; rule deadline-exceeded mode=observe; " + lateAndSilent,
			[]string{"held fail t1: rollout: 0%"}},
		"a finished worker vetoes each failing": {
			"task t1 running started=1h timeout=10m ev.finished=2m; box daytona/s1 running task=t1",
			[]string{"held fail t1: veto: finished-unrecorded", "held terminate daytona/s1: veto: finished-unrecorded"}},
		"one that started and finished within a second of its clock": {
			"task t1 running started=2m timeout=1m ev.started=2m ev.finished=2m; box daytona/s1 running task=t1",
			[]string{"held fail t1: veto: finished-unrecorded", "held terminate daytona/s1: veto: finished-unrecorded"}},
		"it vetoes a requeue as well": {
			"rule deadline-exceeded remedy=requeue; task t1 running started=1h timeout=10m attempts=0/3 ev.finished=2m; " +
				"box daytona/s1 suspended task=t1; provider daytona endsatrest=no",
			[]string{"held requeue t1: veto: finished-unrecorded"}},
		"it vetoes nothing when nothing is left of who finished": {
			"rule deadline-exceeded remedy=requeue; task t1 running started=1h timeout=10m attempts=0/3 ev.finished=2m; " +
				"box daytona/s9 ended task=t1", do("requeue t1")},
		"a finish of an earlier attempt vetoes nothing": {
			"task t1 running started=1h timeout=10m ev.finished=2h; " +
				"box daytona/s1 running task=t1", do("fail t1", "terminate daytona/s1")},
		"off, it vetoes nothing": {
			"rule finished-unrecorded mode=off; task t1 running started=1h timeout=10m ev.finished=2m; " +
				"box daytona/s1 running task=t1",
			do("fail t1", "terminate daytona/s1")},
		"in observe mode it vetoes": {
			"rule finished-unrecorded mode=observe; task t1 running started=1h timeout=10m ev.finished=89s; " +
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
		want  reconcile.Mode
	}{
		"as configured":                  {"", reconcile.Enforce},
		"lowered to observe":             {"mode orphan observe", reconcile.Observe},
		"lowered to off":                 {"mode orphan off", reconcile.Off},
		"never raised":                   {"rule orphan mode=observe; mode orphan enforce", reconcile.Observe},
		"off is not raised to observe":   {"rule orphan mode=off; mode orphan observe", reconcile.Off},
		"new in this version, not named": {"rule orphan named=no; knows duplicate", reconcile.Observe},
		"new in this version, named":     {"rule orphan named=yes; knows duplicate", reconcile.Enforce},
		"known before, not named":        {"rule orphan named=no; knows orphan", reconcile.Enforce},
		"a fresh ledger knows them all":  {"rule orphan named=no", reconcile.Enforce},
		"new and off stays off":          {"rule orphan named=no mode=off; knows duplicate", reconcile.Off},
		"another one was lowered":        {"mode duplicate off", reconcile.Enforce},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, c.world)
			before := w.P.Rules["orphan"].Mode
			if got := w.P.Effective(&w.S.Memory).Rules["orphan"].Mode; got != c.want {
				t.Errorf("effective mode = %s, want %s", got, c.want)
			}
			if w.P.Rules["orphan"].Mode != before {
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
			if reconcile.RolledOut("orphan", subject, percent) && !reconcile.RolledOut("orphan", subject, percent+1) {
				t.Fatalf("%s is rolled out at %d%% and not at %d%%", subject, percent, percent+1)
			}
		}
		if reconcile.RolledOut("orphan", subject, 30) {
			in++
		}
		if reconcile.RolledOut("orphan", subject, 0) || !reconcile.RolledOut("orphan", subject, 100) {
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
		"its row names what another's label is on, which is held": {
			takenTask + "hold label:keep is=yes", heldRow("hold: label:keep=yes")},
		"the same by a sandbox's id":          {takenTask + "hold sandbox:s1", heldRow("hold: sandbox:s1")},
		"the same, got by its id":             {lookedTask + "hold label:keep is=yes", heldRow("hold: label:keep=yes")},
		"the same, and another label is held": {takenTask + "hold label:keep is=no", do("fail t1")},
		"a row that names none, and it is held": {
			strings.ReplaceAll(takenTask, "sandbox=s1", "") + "hold label:keep is=yes", do("fail t1")},
		"two holds at once":           {oneOrphan + "hold sandbox:s1; pause all", held("pause: all; hold: sandbox:s1")},
		"an empty hold holds nothing": {oneOrphan + "hold task:; hold provider:; hold label:", free},
	})
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
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
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
	world := worldtest.NewWorld(t, worldtest.Anchor, lateTask+"box daytona/s2 running task=t1")
	_, p := PlanWorld(world)
	_, same := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, lateTask+"box daytona/s2 running task=t1"))
	seen := map[string]bool{}
	for i, a := range p.Actions {
		if a.ID != same.Actions[i].ID {
			t.Errorf("action %d is %s and %s of the same world, want the same id", i, a.ID, same.Actions[i].ID)
		}
		if a.Seq != i || a.Remedy != p.Actions[0].ID || a.Pass != 7 || a.Outcome != reconcile.OutcomePending || a.RowOnly ||
			!a.PlannedAt.Equal(worldtest.LedgerNow) {
			t.Errorf("action %d = %+v, want it to be step %d of remedy %s in pass 7", i, a, i, p.Actions[0].ID)
		}
		seen[a.ID] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different ids, want 3", len(seen))
	}
	world.S.Memory.Now = worldtest.LedgerNow.Add(time.Second)
	if _, later := PlanWorld(world); later.Actions[0].ID == p.Actions[0].ID {
		t.Error("the same id in a later pass, want another")
	}
	if _, alone := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, staleTask)); !alone.Actions[0].RowOnly {
		t.Error("a row alone is not marked as such")
	}
	if got := reconcile.Mark(p.Actions[0].ID); !reconcile.Marked("gone "+got) || !strings.HasSuffix(got, "]") {
		t.Errorf("Mark = %q, want marked to know it", got)
	}
}
