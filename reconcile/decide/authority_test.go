package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestCleanUpNeedsProof: an operator may end what a row names; who cleans up has not looked at each sandbox.
func TestCleanUpNeedsProof(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	policy := &reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"lab": {Referenced: true}}}
	v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now, LastFull: now}}, policy)
	for name, test := range map[string]struct {
		rule string
		made time.Time // the row
		goes bool
	}{
		"an operator, an older row":   {reconcile.RuleOperator, now.Add(-2 * time.Hour), true},
		"an operator, a younger row":  {reconcile.RuleOperator, now.Add(-time.Minute), true},
		"a clean-up, an older row":    {reconcile.RuleEmergency, now.Add(-2 * time.Hour), true},
		"a clean-up, a younger row":   {reconcile.RuleEmergency, now.Add(-time.Minute), false},
		"a clean-up, a row of no age": {reconcile.RuleEmergency, time.Time{}, false},
	} {
		a := &reconcile.Action{ID: "a1", Rule: test.rule, Step: reconcile.StepTerminate, Provider: "lab", Sandbox: "s1",
			Author: "ana", Running: true, Anyway: true, PlannedAt: now}
		f := &Facts{Now: now, Lookup: reconcile.Lookup{Sandbox: reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"},
			State: reconcile.SandboxRunning, AsOf: now, CreatedAt: now.Add(-time.Hour)}},
			Users: []reconcile.Task{{ID: "t1", State: reconcile.TaskRunning, AsOf: now, CreatedAt: test.made}}}
		if got := MayAct(v, a, f); got.Goes() != test.goes {
			t.Errorf("%s: goes: %t (%s), want %t", name, got.Goes(), got.Why, test.goes)
		}
	}
}

// TestKeptByAnother: what a finished task of another tenant keeps for its user, or its user has just used, no row that
// names it as well ends.
func TestKeptByAnother(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	enforced := reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100}
	policy := &reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"lab": {}},
		Rules: map[string]reconcile.RulePolicy{"deadline-exceeded": enforced, "over-age": enforced,
			"finished-lingering": {After: 30 * time.Minute}}}
	const blue, done = "blue", reconcile.TaskCompleted
	for name, test := range map[string]struct {
		rule, tenant string
		state        reconcile.TaskState
		kept         time.Duration // for how long the row keeps it yet
		idle         time.Duration // ago
		goes         bool
		change       func(t *reconcile.Task, sb *reconcile.Sandbox, seen *reconcile.TaskSeen)
	}{
		"kept by another tenant's":               {"deadline-exceeded", blue, done, time.Hour, time.Hour, false, nil},
		"kept by another tenant's that failed":   {"deadline-exceeded", blue, reconcile.TaskFailed, time.Hour, time.Hour, false, nil},
		"kept no longer":                         {"deadline-exceeded", blue, done, -time.Second, time.Hour, true, nil},
		"kept by another tenant's, stopped":      {"deadline-exceeded", blue, reconcile.TaskStopped, time.Hour, 0, true, nil},
		"kept by an earlier one of the tenant":   {"deadline-exceeded", "red", done, time.Hour, 0, true, nil},
		"kept by one of whom nobody knows whose": {"deadline-exceeded", "", done, time.Hour, 0, true, nil},
		"kept, and too old whosever it is":       {"over-age", blue, done, time.Hour, 0, true, nil},
		"used a moment ago":                      {"deadline-exceeded", blue, done, 0, 29 * time.Minute, false, nil},
		"used for the last time":                 {"deadline-exceeded", blue, done, 0, 30 * time.Minute, true, nil},
		"used, and it never was its own": {"deadline-exceeded", blue, done, 0, time.Minute, true,
			func(_ *reconcile.Task, _ *reconcile.Sandbox, seen *reconcile.TaskSeen) { seen.Named = "s0" }},
		"used, and it was over before anybody watched": {"deadline-exceeded", blue, done, 0, time.Minute, false,
			func(_ *reconcile.Task, _ *reconcile.Sandbox, seen *reconcile.TaskSeen) { *seen = reconcile.TaskSeen{} }},
		"used, and it has failed": {"deadline-exceeded", blue, done, 0, time.Minute, true,
			func(_ *reconcile.Task, sb *reconcile.Sandbox, _ *reconcile.TaskSeen) {
				sb.State = reconcile.SandboxFailed
			}},
		"used, and we had ended its task": {"deadline-exceeded", blue, reconcile.TaskFailed, 0, time.Minute, true,
			func(t *reconcile.Task, _ *reconcile.Sandbox, _ *reconcile.TaskSeen) {
				t.Error = "gone " + reconcile.Mark("a0")
			}},
		"used for longer than a row may keep one": {"deadline-exceeded", blue, done, 0, time.Minute, true,
			func(t *reconcile.Task, _ *reconcile.Sandbox, _ *reconcile.TaskSeen) {
				t.EndedAt = now.AddDate(-1, 0, 0)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &reconcile.Action{ID: "a1", Rule: test.rule, Subject: "task:x1", Task: "x1", Seq: 1,
				Step: reconcile.StepTerminate, Provider: "lab", Sandbox: "s1", PlannedAt: now}
			own := reconcile.Task{ID: "x1", Sandbox: "s1", State: reconcile.TaskFailed, Tenant: "red", AsOf: now}
			other := reconcile.Task{ID: "t1", Sandbox: "s1", State: test.state, Tenant: test.tenant, AsOf: now,
				EndedAt: now.Add(-time.Hour), UpdatedAt: now.Add(-test.idle), KeepAliveUntil: now.Add(test.kept)}
			f := &Facts{Now: now, Row: &own, Lookup: reconcile.Lookup{Sandbox: reconcile.Sandbox{
				Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, SandboxKey: "s1", State: reconcile.SandboxRunning, Owned: true,
				AsOf: now, CreatedAt: now.Add(-2 * time.Hour)}}}
			seen := reconcile.TaskSeen{ID: "t1", State: test.state, Sandbox: "s1", Named: "s1", EntrySum: other.EntrySum()}
			if test.change != nil {
				test.change(&other, &f.Lookup.Sandbox, &seen)
			}
			f.Users = []reconcile.Task{own, other}
			known := map[string]reconcile.TaskSeen{}
			if seen.ID != "" {
				known[seen.ID] = seen
			}
			v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now, LastFull: now,
				Tasks: reconcile.RememberedOf(known)}}, policy)
			if got := MayAct(v, a, f); got.Goes() != test.goes {
				t.Errorf("goes: %t (%s), want %t", got.Goes(), got.Why, test.goes)
			}
		})
	}
}

// TestAnywayTakesTwo: where there are two operators, one alone ends nothing that rests on a source that is not trusted;
// what is under way goes on.
func TestAnywayTakesTwo(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	two, err := reconcile.WithSecond("ana", "bob")
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range [][2]string{{"ana", "ana"}, {"ana", ""}, {two, "carol"}} {
		if both, err := reconcile.WithSecond(forged[0], forged[1]); err == nil {
			t.Errorf("%q are taken for two: %q", forged, both)
		}
	}
	for name, test := range map[string]struct {
		operators, anyway, goes bool
		author                  string
		begun                   time.Time
	}{
		"one operator":           {false, true, true, "ana", time.Time{}},
		"two, who ask together":  {true, true, true, two, time.Time{}},
		"two, one asks":          {true, true, false, "ana", time.Time{}},
		"two, without anyway":    {true, false, true, "ana", time.Time{}},
		"two, it has begun once": {true, true, true, "ana", now},
	} {
		v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now, LastFull: now}}, &reconcile.Policy{
			TwoOperators: test.operators, Providers: map[string]reconcile.ProviderPolicy{"lab": {}}})
		a := &reconcile.Action{ID: "a1", Rule: reconcile.RuleOperator, Step: reconcile.StepTerminate, Provider: "lab", Sandbox: "s1",
			Author: test.author, Anyway: test.anyway, PlannedAt: now, ActedAt: test.begun}
		f := &Facts{Now: now, Lookup: reconcile.Lookup{Sandbox: reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"},
			State: reconcile.SandboxRunning, Owned: true, AsOf: now, CreatedAt: now.Add(-time.Hour)}}}
		if got := MayAct(v, a, f); got.Goes() != test.goes {
			t.Errorf("%s: goes: %t (%s), want %t", name, got.Goes(), got.Why, test.goes)
		}
	}
}

// TestNoRowIsWrittenLater: a row of the ledger that writes a task's row behind another step, as nobody plans it, is
// withdrawn, also where the rule finds the task: it would pass verdict and budget.
func TestNoRowIsWrittenLater(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "provider daytona id=yes; task t1 running sandbox=s1; box daytona/s1 failed task=t1")
	v := view.New(&w.S, &w.P)
	found := reconcile.Finding{Rule: "errored", Subject: reconcile.TaskSubject("t1"), Task: "t1", Provider: "daytona", Sandbox: "s1"}
	subject := v.Subjects()[0]
	for _, step := range []reconcile.Step{reconcile.StepFail, reconcile.StepRequeue} {
		for seq, withdrawn := range []bool{false, true} {
			a := &reconcile.Action{ID: "a1", Remedy: "a0", Seq: seq, Rule: "errored", Subject: found.Subject, Task: "t1", Step: step, PlannedAt: v.Now}
			got := MayAct(v, a, &Facts{Now: v.Now, Recheck: &Recheck{View: v, Finding: &found, Subject: &subject}})
			if said := strings.Contains(got.Why, "behind another step"); said != withdrawn || withdrawn && got.Outcome != reconcile.OutcomeWithdrawn {
				t.Errorf("%s as step %d: %s (%s), want it withdrawn for that: %v", step, seq, got.Outcome, got.Why, withdrawn)
			}
		}
	}
}

// TestAccusedAlone: what was found of a sandbox that its task's row names fails the task with it; one that a label
// alone gives to a task that has another ends alone, as does that of a task that waits for its turn, also when that shows
// only right before the deed. What was to end alone does not when its row goes first by then.
func TestAccusedAlone(t *testing.T) {
	const world = "provider daytona id=yes; task t1 running sandbox=s2; box daytona/s1 creating task=t1"
	const works = "; box daytona/s2 running task=t1"
	const waiting = "provider daytona id=yes; task t1 pending; box daytona/s1 creating task=t1"
	const coming = "provider daytona id=yes; task t1 pending sandbox=s1 updated=10m; knew task t1 pending since=10m sandbox=s1; " +
		"box daytona/s1 creating task=t1 key=s1 created=9m"
	for name, test := range map[string]struct {
		world  string
		remedy reconcile.Remedy
		steps  []reconcile.Step // of the plan, in their order
		fails  bool             // a fail that was planned before goes on
	}{
		"the only one":                       {world, reconcile.Fail, []reconcile.Step{reconcile.StepFail, reconcile.StepTerminate}, true},
		"beside one that works":              {world + works, reconcile.Fail, []reconcile.Step{reconcile.StepTerminate}, false},
		"of a row that waits for its turn":   {waiting, reconcile.Fail, []reconcile.Step{reconcile.StepTerminate}, false},
		"of a row that is so until it is up": {coming, reconcile.Fail, []reconcile.Step{reconcile.StepFail, reconcile.StepTerminate}, true},
		"the same, to be set back":           {waiting, reconcile.Requeue, []reconcile.Step{reconcile.StepTerminate}, false},
		"beside one, to be quarantined":      {world + works, reconcile.Quarantine, []reconcile.Step{reconcile.StepQuarantine, reconcile.StepTerminate}, false},
	} {
		w := worldtest.NewWorld(t, worldtest.Anchor, test.world)
		w.Only("provisioning-stuck")
		r := w.P.Rules["provisioning-stuck"]
		r.Remedy = test.remedy
		w.P.Rules["provisioning-stuck"] = r
		at := w.P.Providers["daytona"]
		at.Suspends = true
		w.P.Providers["daytona"] = at
		j, p := PlanWorld(w)
		var got []reconcile.Step
		for _, a := range p.Actions {
			if got = append(got, a.Step); a.Sandbox != "s1" && a.Sandbox != "" {
				t.Errorf("%s: %s of %s", name, a.Step, a.Sandbox)
			}
		}
		if len(got) != len(test.steps) || got[0] != test.steps[0] || got[len(got)-1] != test.steps[len(got)-1] {
			t.Errorf("%s: %v is planned, want %v", name, got, test.steps)
		}
		for i := range j.Decisions {
			if j.Decisions[i].Subject.ID != "task:t1" {
				continue
			}
			for step, want := range map[reconcile.Step]bool{reconcile.StepFail: test.fails, reconcile.StepTerminate: !test.fails} {
				o := Recheck{View: j.View, Subject: j.Decisions[i].Subject}
				if o.Judge(&reconcile.Action{Rule: "provisioning-stuck", Step: step}); (o.Finding != nil) != want {
					t.Errorf("%s: a %s goes on: %t, want %t (%s)", name, step, o.Finding != nil, want, o.Kept)
				}
			}
		}
	}
}
