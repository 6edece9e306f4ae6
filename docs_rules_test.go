package sandkeeper

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// headings are what every rule's page tells, in this order.
var headings = []string{
	"What it finds", "Why", "Default, and how to choose it", "What it does", "How to switch it off",
}

// TestRulesHavePages: every rule has a page with the same headings, none of them empty, and
// no page is left of a rule that is no more.
func TestRulesHavePages(t *testing.T) {
	for _, name := range reconcile.RuleNames {
		page := read(t, filepath.Join("docs", "rules", name+".md"))
		if !strings.HasPrefix(page, "# `"+name+"`\n") {
			t.Errorf("docs/rules/%s.md does not begin with the rule's name", name)
		}
		var got []string
		for i, section := range strings.Split(page, "\n## ") {
			heading, text, _ := strings.Cut(section, "\n")
			if i == 0 {
				continue
			}
			got = append(got, heading)
			if len(strings.Fields(text)) < 8 {
				t.Errorf("docs/rules/%s.md says next to nothing under %q", name, heading)
			}
		}
		if !slices.Equal(got, headings) {
			t.Errorf("docs/rules/%s.md has the headings %q, want %q", name, got, headings)
		}
	}
	pages, err := filepath.Glob(filepath.Join("docs", "rules", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if name != "README" && !slices.Contains(reconcile.RuleNames, name) {
			t.Errorf("%s is of no rule", page)
		}
	}
}

// TestRulePagesPointAtWhatIsThere: links of the pages lead somewhere.
func TestRulePagesPointAtWhatIsThere(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("docs", "rules", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, error %v", len(pages), err)
	}
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join("docs", "rules", m[1])); err != nil {
				t.Errorf("%s points at %s: %v", page, m[1], err)
			}
		}
	}
}
