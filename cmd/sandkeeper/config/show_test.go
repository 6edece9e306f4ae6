package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
)

const shownConfig = `installation: prod
database: ${DATABASE_URL}
retention: ${KEPT:-10d}
tasks:
  database: postgres://u:s3cret@db/platform
  preset: omoios
  columns: {tenant: org_id}
providers:
  - name: daytona
    kind: daytona
    token: tok-${TOKEN}
    owns: {labels: {app.kubernetes.io/name: x}}
    link: {task_label: task_id}
    templates: [a, "b${TOKEN}"]
rules:
  orphan: enforce
  assigned-stale: {after: 5m}
`

// TestSettings: each value with its source, and no secret.
func TestSettings(t *testing.T) {
	env := func(name string) (string, bool) {
		return map[string]string{"DATABASE_URL": "postgres://u:s3cret@db/ledger", "TOKEN": "s3cret"}[name], name != "KEPT"
	}
	c, err := config.Parse("c.yaml", []byte(shownConfig), env)
	if err != nil {
		t.Fatal(err)
	}
	got, all := map[string]string{}, ""
	for _, s := range c.Settings() {
		line := fmt.Sprintf("%v | %s", s.Value, s.Source)
		got[s.Key()] = line
		all += s.Key() + " " + line + "\n"
	}
	for key, want := range map[string]string{
		"installation":               "prod | c.yaml:1",
		"mode":                       "observe | default",
		"database":                   "${DATABASE_URL} | c.yaml:2, environment DATABASE_URL",
		"retention":                  "10d | c.yaml:3, environment KEPT",
		"schedule.quick":             "@every 15s | default",
		"tasks.database":             "*** | c.yaml:5",
		"tasks.table":                "public.tasks | preset omoios",
		"tasks.columns.tenant":       "org_id | c.yaml:7",
		"tasks.columns.sandbox":      "sandbox_id | preset omoios",
		"tasks.statuses.assigned":    "[assigned claiming] | preset omoios",
		"tasks.timezone":             "UTC | default",
		"events.started[0]":          "agent.started | preset omoios",
		"providers[0].token":         "*** | c.yaml:11, environment TOKEN",
		"providers[0].templates":     "[a b${TOKEN}] | c.yaml:14",
		"providers[0].timeout":       "10s | default",
		"limits.share":               "10% | default",
		"proof.false_positives":      "2% | default",
		"rules.orphan.mode":          "enforce | c.yaml:16",
		"rules.orphan.sightings":     "2 | default",
		"rules.assigned-stale.after": "5m | c.yaml:17",
		"rules.over-age.mode":        "off | default: runs when it is named",
		"rules.inactive.after":       "15m | default",
		"providers[0].owns.labels.app.kubernetes.io/name": "x | c.yaml:12",
	} {
		if got[key] != want {
			t.Errorf("%s: %s, want %s", key, got[key], want)
		}
	}
	if strings.Contains(all, "s3cret") {
		t.Errorf("a secret is shown:\n%s", all)
	}
}

// TestSettingsOfExamples: every example can be shown, and whatever its kind no value is left unsaid.
func TestSettingsOfExamples(t *testing.T) {
	files, err := filepath.Glob("../../../deploy/examples/*/sandkeeper.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := config.Parse(file, text, func(name string) (string, bool) {
			if strings.Contains(name, "URL") {
				return "postgres://u@h/db", true
			}
			return "s3cret", true
		})
		if err != nil {
			continue // another test says which of them need more
		}
		for _, s := range c.Settings() {
			if said := fmt.Sprint(s.Value); s.Source == "" || strings.Contains(said, "s3cret") || strings.Contains(said, "0x") {
				t.Errorf("%s: %s: %v (%s)", file, s.Key(), s.Value, s.Source)
			}
		}
	}
}

// TestDraft: what can be read of a config that is refused.
func TestDraft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	text := "database: postgres://u@h/db\ntasks: {table: public.jobs, columns: {id: id, status: state}}\nnonsense: 1\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Draft(file, func(string) (string, bool) { return "", false })
	if err != nil || c.Tasks.Columns["status"] != "state" || c.Tasks.Database.Empty() {
		t.Errorf("the draft is %+v, %v", c, err)
	}
}
