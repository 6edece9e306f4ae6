package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestRulePagesAgreeWithTheConfig: the default and the remedies that a rule's page names are
// those of the config's table, in the index as well, and its example is a config.
func TestRulePagesAgreeWithTheConfig(t *testing.T) {
	index := readFile(t, filepath.Join("..", "..", "..", "docs", "rules", "README.md"))
	for i := range reconcile.Rules {
		spec := &reconcile.Rules[i]
		page := readFile(t, filepath.Join("..", "..", "..", "docs", "rules", spec.Name+".md"))
		for _, want := range []string{
			"\nDefault: " + defaultWords(spec) + ".\n", "\nRemedy: " + pageRemedies(spec) + ".\n",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("docs/rules/%s.md does not say %q", spec.Name, strings.TrimSpace(want))
			}
		}
		row := fmt.Sprintf("| %s | `%s` |\n", defaultWords(spec), spec.Remedies[0])
		if _, line, _ := strings.Cut(index, "[`"+spec.Name+"`]"); !strings.HasPrefix(line, "("+spec.Name+".md)") ||
			!strings.Contains(line[:strings.Index(line, "\n")+1], row) {
			t.Errorf("docs/rules/README.md has no such row:\n| [`%s`](%[1]s.md) | %s %s", spec.Name, spec.Means, row)
		}
		checkExample(t, spec.Name, page)
	}
}

// TestOwnKeysNameTheirRules: what the schema says of a key that only some rules read begins with
// their names, and each key of the table can be given.
func TestOwnKeysNameTheirRules(t *testing.T) {
	var schema struct {
		Defs struct {
			RuleConfig struct {
				Properties map[string]struct{ Description string }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(configSchema(t), &schema); err != nil {
		t.Fatal(err)
	}
	readers := map[string][]string{}
	for i := range reconcile.Rules {
		for _, key := range reconcile.Rules[i].Keys {
			readers[key] = append(readers[key], reconcile.Rules[i].Name)
		}
	}
	said := map[string][]string{}
	for key, p := range schema.Defs.RuleConfig.Properties {
		if names, _, found := strings.Cut(p.Description, ": "); found && strings.HasPrefix(names, "Rule") {
			_, names, _ = strings.Cut(names, " ")
			said[key] = strings.Split(names, " and ")
		}
	}
	inAnyOrder := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(readers, said, inAnyOrder); diff != "" {
		t.Errorf("the rules that read a key, and those that its description names (-want +got)\n%s", diff)
	}
}

// defaultWords are a rule's default as its page says it.
func defaultWords(s *reconcile.Rule) string {
	if s.Off {
		return "off"
	}
	words := thresholds(s.Default)
	if s.Default.After == 0 {
		words = append([]string{"at once"}, words...)
	}
	text := strings.Join(words, ", ")
	for _, preset := range []string{"omoios", "coding-agent", "prefect"} {
		if after := s.Presets[preset]; after > 0 {
			text += "; " + preset + " " + shortest(after)
		}
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

func pageRemedies(s *reconcile.Rule) string {
	words := fmt.Sprintf("`%s`", s.Remedies[0])
	for i, r := range s.Remedies[1:] {
		words += map[bool]string{true: "; also ", false: ", "}[i == 0] + fmt.Sprintf("`%s`", r)
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
