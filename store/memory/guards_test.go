package memory_test

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

// A record that comes late cannot plan what follows a step that was given up meanwhile.
func TestLaterStepsNeedTheirFirst(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	g := memory.New(func() time.Time { return now })
	lease, err := g.TakeLease(t.Context(), "r1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	record := func(a reconcile.Action, withdrawn ...string) {
		t.Helper()
		pass, err := g.BeginPass(t.Context(), lease, reconcile.Full, now)
		if err != nil {
			t.Fatal(err)
		}
		a.Rule, a.Subject, a.Provider, a.Step = "orphan", "task:t1", "lab", reconcile.StepTerminate
		err = g.Record(t.Context(), lease, reconcile.Record{Pass: pass, Kind: reconcile.Full, Complete: true,
			Actions: []reconcile.Action{a}, Withdrawn: withdrawn})
		if err != nil {
			t.Fatal(err)
		}
	}
	first := reconcile.Action{ID: "a-1", Remedy: "a-1", Sandbox: "sb-1"}
	record(first)
	record(reconcile.Action{ID: "a-2", Remedy: "a-1", Seq: 1, Sandbox: "sb-2"})
	record(reconcile.Action{ID: "a-3", Remedy: "a-1", Seq: 2, Sandbox: "sb-3"}, "a-1")
	open, err := g.OpenActions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(open) != 0 {
		t.Errorf("the first step was withdrawn, and open are %+v", open)
	}
}
