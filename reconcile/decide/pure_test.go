package decide

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// clocks are the functions of package time that read the clock or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// TestDecidingIsPure: nothing here reads the clock or starts a goroutine. What it may import,
// imports_test.go at the root says.
func TestDecidingIsPure(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			checkPure(t, file)
		}
	}
}

func checkPure(t *testing.T, file string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range f.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); path == "time" && spec.Name != nil {
			t.Errorf("%s gives package time another name, which hides clocks from this test", set.Position(spec.Pos()))
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
				t.Errorf("%s reads the clock: time.%s", set.Position(n.Pos()), n.Sel.Name)
			}
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine", set.Position(n.Pos()))
		}
		return true
	})
}

// TestJudgingIsDeterministic: the same snapshot gives the same bytes, whatever the order in
// which its maps were filled, and judging changes nothing of it.
func TestJudgingIsDeterministic(t *testing.T) {
	for _, seed := range seeds(t, 300) {
		w := worldOf(t, seed)
		first, again := worldtest.NewWorld(t, w.text), worldtest.NewWorld(t, w.text)
		got, want := w.shuffled(t), bytesOf(t, first)
		if got != want {
			t.Fatalf("seed %d: another order gives other bytes\nworld:\n%s\ngot:  %s\nwant: %s", seed, w.text, got, want)
		}
		if !equalSnapshots(&first.S, &again.S) {
			t.Fatalf("seed %d: judging changed the snapshot\nworld:\n%s", seed, w.text)
		}
		if twice := bytesOf(t, first); twice != want {
			t.Fatalf("seed %d: judged again it gives other bytes\nworld:\n%s\ngot:  %s\nwant: %s", seed, w.text, twice, want)
		}
	}
}

// TestJudgingLeavesTheOrder: who made the snapshot finds its sandboxes as they were.
func TestJudgingLeavesTheOrder(t *testing.T) {
	box := func(id string) reconcile.Sandbox {
		return reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: id}}
	}
	s := &reconcile.Snapshot{Sandboxes: []reconcile.Sandbox{box("b"), box("a")}}
	v := view.New(s, &reconcile.Policy{})
	if s.Sandboxes[0].ID != "b" || v.S.Sandboxes[0].ID != "a" {
		t.Errorf("the view begins with %s, the snapshot with %s; want a and b", v.S.Sandboxes[0].ID, s.Sandboxes[0].ID)
	}
}
