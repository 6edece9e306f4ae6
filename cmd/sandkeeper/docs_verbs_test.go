package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// TestVerbsInDocs: docs/operating.md has a row for each verb, and none for what is no verb.
func TestVerbsInDocs(t *testing.T) {
	_, table, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "docs", "operating.md")), "| verb | does |")
	table, _, _ = strings.Cut(table, "\n\n")
	got := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		for _, m := range regexp.MustCompile("`([a-z]+)[^`]*`").FindAllStringSubmatch(cells[0], -1) {
			got[m[1]] = true
		}
	}
	for _, c := range newRoot(console.Stdio{}).Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" && !got[c.Name()] {
			t.Errorf("docs/operating.md has no row for the verb %s", c.Name())
		}
		delete(got, c.Name())
	}
	for name := range got {
		t.Errorf("docs/operating.md has a row for %s, which is no verb", name)
	}
}
