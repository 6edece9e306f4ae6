package sandkeeper

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// keepers are the lines of a property in docs/design.md that name what keeps it, each with
// what a name must be found as.
var keepers = map[string]string{
	"Guards":     "| `%s` |",
	"Checked by": ") %s(",
	"Tests":      "func %s(",
	"Alerts":     "alert: %s\n",
}

var (
	keeper = regexp.MustCompile(`(?m)^\* (Guards|Checked by|Tests|Alerts): ((?:.+\n)(?:  .+\n)*)`)
	quoted = regexp.MustCompile("`([^`]+)`")
)

// TestDesignNamesWhatIsThere: each guard, check, test and alert that docs/design.md names for
// a property is there, and no property of the simulation is left out.
func TestDesignNamesWhatIsThere(t *testing.T) {
	design := read(t, filepath.Join("docs", "design.md"))
	in := map[string]string{
		"Guards":     read(t, filepath.Join("docs", "guards.md")),
		"Checked by": sources(t, filepath.Join("reconcile", "simtest"), ".go"),
		"Tests":      sources(t, ".", "_test.go"),
		"Alerts":     read(t, filepath.Join("alerts", "rules.yaml")),
	}
	seen := map[string]int{}
	for _, m := range keeper.FindAllStringSubmatch(design, -1) {
		for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
			seen[m[1]]++
			if !strings.Contains(in[m[1]], fmt.Sprintf(keepers[m[1]], name[1])) {
				t.Errorf("docs/design.md names %s under %q, which is not there", name[1], m[1])
			}
		}
	}
	for kind := range keepers {
		if seen[kind] < 3 {
			t.Errorf("docs/design.md names %d under %q, want more", seen[kind], kind)
		}
	}
	for i := range 15 {
		if !strings.Contains(design, fmt.Sprintf("\n### P%d: ", i+1)) {
			t.Errorf("docs/design.md leaves out P%d", i+1)
		}
	}
}

// sources is the text of all files below the folder that end so.
func sources(t *testing.T, folder, suffix string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, suffix) {
			all = append(all, read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}
