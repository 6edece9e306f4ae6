package reconcile

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A requeue is judged once more right before it is written: what explains the failure would
// make the next attempt fail as well.
func TestNoRequeueAfterAll(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	turns := func(n int, age time.Duration) TaskSeen {
		return TaskSeen{Turns: []time.Time{now.Add(-age), now.Add(-age), now.Add(-age)}[:n]}
	}
	cases := map[string]struct {
		step      Step
		attempts  int
		unmapped  bool
		seen      TaskSeen
		incidents []Incident
		want      string
	}{
		"nothing forbids it":                   {step: StepRequeue, attempts: 2},
		"the last attempt is over":             {step: StepRequeue, attempts: 3, want: "no attempts are left"},
		"attempts are not mapped":              {step: StepRequeue, unmapped: true, want: "no attempts are left"},
		"it ended twice lately":                {step: StepRequeue, seen: turns(2, time.Hour)},
		"it ended three times lately":          {step: StepRequeue, seen: turns(3, time.Hour), want: "it loops: 3"},
		"it ended three times, long ago":       {step: StepRequeue, seen: turns(3, time.Hour+time.Second)},
		"an incident of it":                    {step: StepRequeue, incidents: []Incident{{ID: "i-1", Signature: "s"}}, want: "incident i-1"},
		"an incident of something else":        {step: StepRequeue, incidents: []Incident{{ID: "i-1", Signature: "x"}}},
		"an incident that is over":             {step: StepRequeue, incidents: []Incident{{ID: "i-1", Signature: "s", ClosedAt: now}}},
		"a failure, with no attempt left":      {step: StepFail, attempts: 3},
		"a failure, with an incident of it":    {step: StepFail, incidents: []Incident{{ID: "i-1", Signature: "s"}}},
		"the clock ran backwards since a turn": {step: StepRequeue, seen: turns(3, -time.Minute), want: "it loops"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := &Policy{Rules: map[string]RulePolicy{"looping": {Mode: Enforce, Count: 3, Window: time.Hour}}}
			v := newView(&Snapshot{Kind: Full, Memory: Memory{Now: now}}, p)
			s := &Subject{Task: &Task{Retries: !c.unmapped, Attempts: c.attempts, MaxAttempts: 3}, Seen: c.seen}
			o := &second{view: v, subject: s, controls: Controls{Incidents: c.incidents}}
			got := (&run{}).noRequeueNow(&Action{Step: c.step, Signature: "s"}, o)
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("noRequeueNow = %q, want %q", got, c.want)
			}
		})
	}
}

// A quarantine that a crash cut short is known by the state of its sandbox, but a sandbox that
// stood still before the first attempt is judged like any other.
func TestStoppedBefore(t *testing.T) {
	look := func(state SandboxState) Look { return Look{Sandbox: Sandbox{State: state}} }
	cases := map[string]struct {
		look     Look
		attempts int
		want     Outcome // "" when it goes on
	}{
		"it runs":                         {look(SandboxRunning), 1, ""},
		"it runs, at the second attempt":  {look(SandboxRunning), 2, ""},
		"it stood still before the first": {look(SandboxStopped), 1, ""},
		"it stands still at the second":   {look(SandboxStopped), 2, OutcomeDone},
		"it is paused at the second":      {look(SandboxSuspended), 2, OutcomeDone},
		"it failed at the second":         {look(SandboxFailed), 2, OutcomeDone},
		"a state that nobody knows":       {look(SandboxUnknown), 2, ""},
		"it is gone":                      {Look{Gone: true}, 1, OutcomeWithdrawn},
		"it is being deleted":             {look(SandboxDeleting), 2, OutcomeWithdrawn},
		"it is a tombstone":               {look(SandboxEnded), 2, OutcomeWithdrawn},
		"the provider did not answer":     {Look{Error: "503"}, 2, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, settled := (&run{}).stoppedBefore(Action{Step: StepQuarantine, Attempts: c.attempts}, c.look)
			if settled != (c.want != "") || settled && out.Outcome != c.want {
				t.Errorf("stoppedBefore = %q, settled %v, want %q", out.Outcome, settled, c.want)
			}
		})
	}
}

// written is a task table that only remembers what it was asked to write.
type written struct {
	Tasks
	last Write
}

func (w *written) Write(_ context.Context, asked Write) (Written, *RowBefore, error) {
	w.last = asked
	return WriteAlive, nil, nil
}

// What a newer sign of life refutes is refuted by it in the guarded write as well: a verdict on
// silence by any sign, one on idleness by activity alone, for its worker sends heartbeats.
func TestWhatRefutesAWrite(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	beat, acted := now.Add(-5*time.Second), now.Add(-time.Hour)
	cases := map[string]struct {
		rule string
		want Write
	}{
		"silence":                    {"heartbeat-lost", Write{Refutable: true, LifeSign: beat}},
		"a worker that never came":   {"assigned-stale", Write{Refutable: true, LifeSign: beat}},
		"a sandbox that is gone":     {"sandbox-missing", Write{Refutable: true, LifeSign: beat}},
		"idleness":                   {"inactive", Write{Refutable: true, Active: true, LifeSign: acted}},
		"executions that nobody ran": {"executions-stuck", Write{Refutable: true, Active: true, LifeSign: acted}},
		"a time limit, by nothing":   {"deadline-exceeded", Write{LifeSign: beat}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tasks := &written{}
			r := &run{k: &Keeper{Tasks: tasks}, now: now}
			o := &second{finding: &Finding{}, subject: &Subject{Task: &Task{
				Events: Events{Heartbeat: beat, Activity: acted}}}}
			out, settled := r.write(t.Context(), Action{Rule: c.rule, Step: StepFail}, o, false)
			if !settled || out.Outcome != OutcomeWithdrawn {
				t.Errorf("a write that met a newer sign ends %q, want it withdrawn", out.Outcome)
			}
			got := tasks.last
			got.Step, got.Task, got.Reason = "", Task{}, ""
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("the write asked for %+v, want %+v", got, c.want)
			}
		})
	}
}

// probed is a provider whose probe has this result, and a ledger that keeps nothing.
type probed struct {
	shut
	Ledger
	result ProbeResult
}

func (p probed) Probe(context.Context, Sandbox, ProbePolicy) ProbeResult { return p.result }

func (p probed) SaveProbes(context.Context, Lease, []ProbeResult) error { return nil }

func (p probed) Now(context.Context) (time.Time, error) { return ledgerNow, nil }

// The last probe before a silent worker's row is written decides once more: its sandbox that answers saves
// it, unless it is known by a command that can be believed that the worker in it is dead.
func TestFinalProbeOfASilentWorker(t *testing.T) {
	const works = "probe daytona/w1 answered=10s worker=alive"
	for name, c := range map[string]struct {
		rule, world string
		result      ProbeResult
		want        Outcome // "" when it goes on
	}{
		"it fails":                        {"heartbeat-lost", works, ProbeResult{Outcome: Hung}, ""},
		"it answers":                      {"heartbeat-lost", works, ProbeResult{Outcome: Answered}, OutcomeWithdrawn},
		"it answers, the worker is there": {"heartbeat-lost", works, ProbeResult{Outcome: Answered, Worker: WorkerAlive}, OutcomeWithdrawn},
		"it answers, the worker is dead":  {"heartbeat-lost", works, ProbeResult{Outcome: Answered, Worker: WorkerDead}, ""},
		"inactive, and the worker dead":   {"inactive", works, ProbeResult{Outcome: Answered, Worker: WorkerDead}, ""},
		"broken, and the worker dead":     {"idle-broken", works, ProbeResult{Outcome: Answered, Worker: WorkerDead}, OutcomeWithdrawn},
		"dead, as it says of everybody": {"heartbeat-lost", "probe daytona/w1 answered=10s worker=dead", ProbeResult{Outcome: Answered, Worker: WorkerDead},
			OutcomeWithdrawn},
		"nothing is known": {"inactive", works, ProbeResult{Outcome: Infrastructure}, OutcomePending},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, anchor, "box daytona/s1 running task=t1; task t1 running started=1h", c.world)
			stub := probed{result: c.result}
			v := w.judge().view
			r := &run{k: &Keeper{Policy: w.p, Providers: map[string]Provider{"daytona": stub}, Ledger: stub}, policy: &w.p, view: v, now: ledgerNow,
				waits: map[string]string{}}
			o := &second{view: v, subject: &Subject{Task: v.live["t1"], Boxes: []Box{v.box(&w.s.Sandboxes[0])}}, finding: &Finding{Sandbox: "s1"}}
			out, stop := r.probesAgain(t.Context(), Action{Rule: c.rule, Step: StepFail}, o)
			if stop != (c.want != "") || stop && out.Outcome != c.want {
				t.Errorf("the step is %q (%s), stopped %v; want %q", out.Outcome, out.Detail, stop, c.want)
			}
		})
	}
}
