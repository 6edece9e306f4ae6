package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// alertsVerb runs `sandkeeper alerts` with some arguments.
func alertsVerb(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := alertsCommand(&app.Options{Stdio: console.Stdio{Out: &out, Err: &out}})
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

func TestAlertsVerb(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		want  string // somewhere in the output
		whole string
		bad   bool
	}{
		"alone it shows its help":   {want: "alerts [command]"},
		"the rules":                 {args: []string{"rules"}, whole: alerts.Rules(alerts.Site{})},
		"the rules, runbooks moved": {args: []string{"rules", "--runbooks", "https://w.example/x"}, want: "runbook_url: https://w.example/x/absent.md\n"},
		"as an object":              {args: []string{"prometheusrule"}, whole: alerts.PrometheusRule(alerts.Site{})},
		"for Alertmanager":          {args: []string{"alertmanager"}, whole: alerts.Alertmanager(alerts.Site{})},
		"the dashboard":             {args: []string{"dashboard"}, whole: alerts.Dashboard()},
		"a runbook":                 {args: []string{"runbook", "BreakerOpen"}, want: "SandkeeperBreakerOpen"},
		"a runbook of nothing":      {args: []string{"runbook", "nothing"}, bad: true},
		"something else":            {args: []string{"silence"}, bad: true},
		"rules of something":        {args: []string{"rules", "orphan"}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := alertsVerb(t, c.args...)
			if (err != nil) != c.bad {
				t.Fatalf("error = %v, want one: %v", err, c.bad)
			}
			if !strings.Contains(got, c.want) || c.whole != "" && got != c.whole {
				t.Errorf("alerts %q printed %q, want %q", c.args, got, c.want+c.whole)
			}
		})
	}
}

// TestRunbookCommands: what the runbooks and the alerts tell somebody to type at night is
// there, with its flags.
func TestRunbookCommands(t *testing.T) {
	files, err := filepath.Glob("../../alerts/runbooks/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("runbooks: %v, %v", files, err)
	}
	ofRules, err := filepath.Glob("../../alerts/runbooks/rules/*.md")
	if err != nil || len(ofRules) == 0 {
		t.Fatalf("runbooks of rules: %v, %v", ofRules, err)
	}
	files, tried := append(append(files, ofRules...), "../../alerts/rules.yaml"), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range told(string(text)) {
			tryCommand(t, filepath.Base(file), words)
			tried++
		}
	}
	if tried < len(files) {
		t.Errorf("found %d commands in %d texts: they are written in a way that this test does not see", tried, len(files))
	}
}

var (
	quoted  = regexp.MustCompile("`(sandkeeper\\s+[a-z]+[^`]*)`") // it may go on in the next line
	inLine  = regexp.MustCompile(`:\s+(sandkeeper [a-z]+[^\n]*)`)
	onALine = regexp.MustCompile(`(?m)^(sandkeeper [a-z]+[^#|\n]*)`)
)

// told are the commands in a text: on lines of code, in backquotes, or after a colon.
func told(text string) [][]string {
	var all [][]string
	for i, part := range strings.Split(text, "```") {
		patterns := []*regexp.Regexp{quoted, inLine}
		if i%2 == 1 {
			patterns = []*regexp.Regexp{onALine}
		}
		for _, pattern := range patterns {
			for _, m := range pattern.FindAllStringSubmatch(part, -1) {
				all = append(all, shellWords(m[1]))
			}
		}
	}
	return all
}

func tryCommand(t *testing.T, where string, words []string) {
	t.Helper()
	words = words[1:] // sandkeeper itself
	verb, _, err := newRoot(console.Stdio{}).Find(words)
	if err != nil || verb.Name() != words[0] {
		t.Errorf("%s: sandkeeper %s is no verb", where, words[0])
		return
	}
	for _, word := range words[1:] {
		if flag, ok := strings.CutPrefix(word, "--"); ok && verb.Flags().Lookup(flag) == nil {
			t.Errorf("%s: sandkeeper %s has no flag --%s", where, words[0], flag)
		}
	}
}

// TestNotifyTest: each receiver gets the message, and one that does not is said, without its address.
func TestNotifyTest(t *testing.T) {
	hook := webhooktest.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "c.yaml")
	config := "installation: prod\ndatabase: postgres://u@127.0.0.1:1/x\ntasks: none\nproviders: [{name: sim, kind: simulated, owns: {labels: {a: b}}}]\nalerts:\n  notify:\n" +
		"    - {url: \"" + hook.URL + "/tok\", name: hook}\n    - {url: \"ntfy://127.0.0.1:1/s3cretTopic?scheme=http\", name: phone}\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"notify", "test", "hook"}, 0, "hook: sent\n"},
		{[]string{"notify", "test"}, 1, "phone: notify phone: "},
		{[]string{"notify", "test", "nobody"}, 1, "nobody to notify"},
	} {
		var out bytes.Buffer
		code := execute(t.Context(), append(c.args, "-c", file), console.Stdio{Out: &out, Err: &out})
		if code != c.code || !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), "s3cret") {
			t.Errorf("%q = %d, %q; want %d, %q", c.args, code, out.String(), c.code, c.want)
		}
	}
	if told := hook.Told(); len(told) != 2 || !strings.Contains(told[0].Body, "This is a test") {
		t.Errorf("the hook was told %+v", told)
	}
}
