package reconcile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// deciding are the files that judge and plan: pure functions of data.
var deciding = []string{
	"rule*.go", "trust*.go", "judge.go", "plan*.go", "control*.go", "remedy.go", "preview.go", "fleet.go", "subject.go", "heirs.go", "view.go",
	"whereabouts.go", "words.go", "snapshot.go", "timeline.go", "turns.go", "answers.go", "policy.go", "finding.go", "memory.go", "task.go",
	"sandbox.go", "evidence.go", "capacity.go", "vitals.go",
	"signature.go", "verdict*.go", "incident*.go", "cause.go", "regret.go", "draft.go", "resting.go",
	"targets.go", "asleep.go", "life.go",
}

// impure are the packages that read clocks, chance or the world outside, with all below
// them.
var impure = []string{
	"context", "os", "net", "database", "log", "io", "sync", "syscall", "runtime", "math/rand", "crypto/rand", "bufio",
	"embed", "testing", "golang.org/x/sync",
}

// clocks are the functions of package time that read the clock or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func TestDecidingIsPure(t *testing.T) {
	for _, pattern := range deciding {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
		if len(files) == 0 {
			t.Errorf("no file is %s: it was renamed, name it here", pattern)
		}
		for _, file := range files {
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
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has seen that it is quoted
		for _, bad := range impure {
			if path == bad || strings.HasPrefix(path, bad+"/") {
				t.Errorf("%s imports %s", set.Position(spec.Pos()), path)
			}
		}
		if path == "time" && spec.Name != nil {
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
		first, again := newWorld(t, w.text), newWorld(t, w.text)
		got, want := w.shuffled(t), bytesOf(t, first)
		if got != want {
			t.Fatalf("seed %d: another order gives other bytes\nworld:\n%s\ngot:  %s\nwant: %s", seed, w.text, got, want)
		}
		if !equalSnapshots(&first.s, &again.s) {
			t.Fatalf("seed %d: judging changed the snapshot\nworld:\n%s", seed, w.text)
		}
		if twice := bytesOf(t, first); twice != want {
			t.Fatalf("seed %d: judged again it gives other bytes\nworld:\n%s\ngot:  %s\nwant: %s", seed, w.text, twice, want)
		}
	}
}
