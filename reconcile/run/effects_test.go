package run

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// What changes something outside is called in effects.go and nowhere else, where each call asks for its
// ruling.
func TestNoEffectWithoutARuling(t *testing.T) {
	outside := []string{"Terminate", "Suspend", "Resume", "Activate", "Write", "Restore", "Retry", "Probe"}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			to, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(outside, to.Sel.Name) {
				return true
			}
			switch name {
			case "effects.go":
				found++
			case "circuit.go": // hands on what it was asked for
			default:
				t.Errorf("%s: %s has its effect without a ruling: call it by effects", fset.Position(call.Pos()), to.Sel.Name)
			}
			return true
		})
	}
	if found != len(outside) {
		t.Errorf("effects.go makes %d calls, want one for each of %v", found, outside)
	}
}

// A ruling of a minute ago allows nothing: a process may have stood still since.
func TestARulingEnds(t *testing.T) {
	a := &reconcile.Action{ID: "a-1", Rule: reconcile.RuleOperator, Author: "ana", Step: reconcile.StepRestore, Task: "t1",
		Provider: "lab", Subject: "task:t1", PlannedAt: time.Now()}
	for age, begins := range map[time.Duration]bool{0: true, rulingHolds - 30*time.Second: true, rulingHolds: false, time.Hour: false} {
		f := &decide.Facts{Now: time.Now(), Read: time.Now().Add(-age)}
		ruling := decide.MayAct(view.Of(&reconcile.Policy{}), a, f)
		if !ruling.Goes() {
			t.Fatalf("%+v", ruling)
		}
		ctx, err := effects{}.may(t.Context(), ruling, a)
		if late := reconcile.TooLate(ctx); (err == nil) != begins || (late == nil) != begins {
			t.Errorf("%s after the last look it begins: %v, and is sent: %v, want both %t", age, err, late, begins)
		}
	}
}

// Without a ruling, or with the one of another action, nothing has its effect.
func TestEffectsAskForTheirRuling(t *testing.T) {
	var e effects // of nothing: whatever is called panics
	a := &reconcile.Action{ID: "a-1", Step: reconcile.StepTerminate, Provider: "lab", Sandbox: "s1"}
	_, ends := e.end(t.Context(), decide.Ruling{}, a, reconcile.Sandbox{})
	_, _, writes := e.write(t.Context(), decide.Ruling{}, a, reconcile.Write{})
	_, restores := e.restore(t.Context(), decide.Ruling{}, a)
	_, retries := e.retry(t.Context(), decide.Ruling{}, a)
	var probes error
	if said := e.probe(t.Context(), decide.Ruling{}, reconcile.Sandbox{}, reconcile.ProbePolicy{}); said.Outcome == reconcile.Infrastructure {
		probes = errors.New(said.Detail)
	}
	for name, err := range map[string]error{"end": ends, "write": writes, "restore": restores, "retry": retries,
		"probe":    probes,
		"resume":   e.resume(t.Context(), decide.Ruling{}, a, reconcile.Sandbox{}),
		"activate": e.activate(t.Context(), decide.Ruling{}, a)} {
		if err == nil {
			t.Errorf("%s has its effect without a ruling", name)
		}
	}
}
