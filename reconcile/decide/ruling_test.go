package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A requeue is judged once more right before it is written: what explains the failure would
// make the next attempt fail as well.
func TestNoRequeueAfterAll(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	attempts := func(n int, age time.Duration) reconcile.TaskSeen {
		return reconcile.TaskSeen{Attempts: []time.Time{now.Add(-age), now.Add(-age), now.Add(-age)}[:n]}
	}
	cases := map[string]struct {
		step      reconcile.Step
		attempts  int
		unmapped  bool
		seen      reconcile.TaskSeen
		incidents []reconcile.Incident
		want      string
	}{
		"nothing forbids it":                   {step: reconcile.StepRequeue, attempts: 2},
		"the last attempt is over":             {step: reconcile.StepRequeue, attempts: 3, want: "no attempts are left"},
		"attempts are not mapped":              {step: reconcile.StepRequeue, unmapped: true, want: "no attempts are left"},
		"it ended twice lately":                {step: reconcile.StepRequeue, seen: attempts(2, time.Hour)},
		"it ended three times lately":          {step: reconcile.StepRequeue, seen: attempts(3, time.Hour), want: "it loops: 3"},
		"it ended three times, long ago":       {step: reconcile.StepRequeue, seen: attempts(3, time.Hour+time.Second)},
		"an incident of it":                    {step: reconcile.StepRequeue, incidents: []reconcile.Incident{{ID: "i-1", Signature: "s"}}, want: "incident i-1"},
		"an incident of something else":        {step: reconcile.StepRequeue, incidents: []reconcile.Incident{{ID: "i-1", Signature: "x"}}},
		"an incident that is over":             {step: reconcile.StepRequeue, incidents: []reconcile.Incident{{ID: "i-1", Signature: "s", ClosedAt: now}}},
		"a failure, with no attempt left":      {step: reconcile.StepFail, attempts: 3},
		"a failure, with an incident of it":    {step: reconcile.StepFail, incidents: []reconcile.Incident{{ID: "i-1", Signature: "s"}}},
		"the clock ran backwards since a turn": {step: reconcile.StepRequeue, seen: attempts(3, -time.Minute), want: "it loops"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{"looping": {Mode: reconcile.Enforce, Count: 3, Window: time.Hour}}}
			v := view.New(&reconcile.Snapshot{Kind: reconcile.Full, Memory: reconcile.Memory{Now: now}}, p)
			s := &reconcile.Subject{Task: &reconcile.Task{Retries: !c.unmapped, Attempts: c.attempts, MaxAttempts: 3}, Was: c.seen.Compact()}
			got := noRequeue(v, &reconcile.Action{Step: c.step, Signature: "s"}, &Facts{
				Recheck: &Recheck{View: v, Subject: s}, Controls: reconcile.Controls{Incidents: c.incidents}})
			if !strings.HasPrefix(got.Why, c.want) || c.want == "" && got.Outcome != "" {
				t.Errorf("noRequeue = %+v, want %q", got, c.want)
			}
		})
	}
}

// A quarantine that a crash cut short is known by the state of its sandbox, but a sandbox that
// stood still before the first attempt is judged like any other.
func TestStoppedBefore(t *testing.T) {
	look := func(state reconcile.SandboxState) reconcile.Lookup {
		return reconcile.Lookup{Sandbox: reconcile.Sandbox{State: state}}
	}
	cases := map[string]struct {
		look     reconcile.Lookup
		attempts int
		want     reconcile.Outcome // "" when it goes on
	}{
		"it runs":                         {look(reconcile.SandboxRunning), 1, ""},
		"it runs, at the second attempt":  {look(reconcile.SandboxRunning), 2, ""},
		"it stood still before the first": {look(reconcile.SandboxStopped), 1, ""},
		"it stands still at the second":   {look(reconcile.SandboxStopped), 2, reconcile.OutcomeDone},
		"it is paused at the second":      {look(reconcile.SandboxSuspended), 2, reconcile.OutcomeDone},
		"it failed at the second":         {look(reconcile.SandboxFailed), 2, reconcile.OutcomeDone},
		"a state that nobody knows":       {look(reconcile.SandboxUnknown), 2, ""},
		"it is gone":                      {reconcile.Lookup{Gone: true}, 1, reconcile.OutcomeWithdrawn},
		"it is being deleted":             {look(reconcile.SandboxDeleting), 2, reconcile.OutcomeWithdrawn},
		"it is a tombstone":               {look(reconcile.SandboxEnded), 2, reconcile.OutcomeWithdrawn},
		"the provider did not answer":     {reconcile.Lookup{Error: "503"}, 2, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := over(nil, &reconcile.Action{Step: reconcile.StepQuarantine, Attempts: c.attempts}, &Facts{Lookup: c.look})
			if out.Outcome != c.want {
				t.Errorf("over = %q, want %q", out.Outcome, c.want)
			}
		})
	}
}

// What nobody with the operator key asked for is withdrawn, also when its row says that it is under way.
func TestUnsignedRequestsAreWithdrawn(t *testing.T) {
	for _, step := range []reconcile.Step{reconcile.StepTerminate, reconcile.StepResume, reconcile.StepRestore} {
		for _, reissued := range []bool{false, true} {
			a := &reconcile.Action{Step: step, Rule: reconcile.RuleOperator, Unsigned: "not signed"}
			f := &Facts{Reissued: reissued, Lookup: reconcile.Lookup{Sandbox: reconcile.Sandbox{State: reconcile.SandboxDeleting}}}
			got := MayAct(view.New(&reconcile.Snapshot{}, &reconcile.Policy{}), a, f)
			if got.Outcome != reconcile.OutcomeWithdrawn || got.Why != "not signed" || got.Goes() {
				t.Errorf("%s, reissued %t: ruling = %+v, want it withdrawn", step, reissued, got)
			}
		}
	}
}
