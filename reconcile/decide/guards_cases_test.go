package decide

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// Cases of guards that no other test has a world for: each fails without its guard, see
// testdata/guards.txt.

func TestGuardedLinks(t *testing.T) {
	const quiet = "task t1 running started=1h ev.heartbeat=10m; "
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"a stale row names the sandbox that is labelled as another task's": {
			"provider daytona named=yes; task t1 running started=1h ev.heartbeat=10m sandbox=k0; " +
				"task t2 running started=1h sandbox=k1 ev.heartbeat=5s; box daytona/s1 running task=t1 key=k1", "healthy", ""},
		"a sandbox of another task was found by link": {
			quiet + "task t2 running started=1h ev.heartbeat=5s; box daytona/s1 running task=t2; " +
				"knew box daytona/s2 running task=t1; look daytona/s2 gone; find t1 daytona/s1", "seen", ""},
	})
	testRule(t, "assigned-stale", map[string]ruleCase{
		"a sandbox that is another task's was found by link": {
			"task t1 assigned updated=1h; task t2 running started=1h ev.heartbeat=5s; box daytona/s1 running task=t2; " +
				"find t1 daytona/s1", "look", "does not belong to it alone"},
		"its row's clock is not trusted": {
			"source clock:updated_at untrusted; task t1 assigned updated=1h; knew task t1 assigned since=1m first=1m; find t1 none",
			"kept", "assigned for 1m"},
	})
	testRule(t, "finished-lingering", map[string]ruleCase{
		"over, and outside": {
			"row t1 completed updated=1h outside=yes; box daytona/s1 running task=t1", "healthy", ""},
	})
}

// A label that cannot be an id belongs to somebody: it is not the same as none.
func TestOddLinkIsNoOrphan(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; box daytona/s1 running")
	w.Only("orphan")
	for i := range w.S.Sandboxes {
		if w.S.Sandboxes[i].ID == "s1" {
			w.S.Sandboxes[i].BadLink = true
		}
	}
	if got, words := said(JudgeWorld(w)); got != "held" || !strings.Contains(words, "unparsable") {
		t.Errorf("an odd link is %s (%s), want it held", got, words)
	}
}

// The row of a task that is over is not planned to be written, whatever the remedy.
func TestNoRowStepForWhatIsOver(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "row t1 failed updated=1h; box daytona/s1 creating task=t1")
	w.Only("provisioning-stuck")
	_, p := PlanWorld(w)
	if got, want := stepLines(p), do("terminate daytona/s1"); !slices.Equal(got, want) {
		t.Errorf("steps = %q, want %q", got, want)
	}
}

// A worker whose clock is ahead is timed from when its sign was first seen.
func TestSignsFromTheFutureAreRemembered(t *testing.T) {
	j := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, "task t1 running started=1h ev.heartbeat=-1h; box daytona/t1 running task=t1"))
	for _, seen := range SeenTasks(j.View) {
		if seen.ID == "t1" && seen.AheadSince.Equal(worldtest.LedgerNow) {
			return
		}
	}
	t.Errorf("remembered: %+v, want t1 with when its sign from the future was seen first", SeenTasks(j.View))
}

// A remedy that only writes a row is free of share and breaker only where that destroys nothing.
func TestWhatIsFreeOfTheShare(t *testing.T) {
	const late = "task t1 running started=2h timeout=10m ev.heartbeat=5s; "
	for name, c := range map[string]struct {
		world string
		free  bool
	}{
		"nothing runs for it":                  {late, true},
		"the link is not trusted":              {"pass quick; source link untrusted; source listing:daytona trusted; " + late, false},
		"a listing failed":                     {"listing daytona failed=503; " + late, false},
		"something of no known state does":     {late + "box daytona/t1 unknown task=t1", false},
		"something that was not looked at may": {late + "knew box daytona/t1 running task=t1", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
			w.Only("deadline-exceeded")
			_, p := PlanWorld(w)
			for _, a := range p.Actions {
				if a.Step == reconcile.StepFail && a.RowOnly == c.free {
					return
				}
			}
			t.Errorf("actions = %+v, want the row failed, free of the share: %v", p.Actions, c.free)
		})
	}
}

// Where most probes fail, a failed one says nothing of a silent worker.
func TestSilentWhileMostProbesFail(t *testing.T) {
	const silent = "task t1 running started=1h ev.heartbeat=10m; box daytona/t1 running task=t1; probe daytona/t1 failed=10s; "
	const others = "task w1 running started=1h ev.heartbeat=5s; box daytona/w1 running task=w1; probe daytona/w1 answered=10s; "
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"its own alone fails": {silent + others, "due", ""},
		"most of them do": {silent + others + "row f{1..3} completed updated=1s; box daytona/f{1..3} running task=f{1..3}; " +
			"probe daytona/f{1..3} failed=10s", "held", "only silence: its probe failed"},
		"most of them did, before it": {silent + others + "row f{1..3} completed updated=1s; box daytona/f{1..3} running task=f{1..3}; " +
			"probe daytona/f{1..3} failed=3m", "held", "only silence: its probe failed"},
		"two of five others do": {silent + "task w{1..3} running started=1h ev.heartbeat=5s; box daytona/w{1..3} running task=w{1..3}; " +
			"probe daytona/w{1..3} answered=10s; row f{1..2} completed updated=1s; box daytona/f{1..2} running task=f{1..2}; " +
			"probe daytona/f{1..2} failed=10s", "held", "only silence: its probe failed"},
	})
}

// A toolbox that went down a moment ago convicts nobody: whoever answered before says nothing
// of now.
func TestSilentWhenNobodyAnsweredSince(t *testing.T) {
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"one answered a minute ago": {
			"task t1 running started=1h ev.heartbeat=10m; box daytona/t1 running task=t1; probe daytona/t1 failed=10s; " +
				"task w1 running started=1h ev.heartbeat=5s; box daytona/w1 running task=w1; probe daytona/w1 answered=1m", "held", "only silence: "},
		"three fell silent together, and the toolbox was down": {
			"source probes:daytona untrusted; task t{1..3} running started=1h ev.heartbeat=10m; box daytona/t{1..3} running task=t{1..3}; " +
				"probe daytona/t{1..3} failed=1m; task w{1..3} running started=1h ev.heartbeat=5s; box daytona/w{1..3} running task=w{1..3}",
			"held", "only silence: "},
	})
}

// A task whose sandbox this pass has not looked at is looked at before its row is failed: the
// remedy would leave the sandbox at work.
func TestLooksBeforeARowIsFailed(t *testing.T) {
	const late = "pass quick; provider daytona id=yes; task t1 running started=2h timeout=10m ev.heartbeat=5s sandbox=s1; "
	for world, want := range map[string]bool{late: true, late + "look daytona/s1 running": false} {
		w := worldtest.NewWorld(t, worldtest.Anchor, world)
		w.Only("deadline-exceeded")
		j := JudgeWorld(w)
		for i := range j.Decisions {
			if d := &j.Decisions[i]; d.Subject.ID == "task:t1" && (d.Look != want || len(d.Findings) != 1) {
				t.Errorf("wants a look: %v, with %d findings; want %v\nworld: %s", d.Look, len(d.Findings), want, world)
			}
		}
	}
}

// What a row holds is not looked up by id where it is the name of the task's sandbox elsewhere.
func TestNoLookForAnothersName(t *testing.T) {
	const two = "provider daytona named=yes label=no; provider e2b id=yes label=no; task t1 running started=1h sandbox=k1; "
	for world, want := range map[string]int{
		two + "box daytona/s1 running key=k1": 0,
		two + "box daytona/s1 running key=k2": 1,
		two + "box e2b/k1 running key=k1":     0,
		two:                                   1,
	} {
		w := worldtest.NewWorld(t, worldtest.Anchor, world)
		j := JudgeWorld(w)
		for i := range j.Decisions {
			if d := &j.Decisions[i]; d.Subject.ID == "task:t1" && len(j.View.LookRefs(d.Subject)) != want {
				t.Errorf("looks at %v, want %d looks\nworld: %s", j.View.LookRefs(d.Subject), want, world)
			}
		}
	}
}

// Two services may count their sandboxes alike: a row that names its entry means the one there, also
// where both are equally old and the entries could show one account. Without such a row the other's
// protects it, unless the two are known to be apart.
func TestSameIDsAtTwoEntries(t *testing.T) {
	const rows = "provider daytona id=yes label=no; provider twin id=yes label=no; task t1 running started=1h sandbox=s1 provider=daytona; " +
		"task u1 running started=1h sandbox=s1 provider=twin; row d5 completed updated=1h sandbox=s5 provider=daytona; " +
		"task u5 running started=1h sandbox=s5 provider=twin; "
	w := worldtest.NewWorld(t, worldtest.Anchor, rows+"box daytona/s1 running key=s1; box twin/s1 running key=s1; box daytona/s5 running key=s5; "+
		"box twin/s5 running key=s5 created=2h; knew box twin/s5 running created=2h task=u5; knew box daytona/s1 running created=1h task=t1; knew box twin/s1 running created=1h task=u1")
	got := map[string]string{}
	for _, d := range JudgeWorld(w).Decisions {
		for _, b := range d.Subject.Boxes {
			got[d.Subject.ID] = reconcile.Joined(got[d.Subject.ID], b.Ref.String())
		}
	}
	want := map[string]string{"task:t1": "daytona/s1", "task:u1": "twin/s1", "task:d5": "daytona/s5", "task:u5": "twin/s5"}
	for subject, boxes := range want {
		if got[subject] != boxes {
			t.Errorf("%s has %q, want %q; all: %v", subject, got[subject], boxes, got)
		}
	}
}

// A look may show a sandbox after the rows were read: one whose label was changed meanwhile stays its task's
// until that is read, in this pass and for the ledger.
func TestChangedLabelOfALook(t *testing.T) {
	const world = "pass quick; source listing:daytona trusted; task t1 running started=1h ev.heartbeat=2m; " +
		"knew box daytona/s1 running task=t1; look daytona/s1 running task=t2; "
	for more, want := range map[string]string{
		"unread t2":                  "t1",
		"unparsable t2":              "t1",
		"":                           "t2", // it was read, and there is no such row
		"row t2 completed":           "t2",
		"task t2 running started=1h": "t2",
	} {
		w := worldtest.NewWorld(t, worldtest.Anchor, world, more)
		j := JudgeWorld(w)
		seen := w.S.Memory.Sandboxes.Of(reconcile.Ref{Provider: "daytona", ID: "s1"}).Task
		for _, b := range SeenSandboxes(j.View, j.Decisions) {
			if b.ID == "s1" {
				seen = b.Task
			}
		}
		if seen != want {
			t.Errorf("with %q the ledger has it as %s's, want %s's", more, seen, want)
		}
	}
}

// What an index shows and a direct look knows to be gone, or over, was not found.
func TestFoundAndGone(t *testing.T) {
	found := func(ids ...string) (out reconcile.FindLookup) {
		for _, id := range ids {
			out.Sandboxes = append(out.Sandboxes, reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: id}})
		}
		return out
	}
	v := JudgeWorld(worldtest.NewWorld(t, "task t1 running started=1h; look daytona/s1 gone; look daytona/s2 error; "+
		"look daytona/s6 ended; look daytona/s7 suspended")).View
	s := &reconcile.Subject{Boxes: []reconcile.SeenSandbox{
		{Sandbox: &reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s4"}, State: reconcile.SandboxStopped}, Here: true},
		{Sandbox: &reconcile.Sandbox{Ref: reconcile.Ref{Provider: "daytona", ID: "s5"}, State: reconcile.SandboxRunning}, Here: true}}}
	for name, c := range map[string]struct {
		asked string
		find  reconcile.FindLookup
		want  bool
	}{
		"none":                           {"daytona", found(), false},
		"one that is gone":               {"daytona", found("s1"), false},
		"one that nobody sees":           {"daytona", found("s2"), true},
		"one of two is gone":             {"daytona", found("s1", "s3"), true},
		"one that is over":               {"daytona", found("s1", "s4"), false},
		"one that runs":                  {"daytona", found("s1", "s5"), true},
		"on record as over":              {"daytona", found("s6"), false},
		"one that sleeps":                {"daytona", found("s6", "s7"), true},
		"its own, which runs elsewhere":  {"e2b", found("s5"), false},
		"another one, elsewhere":         {"e2b", found("s3", "s5"), true},
		"one elsewhere that nobody sees": {"e2b", found("s2"), true},
	} {
		if got := v.FindsSome(s, c.asked, c.find); got != c.want {
			t.Errorf("%s: found %v, want %v", name, got, c.want)
		}
	}
}
