package raced

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// AreTests demands that each of the names is a test of the package in the current folder and has
// a reason: whoever renames a test renames it in the list as well.
func AreTests(t *testing.T, spared map[string]string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				there[f.Name.Name] = true
			}
		}
	}
	for name, why := range spared {
		if !there[name] || why == "" {
			t.Errorf("%s is spared for the reason %q, and is a test: %t", name, why, there[name])
		}
	}
}
