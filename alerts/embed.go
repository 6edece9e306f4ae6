package alerts

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

//go:embed rules.yaml
var rules string

//go:embed alertmanager.yaml
var alertmanager string

//go:embed dashboard.json
var dashboard string

//go:embed runbooks
var runbookFiles embed.FS

// runbooks is where the rules say that their runbooks are.
const runbooks = "https://github.com/sandkeeper/sandkeeper/blob/main/alerts/runbooks/"

// A Site is where people find what an alert points at, and which labels of Prometheus alerts keep.
type Site struct {
	Runbooks  string        // address of the runbooks; "": the public ones
	Dashboard string        // address of the dashboard; "": alerts name none
	Page      string        // address of the page; "": alerts name none
	Labels    []string      // such as cluster and namespace
	FrozenFor time.Duration // how long a source may be not trusted before SandkeeperFrozen; 0: 30m
}

var (
	grouped    = regexp.MustCompile(`\b(by|on) \(installation`)
	grouping   = regexp.MustCompile(`(group_by|equal): \[installation`)
	frozen     = regexp.MustCompile(`(?s)(alert: SandkeeperFrozen\n.*?for: )30m(.*?)30 minutes`)
	runbookURL = regexp.MustCompile(`(?m)^( *)runbook_url: .*$`)
)

// Rules are the recording rules and alerts for Prometheus, as one file.
func Rules(s Site) string {
	out := rules
	if s.Runbooks != "" {
		out = strings.ReplaceAll(out, runbooks, strings.TrimSuffix(s.Runbooks, "/")+"/")
	}
	for _, link := range [][2]string{{"page_url", s.Page}, {"dashboard_url", s.Dashboard}} { // the last one comes first
		if name, address := link[0], link[1]; address != "" {
			out = runbookURL.ReplaceAllString(out, "$0\n${1}"+name+": "+strings.ReplaceAll(address, "$", "$$"))
		}
	}
	if s.FrozenFor > 0 {
		out = frozen.ReplaceAllString(out, "${1}"+text.Exact(s.FrozenFor)+"${2}"+text.Exact(s.FrozenFor))
	}
	if len(s.Labels) > 0 {
		out = grouped.ReplaceAllString(out, "$1 ("+strings.Join(s.Labels, ", ")+", installation")
	}
	return out
}

// PrometheusRule are the same as an object for the operator of Prometheus.
func PrometheusRule(s Site) string {
	head := "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: sandkeeper\n" +
		"  labels: {app.kubernetes.io/name: sandkeeper}\nspec:\n"
	lines := strings.SplitAfter(Rules(s), "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = "  " + line
		}
	}
	return head + strings.Join(lines, "")
}

// Alertmanager is an example of a config of Alertmanager: who is woken and who is told, and which
// alerts are kept back while another one tells the cause: where the labels of the site are the same too.
func Alertmanager(s Site) string {
	if len(s.Labels) == 0 {
		return alertmanager
	}
	return grouping.ReplaceAllString(alertmanager, "$1: ["+strings.Join(s.Labels, ", ")+", installation")
}

// Dashboard is a dashboard for Grafana.
func Dashboard() string { return dashboard }

// alertRunbook finds which runbook an alert names.
var alertRunbook = regexp.MustCompile(`(?s)- alert: (Sandkeeper\w+)\n.*?runbook_url: \S+/([a-z-]+)\.md`)

// Runbook is the runbook of an alert, with or without Sandkeeper in front of its name, or of a rule, or one
// by the name of its file.
func Runbook(name string) (text string, found bool) {
	name = strings.TrimSuffix(name, ".md")
	folders := []string{"runbooks/rules", "runbooks"}
	for _, m := range alertRunbook.FindAllStringSubmatch(rules, -1) {
		if strings.EqualFold(m[1], name) || strings.EqualFold(m[1], "Sandkeeper"+name) {
			name, folders = m[2], []string{"runbooks"}
			break
		}
	}
	for _, folder := range folders {
		if page, err := runbookFiles.ReadFile(path.Join(folder, name+".md")); err == nil {
			return string(page), true
		}
	}
	return "", false
}

// Runbooks are the names by which each runbook is found: those of the alerts and of the rules.
func Runbooks() []string {
	names := map[string]bool{}
	for _, m := range alertRunbook.FindAllStringSubmatch(rules, -1) {
		names[m[1]] = true
	}
	files, _ := runbookFiles.ReadDir("runbooks/rules") // a folder that is not there has none
	for _, file := range files {
		names[strings.TrimSuffix(file.Name(), ".md")] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// RunbookFiles are the runbooks as files: NAME.md of the alerts, rules/NAME.md of the rules.
func RunbookFiles() fs.FS {
	sub, err := fs.Sub(runbookFiles, "runbooks")
	if err != nil {
		return runbookFiles // unreachable: the name is a valid path
	}
	return sub
}
