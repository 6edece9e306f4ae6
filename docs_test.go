package sandkeeper

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// texts are the files for people at the top of the tree.
var texts = []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}

// TestRulesInIndex keeps the table of rules honest: every rule has a row.
func TestRulesInIndex(t *testing.T) {
	var got []string
	for _, row := range rows(t, filepath.Join("docs", "rules", "README.md"), "rule") {
		name, _, _ := strings.Cut(strings.TrimPrefix(row[0], "[`"), "`]")
		got = append(got, name)
	}
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(slices.Values(reconcile.RuleNames)), got); diff != "" {
		t.Errorf("rules in docs/rules/README.md (-want +got):\n%s", diff)
	}
}

// TestShapesInDocs: each class of platforms has its row, with every rule that it changes but for its hours.
func TestShapesInDocs(t *testing.T) {
	said := map[string]string{}
	for _, row := range rows(t, filepath.Join("docs", "platforms.md"), "shape") {
		said[strings.Trim(row[0], "`")] = strings.Join(row, " ")
	}
	for _, s := range reconcile.Shapes {
		words := slices.Concat(s.Report, s.Stop, s.Off)
		if s.Keep {
			words = append(words, "sandboxes: keep")
		}
		if s.Many {
			words = append(words, "per_task: many")
		}
		if _, known := said[s.Name]; !known {
			t.Errorf("docs/platforms.md has no row of %s", s.Name)
		}
		for _, word := range words {
			if !strings.Contains(said[s.Name], "`"+word+"`") {
				t.Errorf("the row of %s does not say `%s`", s.Name, word)
			}
		}
	}
}

// TestDependenciesHaveReasons: what the code imports has a line on why, and there is no
// line for what is gone.
func TestDependenciesHaveReasons(t *testing.T) {
	want := imported(t)
	var got []string
	for _, row := range rows(t, "CONTRIBUTING.md", "module") {
		got = append(got, row[0])
		if len(row) < 2 || row[1] == "" {
			t.Errorf("%s in CONTRIBUTING.md has no reason", row[0])
		}
	}
	for _, m := range want {
		if !slices.Contains(got, m) {
			t.Errorf("%s is imported, but CONTRIBUTING.md has no line on why", m)
		}
	}
	required := requirements(t)
	for _, m := range got {
		if !slices.Contains(required, m) {
			t.Errorf("%s has a line in CONTRIBUTING.md, but go.mod does not require it", m)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

// TestWaysExist: the files that the texts point at are there. TestSite of docs/site asks for anchors, too.
func TestWaysExist(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join("docs", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("%d files in docs, error %v", len(docs), err)
	}
	for _, name := range slices.Concat(texts, docs) {
		text := read(t, name)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s points at %s: %v", name, m[1], err)
			}
		}
	}
}

// TestReadmeIsShort: what does not fit has a place in docs.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > 150 {
		t.Errorf("README.md has %d lines, want at most 150", n)
	}
}

// rows are the cells of the table in the file whose first heading is the one given, its
// first cells without backticks.
func rows(t *testing.T, file, heading string) [][]string {
	t.Helper()
	var found [][]string
	inside := false
	for line := range strings.Lines(read(t, file)) {
		row := cells(line)
		switch {
		case len(row) == 0:
			inside = false
		case row[0] == heading:
			inside = true
		case inside && !strings.HasPrefix(row[0], "--"):
			row[0] = strings.Trim(row[0], "`")
			found = append(found, row)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no table that begins with %q", file, heading)
	}
	return found
}

func cells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	row := strings.Split(strings.Trim(line, "|"), "|")
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	return row
}

// imported are the modules that this module's packages and their tests import.
func imported(t *testing.T) []string {
	t.Helper()
	required := requirements(t)
	found := map[string]bool{}
	for _, p := range list(t) {
		for _, name := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if m := owner(required, name); m != "" {
				found[m] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// owner is the module that a package belongs to, "" for one of Go's or of ours. Of modules
// within each other the longest path owns it.
func owner(modules []string, name string) string {
	best := ""
	for _, m := range modules {
		if (name == m || strings.HasPrefix(name, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

// requirements are the modules of go.mod.
func requirements(t *testing.T) []string {
	t.Helper()
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(run(t, "go", "mod", "edit", "-json"), &mod); err != nil {
		t.Fatalf("read what go mod edit said: %v", err)
	}
	var found []string
	for _, r := range mod.Require {
		found = append(found, r.Path)
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// watch opens every Go file of the tree. What go list reads is unknown to the go command,
// which would otherwise show a passed test again although an import changed since.
func watch(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(entry.Name(), ".") && path != "."; hidden && entry.IsDir() {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) == ".go" || strings.HasPrefix(path, "go.") {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
