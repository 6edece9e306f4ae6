package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestRulePagesAgreeWithTheConfig: the default and the remedies that a rule's page names are
// those of the config's table, in the index as well, and its example is a config.
func TestRulePagesAgreeWithTheConfig(t *testing.T) {
	index := readFile(t, filepath.Join("..", "..", "..", "docs", "rules", "README.md"))
	for _, spec := range ruleSpecs {
		page := readFile(t, filepath.Join("..", "..", "..", "docs", "rules", spec.name+".md"))
		for _, want := range []string{
			"\nDefault: " + defaultWords(spec) + ".\n", "\nRemedy: " + pageRemedies(spec) + ".\n",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("docs/rules/%s.md does not say %q", spec.name, strings.TrimSpace(want))
			}
		}
		row := fmt.Sprintf("| %s | `%s` |\n", defaultWords(spec), spec.remedies[0])
		if _, line, _ := strings.Cut(index, "[`"+spec.name+"`]"); !strings.HasPrefix(line, "("+spec.name+".md)") ||
			!strings.Contains(line[:strings.Index(line, "\n")+1], row) {
			t.Errorf("docs/rules/README.md has no row of %s that ends with %q", spec.name, row)
		}
		checkExample(t, spec.name, page)
	}
}

// TestThresholdsInReadme: each rule's line has its default threshold.
func TestThresholdsInReadme(t *testing.T) {
	readme := readFile(t, filepath.Join("..", "..", "..", "README.md"))
	for _, s := range ruleSpecs {
		_, line, _ := strings.Cut(readme, "| `"+s.name+"` | ")
		line, _, _ = strings.Cut(line, "\n")
		want := []time.Duration{s.defaults.After, s.defaults.Conclusive, s.omoios, s.coding, s.defaults.Window, s.defaults.Apart, s.defaults.Ahead}
		for _, d := range want {
			seconds := fmt.Sprintf("%ds", int(d.Seconds()))
			hours := fmt.Sprintf("%dh", int(d.Hours()))
			if d > 0 && !slices.ContainsFunc([]string{shortest(d), seconds, hours}, func(text string) bool {
				return regexp.MustCompile(`\b` + text + `\b`).MatchString(line)
			}) {
				t.Errorf("README.md does not say %s of %s: %s", shortest(d), s.name, line)
			}
		}
		if s.off && !strings.Contains(line, "| off |") {
			t.Errorf("README.md does not say that %s is off: %s", s.name, line)
		}
	}
}

// defaultWords are a rule's default as its page says it.
func defaultWords(s ruleSpec) string {
	if s.off {
		return "off"
	}
	words := thresholds(s.defaults)
	if s.defaults.After == 0 {
		words = append([]string{"at once"}, words...)
	}
	text := strings.Join(words, ", ")
	if s.omoios > 0 {
		text += "; omoios " + shortest(s.omoios)
	}
	if s.coding > 0 {
		text += "; coding-agent " + shortest(s.coding)
	}
	return text
}

// thresholds are the settings that are not 0, in the config's words.
func thresholds(p reconcile.RulePolicy) []string {
	var words []string
	span := func(name string, d time.Duration) {
		if d > 0 {
			words = append(words, name+" "+shortest(d))
		}
	}
	number := func(name string, n int, unit string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%s %d%s", name, n, unit))
		}
	}
	span("after", p.After)
	span("conclusive", p.Conclusive)
	number("sightings", p.Sightings, "")
	span("apart", p.Apart)
	number("looks", p.Looks, "")
	number("failures", p.Failures, "")
	span("ahead", p.Ahead)
	number("count", p.Count, "")
	span("window", p.Window)
	number("critical", p.Critical, "")
	number("escalate", p.Escalate, "")
	span("for", p.For)
	number("quota", p.Quota, "%")
	number("at_rest", p.AtRest, "")
	return words
}

// shortest is a duration without its zero units.
func shortest(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func pageRemedies(s ruleSpec) string {
	words := fmt.Sprintf("`%s`", s.remedies[0])
	for i, r := range s.remedies[1:] {
		words += cmp.Or(map[int]string{0: "; also "}[i], ", ") + fmt.Sprintf("`%s`", r)
	}
	return words
}

// checkExample reads the page's example with the rest of a config around it.
func checkExample(t *testing.T, name, page string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !found || !closed || !strings.HasPrefix(example, "rules:\n  "+name+":") {
		t.Errorf("docs/rules/%s.md has no example of the rule", name)
		return
	}
	text := `
installation: docs
database: postgres://db
tasks: {preset: omoios}
providers:
  - {name: daytona, kind: daytona, token: key, owns: {labels: {project: docs}}, link: {task_label: task_id}, quarantine_for: 24h}
` + example
	c, err := Parse(name+".yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Errorf("the example of docs/rules/%s.md is no config: %v", name, err)
		return
	}
	if !c.Policy().Rules[name].Named {
		t.Errorf("the example of docs/rules/%s.md does not set the rule", name)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("the example of docs/rules/%s.md is warned about: %v", name, c.Warnings)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
