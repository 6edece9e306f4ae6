package sandkeeper

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Reasons, holds, subjects, sources, details and causes are texts for people. What code wants to know
// of them is a type, or is answered beside what made the text: in one of these files, and nowhere else.
var readsFacts = map[string]string{
	"reconcile/sources.go":             "says and reads the names of sources",
	"reconcile/source_words.go":        "knows the reasons of sources again that earlier versions kept as sentences",
	"reconcile/details.go":             "makes the details of actions, and knows them again",
	"reconcile/cause.go":               "asks which template a cause blames, and says it in the past",
	"reconcile/mark.go":                "makes the marks on rows, and knows them again",
	"cmd/sandkeeper-demo/waits.go":     "the demo goes on once the incident's cause tells its audience the snapshot",
	"cmd/sandkeeper-demo/words.go":     "prints reasons that differ in numbers only as one",
	"reconcile/simtest/peers/waits.go": "counts reasons that differ in numbers only as one, by the account's subject",
}

// factNames are what variables and fields with such a text are called.
var factNames = []string{"reason", "reasons", "held", "heldby", "hold", "holds", "subject", "source", "sources", "detail",
	"cause", "scope", "target", "fact", "why", "kept", "keptby"}

// cutters are the functions that look for something in a text.
var cutters = []string{"HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix", "TrimPrefix", "TrimSuffix", "Contains", "ContainsAny",
	"ContainsRune", "Index", "IndexByte", "IndexAny", "LastIndex", "LastIndexByte", "Split", "SplitN", "SplitSeq", "Fields",
	"MatchString", "FindString", "FindStringSubmatch", "ReplaceAllString"}

// typed are the words before a colon in the texts of subjects, sources, counts and holds.
var typed = regexp.MustCompile(`^"(task|sandbox|template|incident|source|capacity|label|breaker|rule|provider|listing|probes|` +
	`clock|credential|tasks|sandboxes|owned|foreign|hold|pause|budget|veto|rollout):`)

// TestFactsAreTyped: no code depends on the wording of a text for people.
func TestFactsAreTyped(t *testing.T) {
	used := map[string]bool{}
	walkProduct(t, func(file string, tree *ast.File, at *token.FileSet) {
		for _, found := range factsRead(tree) {
			if used[file] = true; readsFacts[file] == "" {
				t.Errorf("%s reads a text for people; give it a type, or a question beside what makes it", at.Position(found))
			}
		}
	})
	for file := range readsFacts {
		if !used[file] {
			t.Errorf("%s reads no text for people any more: take it from the list", file)
		}
	}
}

// walkProduct parses what is shipped and what tests it by playing. Providers read the words of others.
func walkProduct(t *testing.T, do func(file string, tree *ast.File, at *token.FileSet)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"providers", "tools", "testdata", "bin"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() && file != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		at := token.NewFileSet()
		tree, err := parser.ParseFile(at, file, nil, parser.SkipObjectResolution)
		if err == nil {
			do(filepath.ToSlash(file), tree, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// factsRead are the places that look for something in a text for people.
func factsRead(tree *ast.File) []token.Pos {
	var found []token.Pos
	ast.Inspect(tree, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall || len(call.Args) == 0 {
			return true
		}
		if f, is := call.Fun.(*ast.SelectorExpr); is && slices.Contains(cutters, f.Sel.Name) &&
			(isFact(call.Args[0]) || isTyped(call.Args[len(call.Args)-1])) {
			found = append(found, call.Pos())
		}
		return true
	})
	return found
}

// isFact reports whether an expression is such a text by its name, whole, joined or with something added.
func isFact(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return slices.Contains(factNames, strings.ToLower(x.Name))
	case *ast.SelectorExpr:
		return slices.Contains(factNames, strings.ToLower(x.Sel.Name))
	case *ast.ParenExpr:
		return isFact(x.X)
	case *ast.StarExpr:
		return isFact(x.X)
	case *ast.IndexExpr:
		return isFact(x.X)
	case *ast.BinaryExpr:
		return isFact(x.X) || isFact(x.Y)
	case *ast.CallExpr:
		f, is := x.Fun.(*ast.SelectorExpr)
		switch {
		case !is:
			return len(x.Args) == 1 && isFact(x.Args[0]) // string(reason)
		case f.Sel.Name == "String" || f.Sel.Name == "Texts":
			return isFact(f.X)
		}
		return slices.Contains([]string{"Join", "ToLower", "TrimSpace"}, f.Sel.Name) && isFact(x.Args[0])
	}
	return false
}

// isTyped reports whether what is looked for is the type in front of a subject, a source, a count or a hold.
func isTyped(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return typed.MatchString(x.Value)
	case *ast.BinaryExpr:
		return isTyped(x.X)
	}
	return false
}

func TestFactsRead(t *testing.T) {
	for code, want := range map[string]int{
		`strings.HasPrefix(f.Subject, "task:")`:                     1,
		`strings.Contains(strings.Join(f.HeldBy, "; "), "hold: ")`:  1,
		`strings.Contains(s.HeldBy.String(), "no other")`:           1,
		`strings.Cut(f.HeldBy[0], ":")`:                             1,
		`strings.CutPrefix("x"+a.Detail, "by ")`:                    1,
		`strings.SplitSeq(string(cause), ";")`:                      1,
		`words.MatchString(s.Reason)`:                               1,
		`strings.CutPrefix(s.Name, "listing:")`:                     1,
		`strings.HasPrefix(key, "sandboxes:"+provider)`:             1,
		`strings.TrimSuffix(": "+text.Plain(s.Reason, most), ": ")`: 0,
		`strings.HasPrefix(name, reason)`:                           0,
		`slices.Contains(names, "task")`:                            0,
	} {
		tree, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar x = "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(factsRead(tree)); got != want {
			t.Errorf("%s reads a text for people %d times, want %d", code, got, want)
		}
	}
}
