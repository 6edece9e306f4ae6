package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// floors are the least that each threshold and count may be: as the design says, and not as
// the table of rules does.
var floors = []struct {
	rule, key string
	least     string // accepted
	less      string // refused
	says      string // the refusal
}{
	{"finished-unrecorded", "after", "0", "999ms", "floor of 1s"},
	{"assigned-stale", "after", "10s", "9999ms", "floor of 10s"},
	{"sandbox-missing", "after", "1s", "999ms", "floor of 1s"},
	{"sandbox-missing", "looks", "2", "1", "floor of 2"},
	{"heartbeat-lost", "after", "30s", "29999ms", "floor of 30s"},
	{"inactive", "after", "1s", "999ms", "floor of 1s"},
	{"deadline-exceeded", "after", "1s", "999ms", "floor of 1s"},
	{"stop-ignored", "after", "1s", "0", "floor of 1s"},
	{"finished-lingering", "after", "1s", "0", "floor of 1s"},
	{"pending-stuck", "after", "1s", "0", "floor of 1s"},
	{"looping", "count", "2", "1", "floor of 2"},
	{"looping", "window", "1s", "999ms", "floor of 1s"},
	{"orphan", "after", "30s", "29999ms", "floor of 30s"},
	{"orphan", "sightings", "2", "1", "floor of 2"},
	{"orphan", "apart", "1s", "999ms", "floor of 1s"},
	{"duplicate", "after", "1s", "0", "floor of 1s"},
	{"record-without-container", "looks", "2", "1", "floor of 2"},
	{"record-without-container", "apart", "1s", "999ms", "floor of 1s"},
	{"provisioning-stuck", "after", "1s", "0", "floor of 1s"},
	{"idle-broken", "after", "5s", "4999ms", "floor of 5s"},
	{"idle-broken", "failures", "2", "1", "floor of 2"},
	{"executions-stuck", "after", "1s", "0", "floor of 1s"},
	{"errored", "after", "1s", "0", "floor of 1s"},
	{"over-age", "after", "1s", "0", "floor of 1s"},
	{"terminating-stuck", "after", "1s", "0", "floor of 1s"},
	{"runaway", "after", "1s", "0", "floor of 1s"},
	{"template-unusable", "ahead", "1s", "0", "floor of 1s"},
	{"systemic", "count", "2", "1", "floor of 2"},
	{"systemic", "window", "1s", "0", "floor of 1s"},
	{"systemic", "window", "2h", "7201s", "cap of 2h"},
	{"capacity", "critical", "0", "-1", "floor of 0"},
	{"capacity", "escalate", "0", "-1", "floor of 0"},
	{"capacity", "for", "1s", "0", "floor of 1s"},
	{"capacity", "quota", "100%", "0%", "not above 0%"},
	{"capacity", "at_rest", "0", "-1", "floor of 0"},
}

const webhookKey = "a key of thirty-two characters.."

func TestEachFloorFromBothSides(t *testing.T) {
	covered := map[string]bool{}
	for _, f := range floors {
		t.Run(f.rule+"."+f.key+" "+f.least, func(t *testing.T) {
			covered[f.rule] = true
			line := func(value string) string { return fmt.Sprintf("rules: {%s: {%s: %s}}\n", f.rule, f.key, value) }
			mustParse(t, sound+line(f.least))
			_, err := Parse("c.yaml", []byte(sound+line(f.less)), soundEnv)
			var all Errors
			if !errors.As(err, &all) || len(all) != 1 || !strings.Contains(err.Error(), f.says) ||
				!strings.Contains(err.Error(), "rules."+f.rule+"."+f.key) {
				t.Errorf("%s = %v, want one mistake of rules.%s.%s that says %q", line(f.less), err, f.rule, f.key, f.says)
			}
		})
	}
	for i := range reconcile.Rules {
		r := &reconcile.Rules[i]
		if own := r.Floor > 0 || r.AtOnce || len(r.Keys) > 0; own && !covered[r.Name] {
			t.Errorf("no floor of %s is tried", r.Name)
		}
	}
}

// TestFloorsOfOverrides: a class is no way around the floor of its rule.
func TestFloorsOfOverrides(t *testing.T) {
	text := "rules: {orphan: {overrides: [{when: {template: gpu}, after: %s}]}}\n"
	mustParse(t, sound+fmt.Sprintf(text, "30s"))
	_, err := Parse("c.yaml", []byte(sound+fmt.Sprintf(text, "29s")), soundEnv)
	if err == nil || !strings.Contains(err.Error(), "rules.orphan.overrides[0].after: 29s is below the floor of 30s") {
		t.Errorf("Parse = %v, want the floor", err)
	}
}

// TestClassesOfOverrides: each class there is, for any rule, in the order of the file.
func TestClassesOfOverrides(t *testing.T) {
	c := mustParse(t, sound+`rules:
  inactive:
    after: 15m
    overrides:
      - {when: {template: gpu, region: eu}, after: 1h}
      - {when: {provider: daytona}, after: 20m}
      - {when: {task.task_type: build}, after: 45m}
  over-age: {after: 10m, overrides: [{when: {region: us}, after: 30m}]}
`)
	want := []reconcile.Override{
		{When: map[string]string{"template": "gpu", "region": "eu"}, After: time.Hour},
		{When: map[string]string{"provider": "daytona"}, After: 20 * time.Minute},
		{When: map[string]string{"task.task_type": "build"}, After: 45 * time.Minute},
	}
	rules := c.Policy().Rules
	if diff := cmp.Diff(want, rules["inactive"].Overrides); diff != "" {
		t.Errorf("overrides (-want +got)\n%s", diff)
	}
	if len(rules["over-age"].Overrides) != 1 || rules["errored"].Overrides != nil {
		t.Errorf("overrides of others: %+v, %+v", rules["over-age"].Overrides, rules["errored"].Overrides)
	}
}

func TestCapacityKeys(t *testing.T) {
	cases := map[string]struct {
		text     string
		makeRoom bool
		atRest   int
	}{
		"by default":          {sound, false, 0},
		"asked for":           {sound + "rules: {capacity: {make_room: true, at_rest: 3}}\n", true, 3},
		"of a coding agent":   {strings.Replace(sound, "omoios}", "coding-agent}", 1), false, 0},
		"none in so many":     {sound + "rules: {capacity: {at_rest: 0}}\n", false, 0},
		"said no in so words": {sound + "rules: {capacity: {make_room: false}}\n", false, 0},
	}
	for name, c := range cases {
		if got := mustParse(t, c.text).Policy().Rules["capacity"]; got.MakeRoom != c.makeRoom || got.AtRest != c.atRest {
			t.Errorf("%s: make_room %v, at_rest %d; want %v, %d", name, got.MakeRoom, got.AtRest, c.makeRoom, c.atRest)
		}
	}
}

func TestWebhookConfig(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	if err := os.WriteFile(file, []byte(webhookKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := env(map[string]string{"DATABASE_URL": "postgres://db.example/x", "TOKEN": "t", "KEY": webhookKey})
	with := func(section string) string {
		return strings.Replace(sound, "tasks: {preset: omoios}", "tasks: {preset: omoios, webhook: "+section+"}", 1)
	}
	good := map[string]struct {
		section string
		timeout time.Duration
		warns   string
	}{
		"a secret":            {`{url: "https://p.example/hook", secret: "${KEY}"}`, 10 * time.Second, ""},
		"a file, and a time":  {`{url: "https://p.example/hook", secret_file: "` + file + `", timeout: 15s}`, 15 * time.Second, ""},
		"at home":             {`{url: "http://127.0.0.1:8000/hook", secret: "${KEY}", timeout: 100ms}`, 100 * time.Millisecond, ""},
		"over an open street": {`{url: "http://p.example/hook", secret: "${KEY}"}`, 10 * time.Second, "unencrypted"},
	}
	for name, tt := range good {
		c, err := Parse(filepath.Join(dir, "c.yaml"), []byte(with(tt.section)), getenv)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w := c.Tasks.Webhook
		if w.Secret.Reveal() != webhookKey || w.Timeout != tt.timeout || strings.Contains(fmt.Sprintf("%+v", c), webhookKey) {
			t.Errorf("%s: %+v", name, w)
		}
		if (len(c.Warnings) > 0) != (tt.warns != "") || !strings.Contains(c.Warnings.Error(), tt.warns) {
			t.Errorf("%s: Warnings = %v, want %q", name, c.Warnings, tt.warns)
		}
		if read := strings.Contains(tt.section, "_file"); read != (len(c.Files) == 2) {
			t.Errorf("%s: Files = %q", name, c.Files)
		}
	}
	for section, want := range map[string]string{
		`{secret: "${KEY}"}`:                                                        "tasks.webhook.url: is not given",
		`{url: "https://p.example"}`:                                                "tasks.webhook.secret: is not given",
		`{url: "p.example/hook", secret: "${KEY}"}`:                                 "tasks.webhook.url: is not an address",
		`{url: "ftp://p.example/hook", secret: "${KEY}"}`:                           "tasks.webhook.url: is not an address",
		`{url: "https://a:b@p.example/hook", secret: "${KEY}"}`:                     "tasks.webhook.url: holds a credential",
		`{url: "https://p.example", secret: "${KEY}", timeout: 15001ms}`:            "above the cap of 15s",
		`{url: "https://p.example", secret: "${KEY}", timeout: 99ms}`:               "is below 100ms",
		`{url: "https://p.example", secret: "${KEY}", secret_file: "` + file + `"}`: "is given together with secret",
		`{url: "https://p.example", secret_file: nowhere}`:                          "tasks.webhook.secret_file: read",
		`{url: "https://p.example", key: "${KEY}"}`:                                 `unknown key "key"`,
	} {
		_, err := Parse(filepath.Join(dir, "c.yaml"), []byte(with(section)), getenv)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), webhookKey) {
			t.Errorf("%s: %v, want %q", section, err, want)
		}
	}
}

// TestRemediesOfRules: a remedy that the config takes is one that this program carries out.
func TestRemediesOfRules(t *testing.T) {
	cases := map[string]string{ // rule and remedy: what is wrong with it
		"orphan quarantine":                   "",
		"finished-lingering quarantine":       "",
		"errored quarantine":                  "",
		"over-age quarantine":                 "",
		"idle-broken quarantine":              "",
		"template-unusable activate":          "",
		"assigned-stale requeue":              "",
		"heartbeat-lost quarantine":           "no remedy of heartbeat-lost",
		"orphan activate":                     "no remedy of orphan",
		"orphan fail":                         "writes no task row",
		"record-without-container quarantine": "no remedy of record-without-container",
		"systemic terminate":                  "no remedy of systemic",
	}
	for name, want := range cases {
		rule, remedy, _ := strings.Cut(name, " ")
		more := ""
		if rule == "over-age" {
			more = ", after: 10m"
		}
		_, err := Parse("c.yaml", []byte(sound+fmt.Sprintf("rules: {%s: {remedy: %s%s}}\n", rule, remedy, more)), soundEnv)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
