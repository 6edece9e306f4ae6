package deploy

import (
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestReleaseWorkflow: its steps make targets that there are, with scripts that there are; nothing may write that need
// not, and no expression of an event is put into a shell.
func TestReleaseWorkflow(t *testing.T) {
	text, makefile := read(t, "../.github/workflows/release.yaml"), read(t, "../Makefile")
	var w struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []struct{ Name, Uses, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	if len(w.Permissions) != 0 || len(w.Jobs["release"].Permissions) != 4 {
		t.Errorf("permissions = %v, of the job %v", w.Permissions, w.Jobs["release"].Permissions)
	}
	made := 0
	for _, s := range w.Jobs["release"].Steps {
		if s.Uses != "" && !regexp.MustCompile(`^[\w-]+/[\w-]+@v\d`).MatchString(s.Uses) {
			t.Errorf("%s has no version", s.Uses)
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s puts an expression into a shell", s.Name)
		}
		for line := range strings.Lines(s.Run) {
			if words := strings.Fields(line); len(words) > 1 && words[0] == "make" {
				for _, target := range words[1:] {
					made++
					if !strings.Contains(makefile, "\n"+target+":") {
						t.Errorf("%s: make %s is no target", s.Name, target)
					}
				}
			}
		}
		for _, m := range regexp.MustCompile(`tools/[\w.-]+\.sh`).FindAllString(s.Run, -1) {
			read(t, "../"+m)
		}
	}
	if made < 3 {
		t.Errorf("it makes %d targets", made)
	}
}

// TestPackageHasWhatItNames: what the package is made of is in the tree, or is made by `make package`.
func TestPackageHasWhatItNames(t *testing.T) {
	var p struct {
		Contents []struct{ Src, Dst string }
		Scripts  map[string]string
	}
	if err := yaml.Unmarshal([]byte(read(t, "package/nfpm.yaml")), &p); err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Contents {
		if strings.HasPrefix(c.Src, "deploy/") && !strings.HasSuffix(c.Src, "/") {
			read(t, "../"+c.Src)
		}
	}
	for _, script := range p.Scripts {
		if text := read(t, "../"+script); !strings.Contains(text, "\nset -e\n") {
			t.Errorf("%s goes on after an error", script)
		}
	}
}
