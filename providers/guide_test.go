package providers_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers"
)

const guideFile = "../docs/providers.md"

var updateGuide = flag.Bool("update-guide", false, "write "+guideFile)

func TestGuideIsUpToDate(t *testing.T) {
	want := providers.Guide()
	if *updateGuide {
		if err := os.WriteFile(guideFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(guideFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the adapters say: run go generate ./providers", guideFile)
	}
}

// Every kind that can be opened is told about, with its credential, and every row of the
// table has a cell for each.
func TestGuideTellsOfEveryKind(t *testing.T) {
	guide := providers.Guide()
	columns := 0
	for _, kind := range providers.Kinds() {
		columns++
		_, section, ok := strings.Cut(guide, "\n## "+kind+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !ok || !strings.Contains(section, "**Credential.**") {
			t.Errorf("the guide says nothing of the credential of kind %s", kind)
		}
	}
	rows := 0
	for line := range strings.Lines(guide) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		rows++
		if cells := strings.Count(strings.TrimSpace(line), "|") - 2; cells != columns {
			t.Errorf("a row with %d cells, want %d: %s", cells, columns, line)
		}
	}
	if rows < 20 {
		t.Errorf("%d rows in the table of abilities", rows)
	}
}
