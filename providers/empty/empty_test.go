package empty_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/empty"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestIsAnEmptyWorld: it answers as a simulated world does into which nobody put anything.
func TestIsAnEmptyWorld(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Unix(1, 0) }
	e := entry.Entry{Name: "a", Kind: "simulated", Link: entry.Link{TaskLabel: "task_id"}}
	ours, err := empty.New(e, entry.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answers(t, simulated.New(simulated.Options{Now: now}).Provider(e)), answers(t, ours)); diff != "" {
		t.Errorf("the empty world answers otherwise (-simulated +empty):\n%s", diff)
	}
}

type all interface {
	reconcile.Provider
	reconcile.Named
	reconcile.Templates
	reconcile.Quotas
	reconcile.Checker
	reconcile.Suspender
}

// answers are what a provider says of a sandbox and a template that are not there.
func answers(t *testing.T, p all) map[string]any {
	t.Helper()
	out := map[string]any{"check": p.Check(t.Context())}
	say := func(what string, v any, err error) {
		said := ""
		if err != nil {
			said = err.Error()
		}
		out[what] = []any{v, said}
	}
	pages := 0
	listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		pages += 1 + len(page)
		return nil
	})
	say("list", []any{listing, pages}, err)
	box := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "a", ID: "b"}, State: reconcile.SandboxRunning}
	got, err := p.Get(t.Context(), "b")
	say("get", got, err)
	found, err := p.Find(t.Context(), "c")
	say("find", len(found), err)
	found, err = p.Named(t.Context(), "c")
	say("named", len(found), err)
	ended, err := p.Terminate(t.Context(), box)
	say("terminate", ended, err)
	ended, err = p.Suspend(t.Context(), box)
	say("suspend", ended, err)
	template, err := p.Template(t.Context(), "d")
	say("template", template, err)
	quotas, err := p.Quotas(t.Context())
	say("quotas", quotas, err)
	say("probe", p.Probe(t.Context(), box, reconcile.ProbePolicy{Exec: "true", Timeout: time.Second}).Outcome, nil)
	return out
}
