package run

import (
	"context"
	"testing"

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
