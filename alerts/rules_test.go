package alerts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// program finds one of the programs of Debian's package prometheus.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not on the PATH: %v; install it with: apt-get install --no-install-recommends prometheus", name, err)
	}
	return path
}

// promtool runs it with some input and wants it to have nothing to say against it.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	tool := exec.CommandContext(t.Context(), program(t, "promtool"), args...)
	tool.Stdin = strings.NewReader(input)
	if said, err := tool.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
	}
}

func TestRulesAreValid(t *testing.T) { promtool(t, "", "check", "rules", "rules.yaml") }

func TestRulesFire(t *testing.T) {
	t.Parallel()
	promtool(t, "", "test", "rules", "rules_test.yaml")
}

// TestMetricsAreGood: Prometheus' own advice on names, types and help.
func TestMetricsAreGood(t *testing.T) {
	text, _ := scrape(t, Handler(&desk{says: full()}, options()))
	promtool(t, text, "check", "metrics")
}

// A rule is one of rules.yaml.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

// read decodes a YAML file and wants no key that is not known here.
func read(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.NewDecoder(strings.NewReader(text), yaml.Strict()).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func allRules(t *testing.T, text string) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	read(t, text, &file)
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) < 20 {
		t.Fatalf("rules.yaml has %d groups, want one with all alerts", len(file.Groups))
	}
	return file.Groups[0].Rules
}

// TestAlertsAreComplete: who is woken by one knows what it means and what to do.
func TestAlertsAreComplete(t *testing.T) {
	pages := map[string]bool{}
	for _, r := range allRules(t, Rules("")) {
		if r.Alert == "" {
			continue
		}
		if s := r.Labels["severity"]; s != "warning" && s != "critical" {
			t.Errorf("%s: severity %q, want warning or critical", r.Alert, s)
		}
		if r.Annotations["summary"] == "" || !strings.Contains(r.Annotations["description"], "First ") &&
			!strings.Contains(r.Annotations["description"], "Tell ") {
			t.Errorf("%s: wants a summary and a description that says what to do first", r.Alert)
		}
		page, ok := strings.CutPrefix(r.Annotations["runbook_url"], runbooks)
		if !ok {
			t.Errorf("%s: runbook_url is %q", r.Alert, r.Annotations["runbook_url"])
			continue
		}
		pages[page] = true
		if text := runbook(t, page); !strings.Contains(text, r.Alert) {
			t.Errorf("%s: its runbook %s does not name it", r.Alert, page)
		}
	}
	files, err := filepath.Glob("runbooks/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !pages[filepath.Base(file)] {
			t.Errorf("%s belongs to no alert", file)
		}
	}
}

func runbook(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("runbooks", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRunbooksAreAlike: somebody who was just woken finds the same headings in each.
func TestRunbooksAreAlike(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	want := []string{"What it means", "What sandkeeper does meanwhile", "Look first at", "Causes seen", "How to end it",
		"When to escalate"}
	files, err := filepath.Glob("runbooks/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("runbooks: %v, %v", files, err)
	}
	for _, file := range files {
		var got []string
		for _, m := range heading.FindAllStringSubmatch(runbook(t, filepath.Base(file)), -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: headings %q, want %q", file, got, want)
		}
	}
}

var (
	ours     = regexp.MustCompile(`\bsandkeeper_[a-z_]+`)
	recorded = regexp.MustCompile(`\bsandkeeper:[a-z_:]+`)
)

// TestRulesNameWhatIsThere: an alert on a series that nobody exports would be silent for ever.
func TestRulesNameWhatIsThere(t *testing.T) {
	_, found := scrape(t, Handler(&desk{says: full()}, options()))
	exported := names(found)
	made := map[string]bool{}
	for _, r := range allRules(t, Rules("")) {
		made[r.Record] = true
		for _, name := range ours.FindAllString(r.Expr, -1) {
			if !slices.Contains(exported, strings.TrimPrefix(name, "sandkeeper_")) {
				t.Errorf("%s%s: %s is not exported", r.Alert, r.Record, name)
			}
		}
		for _, name := range recorded.FindAllString(r.Expr, -1) {
			if !made[name] {
				t.Errorf("%s: %s is not recorded before it", r.Alert, name)
			}
		}
	}
}

// TestAlertsAreTried: each has a case in which it fires with its words, and one in which it
// is silent.
func TestAlertsAreTried(t *testing.T) {
	text, err := os.ReadFile("rules_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		RuleFiles          []string `yaml:"rule_files"`
		EvaluationInterval string   `yaml:"evaluation_interval"`
		Tests              []struct {
			Name, Interval string
			InputSeries    []map[string]string `yaml:"input_series"`
			PromqlExprTest []any               `yaml:"promql_expr_test"`
			AlertRuleTest  []struct {
				EvalTime  string `yaml:"eval_time"`
				Alertname string
				ExpAlerts []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	read(t, string(text), &file)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, c := range file.Tests {
		for _, a := range c.AlertRuleTest {
			fires[a.Alertname] = fires[a.Alertname] || len(a.ExpAlerts) > 0
			silent[a.Alertname] = silent[a.Alertname] || len(a.ExpAlerts) == 0
		}
	}
	for _, r := range allRules(t, Rules("")) {
		if r.Alert != "" && (!fires[r.Alert] || !silent[r.Alert]) {
			t.Errorf("%s is tried firing: %v, silent: %v; want both", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}
}

// TestRunbooksElsewhere: a house without the internet keeps the runbooks itself.
func TestRunbooksElsewhere(t *testing.T) {
	for _, base := range []string{"https://wiki.example/sandkeeper", "https://wiki.example/sandkeeper/"} {
		for _, r := range allRules(t, Rules(base)) {
			url := r.Annotations["runbook_url"]
			if r.Alert != "" && !regexp.MustCompile(`^https://wiki\.example/sandkeeper/[a-z-]+\.md$`).MatchString(url) {
				t.Errorf("%s: runbook_url %s with base %s", r.Alert, url, base)
			}
		}
	}
}
