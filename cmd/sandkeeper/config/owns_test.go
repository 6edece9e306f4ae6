package config

import (
	"strings"
	"testing"
)

// TestRowsAloneAreWarnedOf: who may write rows can forge that proof, so whoever relies on it alone is told.
func TestRowsAloneAreWarnedOf(t *testing.T) {
	for owns, want := range map[string]string{
		"{referenced: true}":                       "only rows prove which sandboxes are ours",
		"{referenced: true, labels: {project: x}}": "",
		"{referenced: true, name_prefix: x-}":      "",
		"{labels: {project: x}}":                   "",
	} {
		text := strings.NewReplacer("{labels: {project: omoios}}", owns, "{task_label: task_id}",
			"{task_label: task_id, sandbox: id}").Replace(sound)
		c, err := Parse("c.yaml", []byte(text), soundEnv)
		if err != nil {
			t.Fatalf("owns: %s: %v", owns, err)
		}
		var got string
		for _, w := range c.Warnings {
			if w.Key == "providers[0].owns.referenced" {
				got += w.Problem + "; " + w.Fix
			}
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("owns: %s warns %q, want %q", owns, got, want)
		}
		if want != "" && !strings.Contains(got, "owns: {labels: ") {
			t.Errorf("owns: %s warns without a fix: %q", owns, got)
		}
	}
}

// TestNoHostsBesides: an empty list of hosts adds none, as the contract writes it, also at kinds that ask their own
// address alone.
func TestNoHostsBesides(t *testing.T) {
	for _, text := range []string{sound + "    hosts: []\n", strings.Replace(sound, "    kind: daytona", "    kind: docker\n    hosts: []", 1)} {
		c, err := Parse("c.yaml", []byte(text), soundEnv)
		if err != nil || len(c.Providers[0].Hosts) > 0 {
			t.Errorf("Parse of\n%s= %v, want no host and no mistake", text, err)
		}
	}
}
