package web

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/web/webtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// versions change with every change of an asset.
var versions = regexp.MustCompile(`\?v=[0-9a-f]{12}`)

func TestPages(t *testing.T) {
	for name, w := range webtest.Worlds() {
		t.Run(name, func(t *testing.T) {
			r := Reading(w)
			var text strings.Builder
			if err := document(viewOf(&r, process())).Render(t.Context(), &text); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".html", broken(text.String()))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read the golden page: %v; write it with: go test ./web -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

// broken has a line for each element, so that golden files can be read and compared.
func broken(html string) string {
	html = versions.ReplaceAllString(html, "?v=1")
	return regexp.MustCompile(`(<(?:section|article|details|summary|table|tr|dl|div|p|ul|li|h\d|head|body|main|footer|header|nav|link|meta|script|pre)\b)`).
		ReplaceAllString(html, "\n$1") + "\n"
}
