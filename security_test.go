package sandkeeper

import (
	"debug/buildinfo"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
)

// TestThreatsHaveTests: what SECURITY.md says of a threat is shown by tests that are there.
func TestThreatsHaveTests(t *testing.T) {
	there := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, m := range testFunc.FindAllStringSubmatch(read(t, path), -1) {
			there[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "SECURITY.md")
	threats := 0
	for line := range strings.Lines(text) {
		row := cells(line)
		if len(row) != 3 || row[0] == "threat" || strings.HasPrefix(row[0], "--") || strings.HasPrefix(row[0], "who") ||
			!strings.Contains(line, "`Test") {
			continue
		}
		threats++
	}
	if threats < 25 {
		t.Errorf("only %d threats of SECURITY.md name a test", threats)
	}
	for _, m := range testName.FindAllStringSubmatch(text, -1) {
		if !there[m[1]] {
			t.Errorf("SECURITY.md names %s, which is no test", m[1])
		}
	}
	if lines := threatsWithout(t, text); len(lines) > 0 {
		t.Errorf("threats of SECURITY.md without a test:\n%s", strings.Join(lines, "\n"))
	}
}

// threatsWithout are the rows of threats that name no test.
func threatsWithout(t *testing.T, text string) (found []string) {
	t.Helper()
	inside := false
	for line := range strings.Lines(text) {
		row := cells(line)
		switch {
		case len(row) == 0:
			inside = false
		case row[0] == "threat":
			inside = true
		case inside && !strings.HasPrefix(row[0], "--") && !testName.MatchString(row[len(row)-1]):
			found = append(found, row[0])
		}
	}
	return found
}

// A cdxBill is what the test reads of a CycloneDX document.
type cdxBill struct {
	BOMFormat, SpecVersion, SerialNumber string
	Metadata                             struct {
		Component cdxPart
		Timestamp string
	}
	Components   []cdxPart
	Dependencies []struct {
		Ref       string
		DependsOn []string
	}
}

type cdxPart struct {
	Ref      string `json:"bom-ref"`
	Name     string
	Version  string
	PURL     string
	Licenses []struct{ License struct{ ID string } }
}

// TestBillOfMaterials: the bill names every module that is linked into the program, and no
// other, each with its version and its licence, and is the same for the same program.
func TestBillOfMaterials(t *testing.T) {
	program := filepath.Join(t.TempDir(), "sandkeeper")
	run(t, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/sandkeeper")
	text := run(t, "go", "-C", "tools", "run", "./sbom", program)
	if again := run(t, "go", "-C", "tools", "run", "./sbom", program); string(again) != string(text) {
		t.Errorf("a second bill differs:\n%s", cmp.Diff(string(text), string(again)))
	}
	var b cdxBill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if b.BOMFormat != "CycloneDX" || b.SpecVersion != "1.6" || b.Metadata.Timestamp != "" || b.Metadata.Component.Name != module ||
		!regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(b.SerialNumber) {
		t.Errorf("the bill's head: %+v %s", b.Metadata, b.SerialNumber)
	}
	var got, refs []string
	for _, c := range b.Components {
		got, refs = append(got, c.Name+" "+c.Version), append(refs, c.Ref)
		if len(c.Licenses) == 0 || c.Licenses[0].License.ID == "" {
			t.Errorf("no licence is known of %s", c.Name)
		}
		if want := "pkg:golang/" + strings.ToLower(c.Name) + "@" + strings.ReplaceAll(c.Version, "+", "%2B"); c.PURL != want {
			t.Errorf("the package URL of %s is %s, want %s", c.Name, c.PURL, want)
		}
	}
	slices.Sort(got) // they stand in the order of their URLs
	if diff := cmp.Diff(linked(t, program), got); diff != "" {
		t.Errorf("modules (-linked +listed):\n%s", diff)
	}
	if len(b.Dependencies) != 1 || !slices.Equal(b.Dependencies[0].DependsOn, refs) || b.Dependencies[0].Ref != b.Metadata.Component.Ref {
		t.Errorf("what depends on what: %+v", b.Dependencies)
	}
}

// linked are the modules whose packages the program imports, with those that go.mod says of
// them, and the standard library.
func linked(t *testing.T, program string) []string {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{"std " + strings.TrimPrefix(info.GoVersion, "go"): true}
	format := "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}"
	for line := range strings.Lines(string(run(t, "go", "list", "-deps", "-f", format, "./cmd/sandkeeper"))) {
		if line = strings.TrimSpace(line); line != "" {
			found[line] = true
		}
	}
	var all []string
	for name := range found {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// TestBuildIsPinned: what a build is made of is settled by the sources alone: no cgo, whose
// result depends on the machine's compiler, no paths, a minimum of Go, sums of all modules.
func TestBuildIsPinned(t *testing.T) {
	makefile := read(t, "Makefile")
	if !strings.Contains(makefile, "\tCGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -o bin/sandkeeper ./cmd/sandkeeper\n") {
		t.Error("make build is not as tools/reproducible.sh shows it to be reproducible")
	}
	run(t, "go", "mod", "verify")
	if mod := read(t, "go.mod"); strings.Contains(mod, "\nreplace ") || strings.Contains(mod, "=> ") {
		t.Error("go.mod replaces a module")
	}
	if _, err := os.Stat("go.work"); err == nil {
		t.Error("a workspace is in the tree: it would replace modules")
	}
}
