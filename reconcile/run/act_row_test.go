package run

import (
	"cmp"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// written is a task table that only remembers what it was asked to write.
type written struct {
	reconcile.Tasks
	last reconcile.Write
	says reconcile.Written // "": a newer sign of life came
}

func (w *written) Write(_ context.Context, asked reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	w.last = asked
	return cmp.Or(w.says, reconcile.WriteAlive), nil, nil
}

// TestThePlatformWasAsked: what the platform was asked for is open until its row shows it, and then it was done.
func TestThePlatformWasAsked(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	r := &executor{waits: map[string]reconcile.HeldBy{}}
	r.k, r.now = &Reconciler{Tasks: &written{says: reconcile.WriteAsked}}, now
	task := &reconcile.Task{ID: "t", State: reconcile.TaskRunning}
	f := &gathered{Facts: decide.Facts{Read: time.Now(), Recheck: &decide.Recheck{Finding: &reconcile.Finding{},
		Subject: &reconcile.Subject{Task: task}}}}
	p := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{"deadline-exceeded": {Mode: reconcile.Enforce}}}
	v := view.New(&reconcile.Snapshot{Kind: reconcile.Full}, p)
	a := reconcile.Action{Rule: "deadline-exceeded", Step: reconcile.StepFail, Attempts: 1}
	out, settled := r.write(t.Context(), a, f, decide.MayAct(v, &a, &f.Facts), false)
	if !settled || out.Outcome != reconcile.OutcomePending || !out.AskedAt.Equal(now) || !out.NextAttempt.After(now) {
		t.Errorf("a call that was taken = %+v, settled %t; want it pending, asked now and tried again", out, settled)
	}
	if task.State = reconcile.TaskFailed; decide.MayAct(v, &out, &f.Facts).Outcome != reconcile.OutcomeDone {
		t.Errorf("MayAct of a row that is failed now = %+v, want done", decide.MayAct(v, &out, &f.Facts))
	}
	if ruling := decide.MayAct(v, &a, &f.Facts); ruling.Outcome == reconcile.OutcomeDone {
		t.Errorf("MayAct of one that was never asked = %+v, want it not done by us", ruling)
	}
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
		"silence":                    {"heartbeat-lost", reconcile.Write{Refutable: true, LastSeen: beat}},
		"a worker that never came":   {"assigned-stale", reconcile.Write{Refutable: true, LastSeen: beat}},
		"a sandbox that is gone":     {"sandbox-missing", reconcile.Write{Refutable: true, LastSeen: beat}},
		"idleness":                   {"inactive", reconcile.Write{Refutable: true, Active: true, LastSeen: acted}},
		"executions that nobody ran": {"executions-stuck", reconcile.Write{Refutable: true, Active: true, LastSeen: acted}},
		"a time limit, by nothing":   {"deadline-exceeded", reconcile.Write{LastSeen: beat}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tasks := &written{}
			r := &executor{}
			r.k, r.now = &Reconciler{Tasks: tasks}, now
			a := reconcile.Action{Rule: c.rule, Step: reconcile.StepFail, Attempts: 1}
			f := &gathered{Facts: decide.Facts{Read: time.Now(), Recheck: &decide.Recheck{Finding: &reconcile.Finding{}, Subject: &reconcile.Subject{
				Task: &reconcile.Task{Events: reconcile.Events{Heartbeat: beat, Activity: acted}}}}}}
			p := &reconcile.Policy{Rules: map[string]reconcile.RulePolicy{c.rule: {Mode: reconcile.Enforce}}}
			ruling := decide.MayAct(view.New(&reconcile.Snapshot{Kind: reconcile.Full}, p), &a, &f.Facts)
			out, settled := r.write(t.Context(), a, f, ruling, false)
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
	circuit
	reconcile.Probes
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
	const works = "probe daytona/w1 answered=10s worker=alive; provider daytona worker=pgrep"
	const died = works + "; task t1 assigned updated=30s; knew task t1 assigned since=30s; " +
		"probe daytona/s1 answered=5s worker=dead alive=20s"
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
		"never started, and its worker is there": {"assigned-stale", works, reconcile.ProbeResult{Outcome: reconcile.Answered,
			Worker: reconcile.WorkerAlive}, reconcile.OutcomeWithdrawn},
		"never started, and of its worker nobody knows": {"assigned-stale", works, reconcile.ProbeResult{Outcome: reconcile.Answered}, ""},
		"never started, and its worker is dead":         {"assigned-stale", works, reconcile.ProbeResult{Outcome: reconcile.Answered, Worker: reconcile.WorkerDead}, ""},
		"never started, and it hangs":                   {"assigned-stale", works, reconcile.ProbeResult{Outcome: reconcile.Hung}, ""},
		"died before it spoke, and is dead":             {"assigned-stale", died, reconcile.ProbeResult{Outcome: reconcile.Answered, Worker: reconcile.WorkerDead}, ""},
		"died before it spoke, and nobody knows":        {"assigned-stale", died, reconcile.ProbeResult{Outcome: reconcile.Answered}, reconcile.OutcomePending},
		"died before it spoke, and it hangs":            {"assigned-stale", died, reconcile.ProbeResult{Outcome: reconcile.Hung}, reconcile.OutcomePending},
		"died before it spoke, and is there again": {"assigned-stale", died, reconcile.ProbeResult{Outcome: reconcile.Answered,
			Worker: reconcile.WorkerAlive}, reconcile.OutcomeWithdrawn},
		"nothing is known": {"inactive", works, reconcile.ProbeResult{Outcome: reconcile.Infrastructure}, reconcile.OutcomePending},
	} {
		t.Run(name, func(t *testing.T) {
			world := "box daytona/s1 running task=t1; "
			if !strings.Contains(c.world, "task t1") {
				world += "task t1 running started=1h; "
			}
			w := worldtest.NewWorld(t, worldtest.Anchor, world, c.world)
			stub := probed{result: c.result}
			j := judgeWorld(w)
			v := j.View
			r := &executor{}
			r.k = &Reconciler{Policy: w.P, Providers: map[string]reconcile.Provider{"daytona": stub}}
			r.clock, r.probes, r.policy, r.view, r.now = stub, stub, &w.P, v, worldtest.LedgerNow
			r.waits = map[string]reconcile.HeldBy{}
			f := &gathered{Facts: decide.Facts{Read: time.Now(), Recheck: &decide.Recheck{View: v, Finding: &reconcile.Finding{Sandbox: "s1"},
				Subject: subjectOf(j, "t1")}}}
			a := &reconcile.Action{Rule: c.rule, Step: reconcile.StepFail, Attempts: 1}
			if f.Recheck.Subject == nil {
				t.Fatal("the world has no such task")
			}
			on := r.recheckProbes(t.Context(), a, f)
			if ruling := r.rule(a, f); on != (c.want == "") || ruling.Outcome != c.want {
				t.Errorf("the step is %q (%s), more is asked: %v; want %q", ruling.Outcome, ruling.Why, on, c.want)
			}
		})
	}
}

func subjectOf(j *decide.Judgement, task string) *reconcile.Subject {
	for i := range j.Decisions {
		if j.Decisions[i].Subject.ID == reconcile.TaskSubject(task) {
			return j.Decisions[i].Subject
		}
	}
	return nil
}
