package run

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// TestLogsOfCleanUps: of what one pass found few logs are read, however many passes are made while it is worked at.
func TestLogsOfCleanUps(t *testing.T) {
	var l cleanUpLogs
	read := map[int64]int{}
	for range 5 * logsOfCleanUps {
		for pass := range int64(3) {
			if l.may(pass) {
				read[pass]++
			}
		}
	}
	for pass := range int64(3) {
		if read[pass] != logsOfCleanUps {
			t.Errorf("%d logs of what pass %d found, want %d", read[pass], pass, logsOfCleanUps)
		}
	}
	for pass := range int64(1000) {
		l.may(pass)
	}
	if len(l.of) > 100 {
		t.Errorf("%d passes are kept", len(l.of))
	}
}

// logged is a provider that has a log of each sandbox.
type logged struct{ reconcile.Provider }

func (l logged) Capabilities() reconcile.Capabilities { return reconcile.Capabilities{Logs: l} }

func (logged) Logs(context.Context, reconcile.Sandbox, int) (string, error) {
	return "what it did", nil
}

// TestLogOfAnothers: where rows alone prove whose a sandbox is, a listing may have shown one with a task's label. The log
// of what the last look shows to be another's is not read.
func TestLogOfAnothers(t *testing.T) {
	p := &reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"lab": {Referenced: true}}}
	k := &Reconciler{Policy: *p, Providers: map[string]reconcile.Provider{"lab": logged{}}}
	r := gatherer{prober: prober{looker: looker{k: k, policy: p, view: view.Of(p)}}}
	for task, want := range map[string]bool{"t1": true, "": true, "t2": false} {
		f := &gathered{}
		f.Lookup.Sandbox = reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "s1"}, Task: task,
			State: reconcile.SandboxRunning}
		said := r.saveEvidence(t.Context(), &reconcile.Action{Rule: "errored", Task: "t1", Sandbox: "s1"}, f)
		if read := said != ""; read != want {
			t.Errorf("its label names %q: read %t, want %t", task, read, want)
		}
	}
}

// forgetful is a provider that finds a sandbox no more once its end was asked for, also where that failed.
type forgetful struct {
	reconcile.Provider
	told map[string]time.Duration
}

func (f forgetful) Capabilities() reconcile.Capabilities { return reconcile.Capabilities{Unsure: f} }

func (f forgetful) EndFailed(id string, ago time.Duration) { f.told[id] = ago }

// TestEndThatFailedElsewhere: an end that another process asked for, and that failed, is told to the provider before it is
// asked what became of the sandbox. What it accepted, what nobody asked for yet and a pause are none of these.
func TestEndThatFailedElsewhere(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	end := func(id string, asked time.Duration, change func(*reconcile.Action)) reconcile.Action {
		a := reconcile.Action{Step: reconcile.StepTerminate, Provider: "lab", Sandbox: id, Outcome: reconcile.OutcomePending}
		if asked > 0 {
			a.ActedAt = now.Add(-asked)
		}
		change(&a)
		return a
	}
	as := func(*reconcile.Action) {}
	f := forgetful{told: map[string]time.Duration{}}
	k := &Reconciler{Providers: map[string]reconcile.Provider{"lab": f, "other": logged{}}}
	k.endsThatFailed(now, []reconcile.Action{
		end("failed", time.Minute, as),
		end("failed twice", time.Hour, func(a *reconcile.Action) { a.AskedAt = now.Add(-time.Second) }),
		end("never asked", 0, as),
		end("accepted", time.Minute, func(a *reconcile.Action) { a.Outcome = reconcile.OutcomeAccepted }),
		end("paused", time.Minute, func(a *reconcile.Action) { a.Step = reconcile.StepQuarantine }),
		end("elsewhere", time.Minute, func(a *reconcile.Action) { a.Provider = "other" }),
		end("of no entry", time.Minute, func(a *reconcile.Action) { a.Provider = "gone" }),
	})
	if want := map[string]time.Duration{"failed": time.Minute, "failed twice": time.Second}; !maps.Equal(f.told, want) {
		t.Errorf("told of %v, want %v", f.told, want)
	}
}
