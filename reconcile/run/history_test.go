package run

import (
	"slices"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// An id that a person says means what has it as an id before what has it as a name, and several
// things are all told.
func TestMeant(t *testing.T) {
	box := func(provider, id, name string) reconcile.SeenSandbox {
		return reconcile.Box(&reconcile.Sandbox{Ref: reconcile.Ref{Provider: provider, ID: id}, Name: name})
	}
	subjects := []*reconcile.Subject{
		{ID: "sandbox:a/n1", Boxes: []reconcile.SeenSandbox{box("a", "n1", "victim")}},
		{ID: "sandbox:a/z2", Boxes: []reconcile.SeenSandbox{box("a", "z2", "n1")}},
		{ID: "sandbox:a/z3", Boxes: []reconcile.SeenSandbox{box("a", "z3", "same")}},
		{ID: "sandbox:b/z4", Boxes: []reconcile.SeenSandbox{box("b", "z4", "same")}},
		{ID: "sandbox:b/z3", Boxes: []reconcile.SeenSandbox{box("b", "z3", "")}},
		{ID: "task:t1", Task: &reconcile.Task{ID: "t1", Sandbox: "k1"}, Boxes: []reconcile.SeenSandbox{box("a", "z6", "t1"), box("a", "z7", "")}},
	}
	r := &Result{Judged: &decide.Judgement{}}
	for _, s := range subjects {
		r.Judged.Decisions = append(r.Judged.Decisions, decide.Decision{Subject: s})
	}
	for id, want := range map[string][]string{
		"n1":           {"sandbox:a/n1"},
		"victim":       {"sandbox:a/n1"},
		"same":         {"sandbox:a/z3", "sandbox:b/z4"},
		"a/same":       {"sandbox:a/z3"},
		"b/same":       {"sandbox:b/z4"},
		"z3":           {"sandbox:a/z3", "sandbox:b/z3"},
		"b/z3":         {"sandbox:b/z3"},
		"sandbox:b/z3": {"sandbox:b/z3"},
		"t1":           {"task:t1"},
		"task:t1":      {"task:t1"},
		"k1":           {"task:t1"},
		"z7":           {"task:t1"},
		"":             nil,
		"none":         nil,
	} {
		var got []string
		for _, d := range r.Meant(id) {
			got = append(got, d.Subject.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q means %v, want %v", id, got, want)
		}
	}
}
