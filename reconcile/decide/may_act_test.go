package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// The actions of TestMayAct, in the order of its columns.
var ruledOn = []struct {
	name     string
	action   reconcile.Action
	reissued bool
}{
	{name: "fail", action: reconcile.Action{Step: reconcile.StepFail, Rule: "assigned-stale", Subject: "task:t1"}},
	{name: "requeue", action: reconcile.Action{Step: reconcile.StepRequeue, Rule: "assigned-stale", Subject: "task:t1"}},
	{name: "end", action: reconcile.Action{Step: reconcile.StepTerminate, Rule: "orphan", Subject: "sandbox:lab/s1"}},
	{name: "stop", action: reconcile.Action{Step: reconcile.StepQuarantine, Rule: "orphan", Subject: "sandbox:lab/s1"}},
	{name: "later", action: reconcile.Action{Step: reconcile.StepTerminate, Rule: "assigned-stale", Subject: "task:t1", Seq: 1}},
	{name: "asked", action: reconcile.Action{Step: reconcile.StepTerminate, Rule: reconcile.RuleOperator, Subject: "sandbox:lab/s1"}},
	{name: "all", action: reconcile.Action{Step: reconcile.StepTerminate, Rule: reconcile.RuleEmergency, Subject: "sandbox:lab/s1"}},
	{name: "resume", action: reconcile.Action{Step: reconcile.StepResume, Rule: reconcile.RuleOperator, Subject: "sandbox:lab/s1"}},
	{name: "undo", action: reconcile.Action{Step: reconcile.StepRestore, Rule: reconcile.RuleOperator, Subject: "task:t1"}},
	{name: "activate", action: reconcile.Action{Step: reconcile.StepActivate, Rule: "template-unusable", Subject: "template:lab/x"}},
	{name: "again", action: reconcile.Action{Step: reconcile.StepTerminate, Rule: "orphan", Subject: "sandbox:lab/s1"}, reissued: true},
	{name: "resume2", action: reconcile.Action{Step: reconcile.StepResume, Rule: reconcile.RuleOperator, Subject: "sandbox:lab/s1"}, reissued: true},
	{name: "probe", action: *ProbeOf(reconcile.Ref{Provider: "lab", ID: "s1"})},
	{name: "activate2", action: reconcile.Action{Step: reconcile.StepActivate, Rule: "template-unusable", Subject: "template:lab/x"}, reissued: true},
}

// Each pair of an action and a fact: goes, waits, is withdrawn, is done, accepted or failed. The first
// row is of an action that nothing speaks against.
func TestMayAct(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	running := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, SandboxKey: "s1", State: reconcile.SandboxRunning, Owned: true, AsOf: now}
	live := reconcile.Task{ID: "t2", Status: "running", State: reconcile.TaskRunning, AsOf: now}
	box := func(change func(*reconcile.Sandbox)) func(*Facts) {
		return func(f *Facts) { change(&f.Lookup.Sandbox) }
	}
	state := func(s reconcile.SandboxState) func(*Facts) {
		return box(func(b *reconcile.Sandbox) { b.State = s })
	}
	facts := []struct {
		name   string
		change func(*Facts)
	}{
		{"nothing", func(*Facts) {}},
		{"a row could not be read", func(f *Facts) { f.Unread = "503" }},
		{"the sandbox is gone", func(f *Facts) { f.Lookup = reconcile.Lookup{Gone: true} }},
		{"it is a tombstone", state(reconcile.SandboxEnded)},
		{"it is being deleted", state(reconcile.SandboxDeleting)},
		{"it is not ours", box(func(b *reconcile.Sandbox) { b.Owned = false })},
		{"only rows say it is ours", func(f *Facts) { f.Lookup.Sandbox.Owned, f.Lookup.Sandbox.Provider = false, "rows" }},
		{"it came to rest", state(reconcile.SandboxStopped)},
		{"it names another task", box(func(b *reconcile.Sandbox) { b.Task = "t2" })},
		{"the final probe answers", func(f *Facts) { f.Probe, f.Recheck = ProbeRefutes, nil }},
		{"the final probe proves nothing", func(f *Facts) { f.Probe, f.Recheck = ProbeUnsure, nil }},
		{"the verdict does not hold", func(f *Facts) { f.Recheck.Finding = nil }},
		{"it is about another sandbox", func(f *Facts) { f.Recheck.Finding.Sandbox = "s2" }},
		{"the verdict is held", func(f *Facts) { f.Recheck.Finding.HeldBy = reconcile.HeldBy{reconcile.HeldFrozen("tasks")} }},
		{"held, and another rule finds it", func(f *Facts) {
			f.Recheck.Finding.HeldBy = reconcile.HeldBy{reconcile.HeldFrozen("tasks")}
			f.Recheck.Others = []*reconcile.Finding{{Rule: "errored", Due: true}}
		}},
		{"held, and so is the other rule", func(f *Facts) {
			f.Recheck.Finding.HeldBy = reconcile.HeldBy{reconcile.HeldFrozen("tasks")}
			f.Recheck.Others = []*reconcile.Finding{{Rule: "errored", Due: true, HeldBy: f.Recheck.Finding.HeldBy}}
		}},
		{"our write is there", func(f *Facts) { f.Recheck.Subject.Task.Error = reconcile.Mark("a-1") }},
		{"no attempt is left", func(f *Facts) { f.Recheck.Subject.Task.Attempts = 3 }},
		{"its task lives again", func(f *Facts) { f.Row = &live }},
		{"a live task uses it", func(f *Facts) { f.Users = []reconcile.Task{live} }},
		{"a task of an unmapped status", func(f *Facts) { f.Users = []reconcile.Task{{ID: "t2", Status: "odd", State: reconcile.TaskUnknown}} }},
		{"a task that is over", func(f *Facts) { f.Users = []reconcile.Task{{ID: "t2", State: reconcile.TaskFailed}} }},
		{"an action of ours is at it", func(f *Facts) { f.Busy = true }},
		{"neither it nor a row proves it", func(f *Facts) { f.Unnamed = true }},
		{"a further table explains it", func(f *Facts) { f.Explained = "previews" }},
		{"all is paused", func(f *Facts) { f.Controls.Pauses = []reconcile.Pause{{Scope: "all", Author: "ana", Reason: "drill"}} }},
		{"the sandbox is held", func(f *Facts) {
			f.Controls.Holds = []reconcile.Hold{{Target: "sandbox:s1", Author: "ana", Reason: "drill"}}
		}},
		{"the claim is over", func(f *Facts) { f.Expired = "its claim was given up" }},
		{"the template is active", func(f *Facts) { f.Template.State = reconcile.TemplateActive }},
		{"the template is being built", func(f *Facts) { f.Template.State = reconcile.TemplateBuilding }},
		{"the template is no more", func(f *Facts) { f.Template.State = reconcile.TemplateMissing }},
		{"it was planned a day ago", func(f *Facts) { f.Now = now.Add(24 * time.Hour) }},
		{"its rule is not proven", func(*Facts) {}},
		{"not proven, and it was begun", func(*Facts) {}},
		{"not proven, and armed", func(f *Facts) {
			f.Controls.Arms = map[string]reconcile.Arm{"orphan": {}, "assigned-stale": {}}
		}},
	}
	policy := &reconcile.Policy{
		Providers: map[string]reconcile.ProviderPolicy{"lab": {}, "rows": {Referenced: true}},
		Rules: map[string]reconcile.RulePolicy{
			"assigned-stale": {Mode: reconcile.Enforce, Rollout: 100}, "orphan": {Mode: reconcile.Enforce, Rollout: 100},
			"template-unusable": {Mode: reconcile.Enforce, Rollout: 100}, "errored": {Mode: reconcile.Enforce, Rollout: 100}},
	}
	v := view.New(&reconcile.Snapshot{Kind: reconcile.Full, Memory: reconcile.Memory{Now: now, Findings: map[reconcile.FindingKey]reconcile.Finding{
		{Rule: "assigned-stale", Subject: "task:t1"}: {HeldBy: reconcile.HeldBy{reconcile.HeldFrozen("tasks")}},
		{Rule: "orphan", Subject: "sandbox:lab/s1"}:  {HeldBy: reconcile.HeldBy{reconcile.HeldFrozen("tasks")}},
	}}}, policy)
	asking := *policy
	asking.Proof = reconcile.ProofPolicy{FalsePositives: 0.02, Samples: 200}
	asking.Rules = maps.Clone(policy.Rules)
	template := asking.Rules["template-unusable"]
	template.Remedy = reconcile.Activate
	asking.Rules["template-unusable"] = template
	gated := view.New(&reconcile.Snapshot{Kind: reconcile.Full, Memory: reconcile.Memory{Now: now}}, &asking)
	var got strings.Builder
	for _, fact := range facts {
		v := v
		if strings.Contains(fact.name, "not proven") {
			v = gated
		}
		fmt.Fprintf(&got, "%-32s", fact.name)
		for _, r := range ruledOn {
			a := r.action
			a.ID, a.Remedy, a.Provider, a.Sandbox, a.Task, a.Attempts, a.PlannedAt = "a-1", "a-0", "lab", "s1", "t1", 1, now
			f := &Facts{Now: now, Reissued: r.reissued, Lookup: reconcile.Lookup{Sandbox: running}, Recheck: &Recheck{View: v,
				Subject: &reconcile.Subject{Task: &reconcile.Task{ID: "t1", Retries: true, MaxAttempts: 3}},
				Finding: &reconcile.Finding{Provider: "lab", Sandbox: "s1"}, Kept: "it is healthy now"},
				Targets: []reconcile.ControlTarget{{Rule: a.Rule, Subject: a.Subject, Provider: "lab", Sandbox: "s1", Task: "t1"}}}
			if strings.Contains(fact.name, "begun") {
				a.FirstActed = now
			}
			f.Template = &reconcile.Template{State: reconcile.TemplateInactive}
			if a.Step == reconcile.StepResume {
				f.Lookup.Sandbox.State = reconcile.SandboxStopped
			}
			fact.change(f)
			ruling := MayAct(v, &a, f)
			if (ruling.Allows(&a) == nil) != (ruling.Outcome == "") {
				t.Errorf("%s, %s: %+v allows it and forbids it", fact.name, r.name, ruling)
			}
			fmt.Fprintf(&got, "%8s", brief[ruling.Outcome])
		}
		got.WriteByte('\n')
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(mayAct), "\n"), strings.Split(strings.TrimSpace(got.String()), "\n")); diff != "" {
		t.Errorf("rulings differ (-want +got):\n%s\n%s", diff, got.String())
	}
}

// brief is a ruling in a word.
var brief = map[reconcile.Outcome]string{
	"": "go", reconcile.OutcomePending: "wait", reconcile.OutcomeWithdrawn: "back", reconcile.OutcomeConfirmed: "done",
	reconcile.OutcomeDone: "done", reconcile.OutcomeAccepted: "accept", reconcile.OutcomeFailed: "failed",
}

// mayAct has a column for each of ruledOn: fail, requeue, end, stop, later, asked, all, resume, undo, activate, again, resume2, probe, activate2.
const mayAct = `
nothing                               go      go      go      go      go      go      go      go      go      go      go      go      go      go
a row could not be read             wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait
the sandbox is gone                   go      go    done    back    done    done    done  failed      go      go    wait    wait    back      go
it is a tombstone                     go      go    done    back    done    done    done  failed      go      go    wait    wait    back      go
it is being deleted                   go      go  accept    back  accept  accept  accept  failed      go      go      go    wait    back      go
it is not ours                        go      go    back    back    back    back    back    back      go      go    back    wait    back      go
only rows say it is ours              go      go      go      go      go    back    back      go      go      go      go      go      go      go
it came to rest                       go      go      go      go    back      go      go      go      go      go      go      go    back      go
it names another task                 go      go      go      go    back      go    back      go      go      go      go      go      go      go
the final probe answers             back    back    back    back    back    back    back    back    back    back    back    wait    back    back
the final probe proves nothing      wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait
the verdict does not hold           back    back    back    back      go      go      go      go      go      go    back      go      go      go
it is about another sandbox           go      go    back    back      go      go      go      go      go      go    back      go      go      go
the verdict is held                 wait    wait    wait    wait      go      go      go      go      go      go    wait      go      go      go
held, and another rule finds it     back    back    back    back      go      go      go      go      go      go    wait      go      go      go
held, and so is the other rule      wait    wait    wait    wait      go      go      go      go      go      go    wait      go      go      go
our write is there                  done    done      go      go      go      go      go      go      go      go      go      go      go      go
no attempt is left                    go    back      go      go      go      go      go      go      go      go      go      go      go      go
its task lives again                  go      go      go      go    back      go      go      go      go      go      go      go      go      go
a live task uses it                   go      go    back    back    back    back    back      go      go      go    back      go      go      go
a task of an unmapped status          go      go    back    back    back    back    back      go      go      go    back      go      go      go
a task that is over                   go      go      go      go      go      go      go      go      go      go      go      go      go      go
an action of ours is at it            go      go      go      go      go      go      go      go      go      go      go      go    back      go
neither it nor a row proves it        go      go      go      go      go      go      go      go      go      go      go      go    back      go
a further table explains it           go      go      go      go      go    back    back      go      go      go      go      go      go      go
all is paused                       wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait      go    wait
the sandbox is held                 wait    wait    wait    wait    wait    wait    wait      go      go    wait    wait      go      go    wait
the claim is over                   wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait    wait
the template is active                go      go      go      go      go      go      go      go      go    done      go      go      go    wait
the template is being built           go      go      go      go      go      go      go      go      go  accept      go      go      go    wait
the template is no more               go      go      go      go      go      go      go      go      go    back      go      go      go    wait
it was planned a day ago              go      go      go      go      go    back    back      go      go      go      go      go      go      go
its rule is not proven              wait    wait    wait    wait      go      go      go      go      go      go      go      go      go      go
not proven, and it was begun          go      go      go      go      go      go      go      go      go      go      go      go      go      go
not proven, and armed                 go      go      go      go      go      go      go      go      go      go      go      go      go      go
`

// A ruling allows the one action that it was made for, and a zero one none.
func TestRulingAllows(t *testing.T) {
	a := reconcile.Action{ID: "a-1", Step: reconcile.StepRestore, Rule: reconcile.RuleOperator}
	v := view.New(&reconcile.Snapshot{}, &reconcile.Policy{})
	ruling := MayAct(v, &a, &Facts{})
	others := []reconcile.Action{{ID: "a-2", Step: a.Step}, {ID: a.ID, Step: reconcile.StepTerminate}, {ID: a.ID, Step: a.Step, Sandbox: "s2"}}
	if err := ruling.Allows(&a); err != nil {
		t.Errorf("its own action: %v", err)
	}
	if slices.ContainsFunc(others, func(b reconcile.Action) bool { return ruling.Allows(&b) == nil }) {
		t.Error("it allows another action")
	}
	if (Ruling{}).Allows(&a) == nil {
		t.Error("a zero ruling allows an action")
	}
}

// TestAnEndShowsWhatItIsFor: what ends with a task shows that task where each sandbox does, or the row names it.
func TestAnEndShowsWhatItIsFor(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	v := view.New(&reconcile.Snapshot{Kind: reconcile.Full, Memory: reconcile.Memory{Now: now}}, &reconcile.Policy{
		Providers: map[string]reconcile.ProviderPolicy{"lab": {LinkTask: true}},
		Rules:     map[string]reconcile.RulePolicy{"finished-lingering": {Mode: reconcile.Enforce, Rollout: 100}},
	})
	for name, c := range map[string]struct {
		label, row string
		want       reconcile.Outcome
	}{
		"it shows its task":                     {"t1", "", ""},
		"the row names it":                      {"", "s1", ""},
		"it shows none, and the row names none": {"", "", reconcile.OutcomeWithdrawn},
		"the row names another":                 {"", "s2", reconcile.OutcomeWithdrawn},
	} {
		t.Run(name, func(t *testing.T) {
			a := reconcile.Action{ID: "a-1", Remedy: "a-0", Step: reconcile.StepTerminate, Rule: "finished-lingering",
				Subject: "task:t1", Task: "t1", Provider: "lab", Sandbox: "s1", PlannedAt: now}
			sb := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, SandboxKey: "s1", State: reconcile.SandboxRunning, Owned: true,
				Task: c.label, AsOf: now}
			task := &reconcile.Task{ID: "t1", State: reconcile.TaskCompleted, Sandbox: c.row, AsOf: now}
			f := &Facts{Now: now, Lookup: reconcile.Lookup{Sandbox: sb}, Row: task, Recheck: &Recheck{View: v,
				Subject: &reconcile.Subject{Task: task},
				Finding: &reconcile.Finding{Provider: "lab", Sandbox: "s1"}}}
			if got := MayAct(v, &a, f); got.Outcome != c.want {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// TestCompletedAfterItWasFailed: a row that we failed and that is completed by now was handed out again, and its user may
// go on with what that left in the sandbox.
func TestCompletedAfterItWasFailed(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now}}, &reconcile.Policy{
		Providers: map[string]reconcile.ProviderPolicy{"lab": {}},
		Rules:     map[string]reconcile.RulePolicy{"heartbeat-lost": {Mode: reconcile.Enforce, Rollout: 100}},
	})
	for name, c := range map[string]struct {
		state reconcile.TaskState
		error string
		want  reconcile.Outcome
	}{
		"failed, as we wrote it":               {reconcile.TaskFailed, "silent [sandkeeper a-0]", ""},
		"failed by somebody":                   {reconcile.TaskFailed, "boom", ""},
		"completed":                            {reconcile.TaskCompleted, "", reconcile.OutcomeWithdrawn},
		"a status that says both, as we wrote": {reconcile.TaskCompleted, "silent [sandkeeper a-0]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := reconcile.Action{ID: "a-1", Remedy: "a-0", Seq: 1, Step: reconcile.StepTerminate, Rule: "heartbeat-lost",
				Subject: "task:t1", Task: "t1", Provider: "lab", Sandbox: "s1", PlannedAt: now}
			sb := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, State: reconcile.SandboxRunning, Owned: true, Task: "t1", AsOf: now}
			task := &reconcile.Task{ID: "t1", State: c.state, Error: c.error, AsOf: now}
			if got := MayAct(v, &a, &Facts{Now: now, Lookup: reconcile.Lookup{Sandbox: sb}, Row: task}); got.Outcome != c.want {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// TestADeletionOfOthersIsTheirs: a sandbox that is on its way out before anybody of ours asked was ended by somebody else,
// and may be ours where an attempt was begun of which nobody knows what came of it.
func TestADeletionOfOthersIsTheirs(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now}}, &reconcile.Policy{})
	for name, c := range map[string]struct {
		attempts int
		asked    time.Time
		want     reconcile.How
	}{
		"the first attempt":      {1, time.Time{}, reconcile.HowAdopted},
		"an attempt that died":   {2, time.Time{}, reconcile.HowUnsure},
		"one that was not heard": {2, now.Add(-time.Minute), reconcile.HowUnheard},
	} {
		a := reconcile.Action{ID: "a-1", Step: reconcile.StepTerminate, Rule: "orphan", Provider: "lab", Sandbox: "s1",
			Attempts: c.attempts, FirstActed: c.asked, PlannedAt: now}
		sb := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, State: reconcile.SandboxDeleting, Owned: true, AsOf: now}
		got := MayAct(v, &a, &Facts{Now: now, Lookup: reconcile.Lookup{Sandbox: sb}})
		if got.Outcome != reconcile.OutcomeAccepted || got.How != c.want || !strings.HasPrefix(got.Why, "is being deleted already") {
			t.Errorf("%s: %+v, want it accepted: %q", name, got, c.want)
		}
	}
}

// TestAVanishedRowTellsNothing: where a row is gone, nobody can read whether an earlier try of ours had written it.
func TestAVanishedRowTellsNothing(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now}}, &reconcile.Policy{})
	there := &reconcile.Subject{Task: &reconcile.Task{ID: "t1"}}
	for name, c := range map[string]struct {
		step     reconcile.Step
		attempts int
		subject  *reconcile.Subject
		want     reconcile.How
	}{
		"tried before":                        {reconcile.StepFail, 2, nil, reconcile.HowVanished},
		"the first try":                       {reconcile.StepFail, 1, nil, ""},
		"the row is there and has no mark":    {reconcile.StepFail, 2, there, ""},
		"the end of a sandbox writes no row":  {reconcile.StepTerminate, 2, nil, ""},
		"tried before, a row that was to run": {reconcile.StepRequeue, 2, nil, reconcile.HowVanished},
	} {
		a := reconcile.Action{ID: "a-1", Step: c.step, Rule: "deadline-exceeded", Subject: "task:t1", Task: "t1",
			Provider: "lab", Sandbox: "s1", Attempts: c.attempts, PlannedAt: now}
		sb := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, State: reconcile.SandboxRunning, Owned: true, AsOf: now}
		got := MayAct(v, &a, &Facts{Now: now, Lookup: reconcile.Lookup{Sandbox: sb},
			Recheck: &Recheck{View: v, Subject: c.subject, Kept: "the row is gone"}})
		if got.Outcome != reconcile.OutcomeWithdrawn || got.How != c.want {
			t.Errorf("%s: %+v, want it withdrawn: %q", name, got, c.want)
		}
	}
}

// TestAHeldVerdictMakesRoom: what is held when it is judged again makes room for another rule, unless the last pass planned
// it, and would plan it again.
func TestAHeldVerdictMakesRoom(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	held := reconcile.HeldBy{reconcile.HeldFrozen("tasks")}
	policy := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{
		"sandbox-missing": {Mode: reconcile.Enforce, Rollout: 100}, "errored": {Mode: reconcile.Enforce, Rollout: 100}}}
	for name, c := range map[string]struct {
		before *reconcile.Finding
		want   reconcile.Outcome
	}{
		"the last pass held it":            {&reconcile.Finding{LastSeen: now, HeldBy: held}, reconcile.OutcomeWithdrawn},
		"the last pass planned it":         {&reconcile.Finding{LastSeen: now}, reconcile.OutcomePending},
		"the last pass did not see it":     {&reconcile.Finding{LastSeen: now.Add(-time.Minute)}, reconcile.OutcomeWithdrawn},
		"it is no finding any more by now": {nil, reconcile.OutcomeWithdrawn},
	} {
		memory := reconcile.Memory{Now: now, Findings: map[reconcile.FindingKey]reconcile.Finding{},
			Sources: map[string]reconcile.SourceSeen{reconcile.SourceTasks: {LastTrusted: now}}}
		if c.before != nil {
			memory.Findings[reconcile.FindingKey{Rule: "sandbox-missing", Subject: "task:t1"}] = *c.before
		}
		v := view.New(&reconcile.Snapshot{Kind: reconcile.Full, Memory: memory}, policy)
		a := reconcile.Action{ID: "a-1", Step: reconcile.StepFail, Rule: "sandbox-missing", Subject: "task:t1", Task: "t1",
			Attempts: 9, PlannedAt: now}
		got := MayAct(v, &a, &Facts{Now: now, Recheck: &Recheck{View: v,
			Subject: &reconcile.Subject{Task: &reconcile.Task{ID: "t1"}},
			Finding: &reconcile.Finding{HeldBy: held}, Others: []*reconcile.Finding{{Rule: "errored", Due: true}}}})
		if got.Outcome != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// TestWhatIsNotDueIsNotActedOn: a finding that is there again, and has not lasted, is no ground for what was planned.
func TestWhatIsNotDueIsNotActedOn(t *testing.T) {
	for name, c := range map[string]struct {
		world string
		due   bool
	}{
		"seen twice, long enough ago": {"finding orphan sandbox:daytona/s1 first=1m last=1m sighted=1m sightings=1; ", true},
		"it began anew":               {"", false},
	} {
		j, _ := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world+"box daytona/s1 running"))
		for i := range j.Decisions {
			if j.Decisions[i].Subject.ID != "sandbox:daytona/s1" {
				continue
			}
			o := Recheck{View: j.View, Subject: j.Decisions[i].Subject}
			o.Judge(&reconcile.Action{Rule: "orphan", Step: reconcile.StepTerminate})
			if (o.Finding != nil) != c.due || !c.due && o.Kept != "not due any more" {
				t.Errorf("%s: a ground: %t, kept because %q; want one: %t", name, o.Finding != nil, o.Kept, c.due)
			}
		}
	}
}
