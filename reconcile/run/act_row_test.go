package run

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// A requeue is judged once more right before it is written: what explains the failure would
// make the next attempt fail as well.
func TestNoRequeueAfterAll(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	turns := func(n int, age time.Duration) reconcile.TaskSeen {
		return reconcile.TaskSeen{Turns: []time.Time{now.Add(-age), now.Add(-age), now.Add(-age)}[:n]}
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
		"it ended twice lately":                {step: reconcile.StepRequeue, seen: turns(2, time.Hour)},
		"it ended three times lately":          {step: reconcile.StepRequeue, seen: turns(3, time.Hour), want: "it loops: 3"},
		"it ended three times, long ago":       {step: reconcile.StepRequeue, seen: turns(3, time.Hour+time.Second)},
		"an incident of it":                    {step: reconcile.StepRequeue, incidents: []reconcile.Incident{{ID: "i-1", Signature: "s"}}, want: "incident i-1"},
		"an incident of something else":        {step: reconcile.StepRequeue, incidents: []reconcile.Incident{{ID: "i-1", Signature: "x"}}},
		"an incident that is over":             {step: reconcile.StepRequeue, incidents: []reconcile.Incident{{ID: "i-1", Signature: "s", ClosedAt: now}}},
		"a failure, with no attempt left":      {step: reconcile.StepFail, attempts: 3},
		"a failure, with an incident of it":    {step: reconcile.StepFail, incidents: []reconcile.Incident{{ID: "i-1", Signature: "s"}}},
		"the clock ran backwards since a turn": {step: reconcile.StepRequeue, seen: turns(3, -time.Minute), want: "it loops"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{"looping": {Mode: reconcile.Enforce, Count: 3, Window: time.Hour}}}
			v := decide.NewView(&reconcile.Snapshot{Kind: reconcile.Full, Memory: reconcile.Memory{Now: now}}, p)
			s := &reconcile.Subject{Task: &reconcile.Task{Retries: !c.unmapped, Attempts: c.attempts, MaxAttempts: 3}, Seen: c.seen}
			o := &second{view: v, subject: s, controls: reconcile.Controls{Incidents: c.incidents}}
			got := (&run{}).noRequeueNow(&reconcile.Action{Step: c.step, Signature: "s"}, o)
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("noRequeueNow = %q, want %q", got, c.want)
			}
		})
	}
}

// A quarantine that a crash cut short is known by the state of its sandbox, but a sandbox that
// stood still before the first attempt is judged like any other.
func TestStoppedBefore(t *testing.T) {
	look := func(state reconcile.SandboxState) reconcile.Look {
		return reconcile.Look{Sandbox: reconcile.Sandbox{State: state}}
	}
	cases := map[string]struct {
		look     reconcile.Look
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
		"it is gone":                      {reconcile.Look{Gone: true}, 1, reconcile.OutcomeWithdrawn},
		"it is being deleted":             {look(reconcile.SandboxDeleting), 2, reconcile.OutcomeWithdrawn},
		"it is a tombstone":               {look(reconcile.SandboxEnded), 2, reconcile.OutcomeWithdrawn},
		"the provider did not answer":     {reconcile.Look{Error: "503"}, 2, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, settled := (&run{}).stoppedBefore(reconcile.Action{Step: reconcile.StepQuarantine, Attempts: c.attempts}, c.look)
			if settled != (c.want != "") || settled && out.Outcome != c.want {
				t.Errorf("stoppedBefore = %q, settled %v, want %q", out.Outcome, settled, c.want)
			}
		})
	}
}

// written is a task table that only remembers what it was asked to write.
type written struct {
	reconcile.Tasks
	last reconcile.Write
}

func (w *written) Write(_ context.Context, asked reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	w.last = asked
	return reconcile.WriteAlive, nil, nil
}

// What a newer sign of life refutes is refuted by it in the guarded write as well: a verdict on
// silence by any sign, one on idleness by activity alone, for its worker sends heartbeats.
func TestWhatRefutesAWrite(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	beat, acted := now.Add(-5*time.Second), now.Add(-time.Hour)
	cases := map[string]struct {
		rule string
		want reconcile.Write
	}{
		"silence":                    {"heartbeat-lost", reconcile.Write{Refutable: true, LifeSign: beat}},
		"a worker that never came":   {"assigned-stale", reconcile.Write{Refutable: true, LifeSign: beat}},
		"a sandbox that is gone":     {"sandbox-missing", reconcile.Write{Refutable: true, LifeSign: beat}},
		"idleness":                   {"inactive", reconcile.Write{Refutable: true, Active: true, LifeSign: acted}},
		"executions that nobody ran": {"executions-stuck", reconcile.Write{Refutable: true, Active: true, LifeSign: acted}},
		"a time limit, by nothing":   {"deadline-exceeded", reconcile.Write{LifeSign: beat}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tasks := &written{}
			r := &run{k: &Keeper{Tasks: tasks}, now: now}
			o := &second{finding: &reconcile.Finding{}, subject: &reconcile.Subject{Task: &reconcile.Task{
				Events: reconcile.Events{Heartbeat: beat, Activity: acted}}}}
			out, settled := r.write(t.Context(), reconcile.Action{Rule: c.rule, Step: reconcile.StepFail}, o, false)
			if !settled || out.Outcome != reconcile.OutcomeWithdrawn {
				t.Errorf("a write that met a newer sign ends %q, want it withdrawn", out.Outcome)
			}
			got := tasks.last
			got.Step, got.Task, got.Reason = "", reconcile.Task{}, ""
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("the write asked for %+v, want %+v", got, c.want)
			}
		})
	}
}

// probed is a provider whose probe has this result, and a ledger that keeps nothing.
type probed struct {
	shut
	reconcile.Ledger
	result reconcile.ProbeResult
}

func (p probed) Probe(context.Context, reconcile.Sandbox, reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.result
}

func (p probed) SaveProbes(context.Context, reconcile.Lease, []reconcile.ProbeResult) error {
	return nil
}

func (p probed) Now(context.Context) (time.Time, error) { return worldtest.LedgerNow, nil }

// The last probe before a silent worker's row is written decides once more: its sandbox that answers saves
// it, unless it is known by a command that can be believed that the worker in it is dead.
func TestFinalProbeOfASilentWorker(t *testing.T) {
	const works = "probe daytona/w1 answered=10s worker=alive"
	for name, c := range map[string]struct {
		rule, world string
		result      reconcile.ProbeResult
		want        reconcile.Outcome // "" when it goes on
	}{
		"it fails":                        {"heartbeat-lost", works, reconcile.ProbeResult{Outcome: reconcile.Hung}, ""},
		"it answers":                      {"heartbeat-lost", works, reconcile.ProbeResult{Outcome: reconcile.Answered}, reconcile.OutcomeWithdrawn},
		"it answers, the worker is there": {"heartbeat-lost", works, reconcile.ProbeResult{Outcome: reconcile.Answered, Worker: reconcile.WorkerAlive}, reconcile.OutcomeWithdrawn},
		"it answers, the worker is dead":  {"heartbeat-lost", works, reconcile.ProbeResult{Outcome: reconcile.Answered, Worker: reconcile.WorkerDead}, ""},
		"inactive, and the worker dead":   {"inactive", works, reconcile.ProbeResult{Outcome: reconcile.Answered, Worker: reconcile.WorkerDead}, ""},
		"broken, and the worker dead":     {"idle-broken", works, reconcile.ProbeResult{Outcome: reconcile.Answered, Worker: reconcile.WorkerDead}, reconcile.OutcomeWithdrawn},
		"dead, as it says of everybody": {"heartbeat-lost", "probe daytona/w1 answered=10s worker=dead", reconcile.ProbeResult{Outcome: reconcile.Answered, Worker: reconcile.WorkerDead},
			reconcile.OutcomeWithdrawn},
		"nothing is known": {"inactive", works, reconcile.ProbeResult{Outcome: reconcile.Infrastructure}, reconcile.OutcomePending},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, "box daytona/s1 running task=t1; task t1 running started=1h", c.world)
			stub := probed{result: c.result}
			v := judgeWorld(w).View
			r := &run{k: &Keeper{Policy: w.P, Providers: map[string]reconcile.Provider{"daytona": stub}, Ledger: stub}, policy: &w.P, view: v, now: worldtest.LedgerNow,
				waits: map[string]reconcile.HeldBy{}}
			o := &second{view: v, subject: &reconcile.Subject{Task: v.Live["t1"], Boxes: []reconcile.Box{v.Box(&w.S.Sandboxes[0])}}, finding: &reconcile.Finding{Sandbox: "s1"}}
			out, stop := r.probesAgain(t.Context(), reconcile.Action{Rule: c.rule, Step: reconcile.StepFail}, o)
			if stop != (c.want != "") || stop && out.Outcome != c.want {
				t.Errorf("the step is %q (%s), stopped %v; want %q", out.Outcome, out.Detail, stop, c.want)
			}
		})
	}
}
