package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/providers"
)

// TestGuidesBeginWithAConfig: the section of each kind begins with an entry that makes a whole config, and says which
// credential it needs.
func TestGuidesBeginWithAConfig(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join("..", "..", "docs", "providers.md"))
	for _, kind := range slices.DeleteFunc(providers.Kinds(), func(kind string) bool { return kind == "simulated" }) {
		_, section, _ := strings.Cut(text, "\n## "+kind+"\n\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !strings.HasPrefix(section, "**Least config.** ") || !strings.Contains(section, "**Credential.** ") {
			t.Errorf("the section of %s does not begin with its config, or names no credential", kind)
		}
		if kind == "generic" { // it points at a whole one, which is tested as an example
			continue
		}
		_, entry, _ := strings.Cut(section, "```yaml\n")
		entry, _, _ = strings.Cut(entry, "```")
		whole := "installation: prod\nmode: observe\ndatabase: postgres://u@h/db\n" +
			"tasks: {database: postgres://u@h/tasks, preset: omoios}\n" +
			"providers:\n" + entry
		if _, err := config.Parse(kind+".yaml", []byte(whole), func(string) (string, bool) { return "x", true }); err != nil {
			t.Errorf("the least config of %s: %v\n%s", kind, err, entry)
		}
	}
}
