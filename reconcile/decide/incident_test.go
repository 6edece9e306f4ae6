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

// fails are n tasks whose workers do nothing beside as many healthy ones, each with a sandbox.
func fails(n int) string {
	last := fmt.Sprintf("%03d", n)
	return strings.ReplaceAll("task d{001..N} running started=1h ev.activity=1h ev.heartbeat=9s; box daytona/d{001..N} "+
		"running task=d{001..N}; task w{001..N} running started=1h ev.activity=9s ev.heartbeat=9s; box daytona/w{001..N} running "+
		"task=w{001..N}; probe daytona/d{001..N} answered=1s worker=dead; probe daytona/w{001..N} answered=1s worker=alive; "+
		"limits share=100 breaker=100; ", "N", last)
}

// TestIncidentOpens: so many failures of one signature on different subjects, within the
// window.
func TestIncidentOpens(t *testing.T) {
	probe := worldtest.NewWorld(t, fails(1))
	sig := "signature=" + JudgeWorld(probe).Verdicts[0].Signature
	before := func(n int, more string) string {
		return fmt.Sprintf("verdict inactive task:b{1..%d} %s %s; ", n, sig, more)
	}
	const on = "systemic count=5 window=30m; "
	for name, c := range map[string]struct {
		world string
		count int // of the incident; 0 for none
	}{
		"four at once":                    {on + fails(4), 0},
		"five at once":                    {on + fails(5), 5},
		"one, four before":                {on + fails(1) + before(4, "ago=29m"), 5},
		"one, three before":               {on + fails(1) + before(3, "ago=29m"), 0},
		"at the edge of the window":       {on + fails(1) + before(4, "ago=30m"), 5},
		"just out of the window":          {on + fails(1) + before(4, "ago=30m1s"), 0},
		"before, of another signature":    {on + fails(1) + "verdict inactive task:b{1..4} ago=9m signature=x", 0},
		"before, and over":                {on + fails(1) + before(4, "ago=9m over=yes"), 5},
		"four times the same subject":     {on + fails(1) + strings.Repeat(before(1, "ago=9m"), 4), 0},
		"before, from a later clock":      {on + fails(1) + before(4, "ago=-9m"), 5},
		"none new":                        {on + before(9, "ago=9m"), 0},
		"observed only":                   {on + "rule inactive mode=observe; " + fails(5), 5},
		"the rule systemic only observes": {on + "rule systemic mode=observe; " + fails(5), 5},
		"the rule systemic is off":        {fails(9), 0},
		"a count of one is too few":       {"systemic count=1; " + fails(1), 0},
		"clean-up forms none":             {on + orphans(9) + "; row s completed updated=2h; box daytona/l{1..9} running task=s", 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			count := 0
			for _, in := range j.Incidents {
				count += in.Count
			}
			if count != c.count || len(j.Incidents) > 1 {
				t.Errorf("incidents = %+v, want one of %d failures\nworld: %s", j.Incidents, c.count, c.world)
			}
		})
	}
}

// TestHundredIdentical: one incident, no more row writes than the budget has, no sandbox
// ended; each pass goes on failing rows, and nothing is planned and withdrawn in turn.
func TestHundredIdentical(t *testing.T) {
	w := worldtest.NewWorld(t, "systemic count=5 window=30m", fails(100))
	j, p := PlanWorld(w)
	if len(j.Verdicts) != 100 || len(j.Incidents) != 1 || j.Incidents[0].Count != 100 {
		t.Fatalf("%d verdicts, incidents %+v; want one incident of 100", len(j.Verdicts), j.Incidents)
	}
	if len(p.Actions) != 2*w.P.Limits.PerPass {
		t.Errorf("%d actions, want %d rows and what waits behind each", len(p.Actions), w.P.Limits.PerPass)
	}
	for _, a := range p.Actions {
		if (a.Step == reconcile.StepFail) != (a.Seq == 0) || a.Signature != j.Incidents[0].Signature {
			t.Errorf("%s %s, step %d: want rows failed first, with the signature", a.Step, a.Subject, a.Seq)
		}
	}
	grouped := 0
	for _, f := range p.Findings {
		if f.Incident == j.Incidents[0].ID {
			grouped++
		}
	}
	if grouped != 101 {
		t.Errorf("%d findings belong to the incident, want the 100 and its own", grouped)
	}
	remember(w, j, p)
	w.S.Memory.Actions = p.Actions
	j, p = PlanWorld(w)
	if len(j.Verdicts) != 0 || len(p.Actions) != 0 || len(p.Withdrawn) != 0 || j.Incidents[0].Count != 100 {
		t.Errorf("again: %d verdicts, %d actions, withdrawn %v, incident of %d; want nothing new",
			len(j.Verdicts), len(p.Actions), p.Withdrawn, j.Incidents[0].Count)
	}
}

// TestUnderAnIncident: what an open incident holds and what it leaves.
func TestUnderAnIncident(t *testing.T) {
	w := worldtest.NewWorld(t, "systemic count=5 window=30m", fails(5))
	_, p := PlanWorld(w)
	sig := p.Steps[0].Signature
	_, p = PlanWorld(worldtest.NewWorld(t, "task d001 running started=1h timeout=10m ev.heartbeat=9s; box daytona/d001 running task=d001"))
	limit := p.Steps[0].Signature
	const dead = "probe daytona/d001 answered=1s worker=dead; probe daytona/w001 answered=1s worker=alive; "
	for name, c := range map[string]struct {
		world     string
		change    func(*reconcile.Incident)
		want      []string
		withdrawn []string
	}{
		"the row goes on, the sandbox waits": {"", nil,
			[]string{"do fail d001", "held terminate daytona/d001: incident: i-1"}, nil},
		"released: both go on": {"", func(in *reconcile.Incident) { in.ReleasedAt = worldtest.LedgerNow },
			do("fail d001", "terminate daytona/d001"), nil},
		"of another signature: both go on": {"", func(in *reconcile.Incident) { in.Signature = "x" },
			do("fail d001", "terminate daytona/d001"), nil},
		"systemic is off by now: both go on": {"rule systemic mode=off; ", nil,
			do("fail d001", "terminate daytona/d001"), nil},
		"a requeue becomes a fail": {"rule inactive remedy=requeue; task d001 running started=1h ev.activity=1h " +
			"ev.heartbeat=9s attempts=0/3; box daytona/d001 running task=d001; " + dead, nil,
			[]string{"do fail d001", "held terminate daytona/d001: incident: i-1"}, nil},
		"a time limit holds all the same": {"task d001 running started=1h timeout=10m ev.heartbeat=9s; " +
			"box daytona/d001 running task=d001; ", func(in *reconcile.Incident) { in.Signature = limit },
			do("fail d001", "terminate daytona/d001"), nil},
		"a terminate alone waits": {"rule inactive remedy=terminate; ", nil,
			[]string{"held terminate daytona/d001: incident: i-1"}, nil},
		"a planned requeue is withdrawn": {"rule inactive remedy=requeue; task d001 running started=1h " +
			"ev.activity=1h ev.heartbeat=9s attempts=0/3; box daytona/d001 running task=d001; " + dead +
			"action a1 inactive task:d001 requeue signature=" + sig, nil,
			[]string{"held fail d001: the planned requeue is withdrawn first",
				"held terminate daytona/d001: incident: i-1"}, []string{"a1"}},
		"a planned terminate is withdrawn": {"rule inactive remedy=terminate; " +
			"action a1 inactive task:d001 terminate box=daytona/d001 signature=" + sig, nil,
			[]string{"held terminate daytona/d001: incident: i-1"}, []string{"a1"}},
		"what is left of a begun remedy waits": {"row d001 failed updated=1m; box daytona/d001 running task=d001; " +
			"action a2 inactive task:d001 terminate box=daytona/d001 remedy=a1 seq=1 signature=" + sig, nil,
			[]string{"held terminate daytona/d001: incident: i-1"}, nil},
		"what was begun is left": {"row d001 failed updated=1m; box daytona/d001 running task=d001; " +
			"action a2 inactive task:d001 terminate box=daytona/d001 remedy=a1 seq=1 claimed=1m signature=" + sig, nil,
			nil, nil},
		"what a person asked for is left": {"row d001 failed updated=1m; box daytona/d001 running task=d001; " +
			"action a2 operator sandbox:daytona/d001 terminate box=daytona/d001 signature=" + sig, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			world := c.world
			if !strings.Contains(world, "box daytona/d001") {
				world = fails(1) + world
			}
			w := worldtest.NewWorld(t, "systemic count=5 window=30m; limits share=100", worldtest.Anchor, world)
			in := reconcile.Incident{ID: "i-1", Signature: sig, Rule: "inactive", Provider: "daytona",
				OpenedAt: worldtest.LedgerNow.Add(-time.Minute), LastSeen: worldtest.LedgerNow.Add(-time.Minute), Count: 5}
			if c.change != nil {
				c.change(&in)
			}
			w.S.Memory.Controls.Incidents = []reconcile.Incident{in}
			_, p := PlanWorld(w)
			if got := stepLines(p); !slices.Equal(got, c.want) {
				t.Errorf("steps = %q\n want %q", got, c.want)
			}
			if !slices.Equal(p.Withdrawn, c.withdrawn) {
				t.Errorf("withdrawn = %v, want %v", p.Withdrawn, c.withdrawn)
			}
			for _, a := range p.Actions {
				if a.Step != reconcile.StepFail && a.Seq == 0 && c.change == nil && !strings.Contains(world, "mode=off") {
					t.Errorf("action %s of %s is recorded under an incident", a.Step, a.Subject)
				}
			}
		})
	}
}

// TestIncidentCloses: after a window without a failure, when none of its findings is open.
func TestIncidentCloses(t *testing.T) {
	w := worldtest.NewWorld(t, "systemic count=5 window=30m", fails(5))
	_, p := PlanWorld(w)
	sig := p.Steps[0].Signature
	const seen = "finding inactive task:x first=1h due=yes provider=daytona; "
	for name, c := range map[string]struct {
		world string
		last  time.Duration
		open  bool
	}{
		"before the window is over":        {"", 30*time.Minute - time.Second, true},
		"when the window is over":          {"", 30 * time.Minute, false},
		"a quick pass closes none":         {"pass quick; ", time.Hour, true},
		"a new failure":                    {fails(1), time.Hour, true},
		"an old failure that is still due": {fails(1) + "finding inactive task:d001 first=1h due=yes; ", time.Hour, true},
		"an old one that nobody could see": {seen + "tasks standby; ", time.Hour, true},
		"an old one that has resolved":     {seen, time.Hour, false},
		"the task table is not trusted":    {"tasks standby; ", time.Hour, true},
		"the clock ran backwards":          {"", -time.Hour, true},
		"systemic is off":                  {"rule systemic mode=off; ", time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, "systemic count=5 window=30m", worldtest.Anchor, c.world)
			w.S.Memory.Controls.Incidents = []reconcile.Incident{{ID: "i-1", Signature: sig, Rule: "inactive",
				Provider: "daytona", OpenedAt: worldtest.LedgerNow.Add(-2 * time.Hour), LastSeen: worldtest.LedgerNow.Add(-c.last), Count: 5}}
			j, p := PlanWorld(w)
			if len(j.Incidents) != 1 || j.Incidents[0].ClosedAt.IsZero() != c.open {
				t.Fatalf("incidents = %+v, want it open: %v", j.Incidents, c.open)
			}
			shown := slices.ContainsFunc(p.Findings, func(f reconcile.Finding) bool { return f.Subject == "incident:i-1" })
			if shown != c.open {
				t.Errorf("its finding is shown: %v, want %v", shown, c.open)
			}
		})
	}
}

// TestIncidentGrows: what an open incident learns.
func TestIncidentGrows(t *testing.T) {
	w := worldtest.NewWorld(t, "systemic count=5 window=30m; price daytona cents=10", fails(5))
	j, p := PlanWorld(w)
	remember(w, j, p)
	w.S.Memory.Now = w.S.Memory.Now.Add(time.Minute)
	w.Observe("template daytona/light inactive; row d{001..005} failed updated=1m; " +
		strings.ReplaceAll(fails(2), "d{", "e{") + "task w{003..005} running started=1h ev.activity=9s ev.heartbeat=9s; " +
		"box daytona/w{003..005} running task=w{003..005}; box daytona/d{001..005} running task=d{001..005}")
	next := JudgeWorld(w).Incidents
	first := j.Incidents[0]
	if len(next) != 1 || next[0].ID != first.ID || next[0].Count != 7 || !next[0].LastSeen.Equal(w.S.Memory.Now) ||
		!next[0].OpenedAt.Equal(first.OpenedAt) || next[0].Cost < 0.69 || next[0].Cost > 0.71 {
		t.Errorf("incidents = %+v, want %s with 7 failures at 0.70", next, first.ID)
	}
	if first.Cause != "" || !strings.Contains(next[0].Cause, `snapshot "light" is inactive`) {
		t.Errorf("cause = %q and then %q, want the template as soon as it is known", first.Cause, next[0].Cause)
	}
	w.S.Memory.Controls.Incidents = next
	w.S.Memory.Now = w.S.Memory.Now.Add(time.Minute)
	w.Observe("template daytona/light building; " + strings.ReplaceAll(fails(1), "d{", "f{"))
	late := JudgeWorld(w).Incidents
	if len(late) != 1 || late[0].Cause != next[0].Cause || len(late[0].Evidence) != len(next[0].Evidence) {
		t.Errorf("the cause %q became %+v after somebody mended it", next[0].Cause, late)
	}
}
