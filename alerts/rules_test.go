package alerts

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/sandkeeper/sandkeeper/alerts/alertstest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// promtool runs it with some input and wants it to have nothing to say against it.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	tool := exec.CommandContext(t.Context(), alertstest.Program(t, "promtool"), args...)
	tool.Stdin = strings.NewReader(input)
	if said, err := tool.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
	}
}

func TestRulesAreValid(t *testing.T) { promtool(t, "", "check", "rules", "rules.yaml") }

func TestRulesFire(t *testing.T) {
	t.Parallel()
	promtool(t, "", "test", "rules", "rules_test.yaml", "rules_slow_test.yaml")
}

// TestMetricsAreGood: Prometheus' own advice on names, types and help.
func TestMetricsAreGood(t *testing.T) {
	text, _ := scrape(t, Handler(&desk{says: full()}, everything()))
	promtool(t, text, "check", "metrics")
}

// TestLabelsAreFew: a label is one of these, whose values the config, the code or a bound of ours limit; none is the id
// of a task, a sandbox or an action.
func TestLabelsAreFew(t *testing.T) {
	bounded := []string{
		"alert", "by", "call", "code", "goversion", "installation", "kind", "le", "level", "limiter", "mode", "outcome", "phase", "pool", "provider",
		"quota", "receiver", "rule", "scope", "source", "stage", "state", "step", "template", "tenant", "version", "why",
	}
	m, seen := full(), map[string]bool{}
	m.Shielded = []reconcile.Shielded{{Tenant: "acme", By: "freeze", Count: 1}}
	text, _ := scrape(t, Handler(&desk{says: m}, everything()))
	for _, series := range regexp.MustCompile(`(?m)^sandkeeper_\w+{(.*)} `).FindAllStringSubmatch(text, -1) {
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(series[1], -1) {
			seen[label[1]] = true
		}
	}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, bounded) {
		t.Errorf("labels %q, want %q: a new one needs a bound, see TestBounded", got, bounded)
	}
}

// A rule is one of rules.yaml.
type rule struct {
	Record, Alert, Expr, For string
	KeepFiringFor            string `yaml:"keep_firing_for"`
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

// critical are the alerts for which somebody is woken: what an operator must do something about now.
var critical = []string{"SandkeeperAbsent", "SandkeeperLedgerDown", "SandkeeperPassStale", "SandkeeperBreakerOpen",
	"SandkeeperIncidentOpen", "SandkeeperRuleAutoDisabled", "SandkeeperLeakRate", "SandkeeperLeaksFillQuota"}

// TestAlertsAreComplete: who is woken by one knows what it means and what to do.
func TestAlertsAreComplete(t *testing.T) {
	pages := map[string]bool{}
	for _, r := range allRules(t, Rules(Site{})) {
		if r.Alert == "" {
			continue
		}
		if s := r.Labels["severity"]; s != "info" && s != "warning" && s != "critical" {
			t.Errorf("%s: severity %q, want info, warning or critical", r.Alert, s)
		}
		if pages := slices.Contains(critical, r.Alert); pages != (r.Labels["severity"] == "critical") {
			t.Errorf("%s is %s; what pages is a list in this test, for each page has to be worth it", r.Alert, r.Labels["severity"])
		}
		if r.Annotations["escalation"] == "" {
			t.Errorf("%s does not say when to tell whom", r.Alert)
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
		if pages[page] {
			t.Errorf("%s shares its runbook %s with another alert", r.Alert, page)
		}
		pages[page] = true
		if text := runbook(t, page); !strings.Contains(text, "Alert: `"+r.Alert+"`.") {
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

var (
	ours     = regexp.MustCompile(`\bsandkeeper_[a-z_]+`)
	recorded = regexp.MustCompile(`\bsandkeeper:[a-z_:]+`)
)

// everything are the options of a process that knows all that one may know.
func everything() Options {
	o := options()
	o.Local = NewLocal()
	o.Local.Request("daytona", "list", "200", time.Second)
	o.Local.Request("daytona", "list", "429", time.Second)
	o.Local.Waited("daytona", time.Second)
	o.Local.Left("daytona", "", 40)
	o.Local.Phase("full", "listing", time.Second)
	o.Bounds = func() Bounds { return Bounds{LeakUSD: 5, ManyOnOneTask: 5, LedgerGiB: 1, Detected: time.Minute} }
	o.Rates = func() map[string]float64 { return map[string]float64{"daytona": 20} }
	o.Pools = func() []Pool { return []Pool{{Name: "ledger", Max: 4}} }
	o.Refused = func() (int64, int64) { return 1, 1 }
	return o
}

// everyName is each metric that a process may export.
func everyName(t *testing.T) []string {
	t.Helper()
	o := everything()
	_, found := scrape(t, Handler(&desk{says: full()}, o))
	o.Written = noon
	_, file := scrape(t, Handler(&desk{says: full()}, o))
	maps.Copy(found, file)
	return names(found)
}

// TestDashboardShowsWhatAlertsWatch: who was woken by a number finds it, and what it is compared with, on a panel.
func TestDashboardShowsWhatAlertsWatch(t *testing.T) {
	shown := strings.Join(dashboardQueries(t), "\n")
	for _, r := range allRules(t, Rules(Site{})) {
		for _, name := range ours.FindAllString(r.Expr, -1) {
			if name != "sandkeeper_ledger_created_timestamp_seconds" && !strings.Contains(shown, name) { // a day, long past
				t.Errorf("%s%s looks at %s, which no panel shows", r.Alert, r.Record, name)
			}
		}
	}
	for _, alert := range regexp.MustCompile(`alert_threshold{[^}]*alert="(\w+)"`).FindAllStringSubmatch(rules, -1) {
		if !strings.Contains(shown, `alert="`+alert[1]+`"`) {
			t.Errorf("no panel shows the bound of %s", alert[1])
		}
	}
}

// TestRulesNameWhatIsThere: an alert on a series that nobody exports would be silent for ever.
func TestRulesNameWhatIsThere(t *testing.T) {
	exported := everyName(t)
	made := map[string]bool{}
	for _, r := range allRules(t, Rules(Site{})) {
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
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, name := range []string{"rules_test.yaml", "rules_slow_test.yaml"} {
		tried(t, name, fires, silent)
	}
	for _, r := range allRules(t, Rules(Site{})) {
		if r.Alert != "" && (!fires[r.Alert] || !silent[r.Alert]) {
			t.Errorf("%s is tried firing: %v, silent: %v; want both", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}
}

// tried notes which alerts a file of cases lets fire, and which it wants to be silent.
func tried(t *testing.T, name string, fires, silent map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(name)
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
	for _, c := range file.Tests {
		for _, a := range c.AlertRuleTest {
			fires[a.Alertname] = fires[a.Alertname] || len(a.ExpAlerts) > 0
			silent[a.Alertname] = silent[a.Alertname] || len(a.ExpAlerts) == 0
		}
	}
}

// TestRunbooksElsewhere: a house without the internet keeps the runbooks itself.
func TestRunbooksElsewhere(t *testing.T) {
	for _, base := range []string{"https://wiki.example/sandkeeper", "https://wiki.example/sandkeeper/"} {
		for _, r := range allRules(t, Rules(Site{Runbooks: base})) {
			url := r.Annotations["runbook_url"]
			if r.Alert != "" && !regexp.MustCompile(`^https://wiki\.example/sandkeeper/[a-z-]+\.md$`).MatchString(url) {
				t.Errorf("%s: runbook_url %s with base %s", r.Alert, url, base)
			}
		}
	}
}

// TestRulesOfASite: with a config the alerts point at its page and dashboard and keep the labels of its Prometheus.
func TestRulesOfASite(t *testing.T) {
	site := Site{Page: "https://keeper.example/", Dashboard: "https://grafana.example/d/$x", Labels: []string{"cluster", "namespace"}}
	for _, r := range allRules(t, Rules(site)) {
		if r.Alert != "" && (r.Annotations["page_url"] != site.Page || r.Annotations["dashboard_url"] != site.Dashboard) {
			t.Errorf("%s points at %q and %q", r.Alert, r.Annotations["page_url"], r.Annotations["dashboard_url"])
		}
		if regexp.MustCompile(`(by|on) \(installation`).MatchString(r.Expr) {
			t.Errorf("%s%s drops the labels: %s", r.Alert, r.Record, r.Expr)
		}
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "rules.yaml")
	if err := os.WriteFile(file, []byte(Rules(site)), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
	var object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   map[string]any
		Spec       map[string]any
	}
	read(t, PrometheusRule(site), &object)
	if object.Kind != "PrometheusRule" || object.Spec["groups"] == nil {
		t.Errorf("the object is a %s with %d keys", object.Kind, len(object.Spec))
	}
	_, spec, _ := strings.Cut(PrometheusRule(site), "spec:\n")
	if regexp.MustCompile("(?m)^  ").ReplaceAllString(spec, "") != Rules(site) {
		t.Error("the object has other rules than the file")
	}
}

// TestAlertsKeepTheLabelsOfASite: all cases again, of a Prometheus that gives each series a cluster: each alert has it.
func TestAlertsKeepTheLabelsOfASite(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cases, err := os.ReadFile("rules_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	labelled := strings.NewReplacer(`installation="`, `cluster="eu",installation="`,
		"installation: prod,", "cluster: eu, installation: prod,",
		`installation: "`, `cluster: "eu", installation: "`).Replace(string(cases))
	for name, text := range map[string]string{"rules.yaml": Rules(Site{Labels: []string{"cluster"}}), "rules_test.yaml": labelled} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	promtool(t, "", "test", "rules", filepath.Join(folder, "rules_test.yaml"))
}

// TestFrozenOfASite: how long a source may be not trusted is the config's.
func TestFrozenOfASite(t *testing.T) {
	for _, r := range allRules(t, Rules(Site{FrozenFor: 2 * time.Hour})) {
		if r.Alert == "SandkeeperFrozen" && (r.For != "2h" || !strings.Contains(r.Annotations["description"], "more than 2h")) {
			t.Errorf("%s waits for %s and says %s", r.Alert, r.For, r.Annotations["description"])
		}
		if r.Alert == "SandkeeperSourceUntrusted" && r.For != "5m" {
			t.Errorf("%s waits for %s", r.Alert, r.For)
		}
	}
}

// TestAlertmanagerOfASite: clusters of one installation's name do not silence each other.
func TestAlertmanagerOfASite(t *testing.T) {
	said := Alertmanager(Site{Labels: []string{"cluster"}})
	if strings.Contains(said, "[installation") || !strings.Contains(said, "equal: [cluster, installation, rule]") {
		t.Errorf("the labels are not kept:\n%s", said)
	}
	file := filepath.Join(t.TempDir(), "alertmanager.yaml")
	if err := os.WriteFile(file, []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), alertstest.Program(t, "amtool"), "check-config", file).CombinedOutput(); err != nil {
		t.Errorf("amtool: %v\n%s", err, out)
	}
}

// TestAlertmanagerIsGood by Alertmanager's own check, and names only alerts that there are.
func TestAlertmanagerIsGood(t *testing.T) {
	check := exec.CommandContext(t.Context(), alertstest.Program(t, "amtool"), "check-config", "alertmanager.yaml")
	if said, err := check.CombinedOutput(); err != nil {
		t.Errorf("amtool: %v\n%s", err, said)
	}
	known := map[string]bool{}
	for _, r := range allRules(t, Rules(Site{})) {
		known[r.Alert] = true
	}
	for _, m := range regexp.MustCompile(`Sandkeeper\(([A-Za-z|]+)\)|"(Sandkeeper\w+)"`).FindAllStringSubmatch(Alertmanager(Site{}), -1) {
		for _, name := range strings.Split(m[1], "|") {
			if name == "" {
				name = strings.TrimPrefix(m[2], "Sandkeeper")
			}
			if !known["Sandkeeper"+name] {
				t.Errorf("there is no alert Sandkeeper%s", name)
			}
		}
	}
}

// TestCausesComeFirst: what keeps an alert back is evaluated, and so sent, before it.
func TestCausesComeFirst(t *testing.T) {
	at := map[string]int{}
	for i, r := range allRules(t, Rules(Site{})) {
		at[r.Alert] = i
	}
	pairs := 0
	kept := regexp.MustCompile(`source_matchers: \['alertname = "(\w+)"'.*\n\s+target_matchers: \['alertname =~? "Sandkeeper\(?([A-Za-z|]+)\)?"`)
	for _, m := range kept.FindAllStringSubmatch(Alertmanager(Site{}), -1) {
		for _, name := range strings.Split(m[2], "|") {
			if pairs++; at[m[1]] > at["Sandkeeper"+name] {
				t.Errorf("%s is kept back by %s, which stands behind it", name, m[1])
			}
		}
	}
	if pairs < 20 {
		t.Errorf("%d pairs of a cause and what it keeps back were seen", pairs)
	}
}

// TestRunbookNames: each alert and each rule has its runbook, by its name.
func TestRunbookNames(t *testing.T) {
	for _, r := range allRules(t, Rules(Site{})) {
		if r.Alert == "" {
			continue
		}
		for _, name := range []string{r.Alert, strings.TrimPrefix(r.Alert, "Sandkeeper")} {
			if text, found := Runbook(name); !found || !strings.Contains(text, r.Alert) {
				t.Errorf("runbook of %s: %t", name, found)
			}
		}
	}
	for _, rule := range reconcile.RuleNames {
		if text, found := Runbook(rule); !found || !strings.Contains(text, "`"+rule+"`") {
			t.Errorf("runbook of the rule %s: %t", rule, found)
		}
	}
	if _, found := Runbook("../rules"); found {
		t.Error("a runbook outside of the folder was found")
	}
}
