package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

func mustParse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("c.yaml", []byte(text), soundEnv)
	if err != nil {
		t.Fatalf("Parse of\n%s\n%v", text, err)
	}
	return c
}

func TestRulesOfTheFile(t *testing.T) {
	orphan := reconcile.RulePolicy{
		Mode: reconcile.Observe, Named: true, Rollout: 100, Remedy: reconcile.Terminate,
		After: 5 * time.Minute, Sightings: 2, Apart: time.Minute,
	}
	with := func(change func(*reconcile.RulePolicy)) reconcile.RulePolicy {
		p := orphan
		change(&p)
		return p
	}
	type rule = reconcile.RulePolicy
	tests := map[string]struct {
		text string
		want rule
	}{
		"only named":     {"rules: {orphan: }", orphan},
		"named as empty": {"rules: {orphan: {}}", orphan},
		"not named":      {"rules: {errored: off}", with(func(p *rule) { p.Named = false })},
		"not named, default off": {"mode: off",
			with(func(p *rule) { p.Named, p.Mode = false, reconcile.Off })},
		"not named, default YAML's false": {"mode: false",
			with(func(p *rule) { p.Named, p.Mode = false, reconcile.Off })},
		"not named, default enforce": {"mode: enforce",
			with(func(p *rule) { p.Named, p.Mode = false, reconcile.Enforce })},
		"named, default enforce": {"mode: enforce\nrules: {orphan: {after: 30s}}",
			with(func(p *rule) { p.Mode, p.After = reconcile.Enforce, 30*time.Second })},
		"a bare mode":       {"rules: {orphan: enforce}", with(func(p *rule) { p.Mode = reconcile.Enforce })},
		"a bare off":        {"rules: {orphan: off}", with(func(p *rule) { p.Mode = reconcile.Off })},
		"a bare YAML false": {"rules: {orphan: false}", with(func(p *rule) { p.Mode = reconcile.Off })},
		"a mode by a variable": {"rules: {orphan: \"${MODE:-enforce}\"}",
			with(func(p *rule) { p.Mode = reconcile.Enforce })},
		"all its own keys on their floors": {
			"rules: {orphan: {mode: enforce, after: 30s, sightings: 2, apart: 1s, rollout: 0, remedy: report}}",
			rule{Mode: reconcile.Enforce, Named: true, Remedy: reconcile.Report,
				After: 30 * time.Second, Sightings: 2, Apart: time.Second}},
		"an override": {"rules: {orphan: {overrides: [{when: {template: gpu, provider: daytona}, after: 15m}]}}",
			with(func(p *rule) {
				p.Overrides = []reconcile.Override{
					{When: map[string]string{"template": "gpu", "provider": "daytona"}, After: 15 * time.Minute},
				}
			})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustParse(t, sound+tt.text+"\n").Policy().Rules["orphan"]
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("orphan with %s (-want +got)\n%s", tt.text, diff)
			}
		})
	}
}

// TestCapacityHasNoNumbers: how many sandboxes are too many is never assumed, under any preset,
// and what is not set is set by 0 too.
func TestCapacityHasNoNumbers(t *testing.T) {
	for _, preset := range []string{"omoios}", "coding-agent}"} {
		text := strings.Replace(sound, "omoios}", preset, 1)
		for _, text := range []string{text, text + "rules: {capacity: observe}\n",
			text + "rules: {capacity: {critical: 0, escalate: 0, at_rest: 0}}\n"} {
			got := mustParse(t, text).Policy().Rules["capacity"]
			if got.Critical != 0 || got.Escalate != 0 || got.AtRest != 0 || got.For != 30*time.Minute || got.Quota != 80 {
				t.Errorf("capacity = %+v, want only for: 30m and quota: 80%%, of\n%s", got, text)
			}
		}
	}
}

func TestFloorsFromAbove(t *testing.T) {
	rules := mustParse(t, sound+`rules:
  assigned-stale: {after: 10s}
  heartbeat-lost: {after: 30s}
  idle-broken: {after: 5s, failures: 2}
  sandbox-missing: {after: 1s, looks: 2}
  finished-unrecorded: {after: 0}
  over-age: {after: 1s}
  capacity: {critical: 1, escalate: 1, for: 1s, quota: 0.5%}
  systemic: {count: 2, window: 1s}
  template-unusable: {ahead: 1s, remedy: activate}
`).Policy().Rules
	if got := rules["assigned-stale"].After; got != 10*time.Second {
		t.Errorf("assigned-stale.after = %v, want 10s", got)
	}
	if got := rules["idle-broken"]; got.After != 5*time.Second || got.Failures != 2 {
		t.Errorf("idle-broken = %v after %d, want 5s after 2", got.After, got.Failures)
	}
	if got := rules["capacity"]; got.Quota != 1 || got.Critical != 1 || got.For != time.Second {
		t.Errorf("capacity = %+v, want a quota of 1 (rounded), 1 critical, for 1s", got)
	}
	if got := rules["template-unusable"].Remedy; got != reconcile.Activate {
		t.Errorf("template-unusable.remedy = %v, want activate", got)
	}
}

func TestRulesOffByDefault(t *testing.T) {
	for text, want := range map[string]reconcile.Mode{
		"mode: enforce": reconcile.Off,
		"mode: enforce\nrules: {over-age: {after: 1h}}":     reconcile.Enforce,
		"rules: {over-age: {after: 1h, mode: enforce}}":     reconcile.Enforce,
		"rules: {over-age: off}":                            reconcile.Off,
		"mode: off\nrules: {over-age: {after: 1h}}":         reconcile.Off,
		"rules: {over-age: {after: 1h}}":                    reconcile.Observe,
		"mode: observe\nrules: {over-age: {after: 10m}}":    reconcile.Observe,
		"mode: enforce\nrules: {over-age: {mode: off}}":     reconcile.Off,
		"mode: enforce\nrules: {runaway: {mode: off}}":      reconcile.Off,
		"mode: enforce\nrules: {orphan: off, errored: off}": reconcile.Off,
	} {
		if got := mustParse(t, sound+text+"\n").Policy().Rules["over-age"].Mode; got != want {
			t.Errorf("over-age with %q = %s, want %s", text, got, want)
		}
	}
}

func TestPresetsMoveThresholds(t *testing.T) {
	c := mustParse(t, strings.Replace(sound, "preset: omoios", "preset: coding-agent", 1))
	rules := c.Policy().Rules
	if got := rules["inactive"].After; got != time.Minute {
		t.Errorf("inactive.after of coding-agent = %v, want 1m", got)
	}
	if got := rules["deadline-exceeded"].After; got != 5*time.Minute {
		t.Errorf("deadline-exceeded.after of coding-agent = %v, want 5m", got)
	}
	c = mustParse(t, strings.Replace(sound, "preset: omoios", "preset: prefect", 1))
	if got := c.Policy().Rules["heartbeat-lost"].After; got != 9*time.Minute {
		t.Errorf("heartbeat-lost.after of prefect, whose runs send one every 180 s, = %v, want 9m", got)
	}
}

// TestShapes: a class of platforms, the config's own or the preset's, sets what the config leaves open.
func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"preset: omoios":                                      "terminate observe 5m0s keep=false many=false",
		"preset: omoios, shape: workspace":                    "stop off 5m0s keep=true many=false",
		"preset: omoios, shape: workspace, sandboxes: end":    "stop off 5m0s keep=false many=false",
		"preset: kortix":                                      "stop off 1h0m0s keep=true many=false",
		"preset: kortix, shape: task-per-sandbox":             "terminate observe 1h0m0s keep=false many=false",
		"preset: garm":                                        "terminate off 1h0m0s keep=false many=false",
		"preset: omoios, shape: queue-workers":                "report off 5m0s keep=true many=true",
		"preset: omoios, shape: queue-workers, per_task: one": "report off 5m0s keep=true many=false",
	} {
		c := mustParse(t, strings.Replace(sound, "preset: omoios", text, 1))
		p := c.Policy()
		got := fmt.Sprintf("%s %s %s keep=%t many=%t", p.Rules["orphan"].Remedy, p.Rules["inactive"].Mode, p.Rules["orphan"].After,
			p.Tasks.KeepSandboxes, c.Mapping().Many)
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	c := mustParse(t, strings.Replace(sound, "preset: omoios", "preset: omoios, shape: workspace", 1)+
		"rules: {orphan: {remedy: terminate, after: 9m}, inactive: enforce}\n")
	if r := c.Policy().Rules; r["orphan"].Remedy != reconcile.Terminate || r["orphan"].After != 9*time.Minute ||
		r["inactive"].Mode != reconcile.Enforce {
		t.Errorf("what the config says does not win: %+v, %+v", r["orphan"], r["inactive"])
	}
}

// TestStopWhereNobodyCan: of a class it is a report where one provider cannot stop; a config that asks for it is refused.
func TestStopWhereNobodyCan(t *testing.T) {
	workspace := strings.Replace(sound, "preset: omoios", "preset: omoios, shape: workspace", 1)
	vercel := "  - {name: v, kind: vercel, token: x, team: t, project: p, owns: {labels: {a: b}}, link: {sandbox: id}}\n"
	rules := mustParse(t, workspace+vercel).Policy().Rules
	for _, name := range []string{"orphan", "stop-ignored", "finished-lingering"} {
		if got := rules[name].Remedy; got != reconcile.Report {
			t.Errorf("remedy of %s = %s, want report: vercel cannot stop", name, got)
		}
	}
	chosen := workspace + vercel + "rules: {orphan: {remedy: stop}}\n"
	_, err := Parse("c.yaml", []byte(chosen), soundEnv)
	if err == nil || !strings.Contains(err.Error(), `rules.orphan.remedy: stop cannot be done at the provider "v"`) {
		t.Errorf("it is chosen, and taken: %v", err)
	}
	held := strings.Replace(chosen, "link: {sandbox: id}", "quarantine: hold, link: {sandbox: id}", 1)
	if got := mustParse(t, held).Policy().Rules["orphan"].Remedy; got != reconcile.Stop {
		t.Errorf("with quarantine: hold the remedy is %s, want stop", got)
	}
	if _, err := Parse("c.yaml", []byte(sound+"rules: {errored: {remedy: stop}}\n"), soundEnv); err == nil {
		t.Error("what has failed cannot be stopped, and errored took it")
	}
}

func TestSandboxSideOnly(t *testing.T) {
	c := mustParse(t, `installation: lab
database: "host=/run/postgresql dbname=lab"
tasks: none
providers:
  - {name: here, kind: docker, owns: {name_prefix: lab-}, probe: off, rate: 1000/h}
rules: {assigned-stale: observe, orphan: observe}
`)
	p := c.Policy()
	if diff := cmp.Diff(reconcile.TasksPolicy{None: true}, p.Tasks); diff != "" {
		t.Errorf("Tasks (-want +got)\n%s", diff)
	}
	if got := p.Rules["idle-broken"].Remedy; got != reconcile.Terminate {
		t.Errorf("remedy of idle-broken without tasks = %s, want terminate", got)
	}
	if got := p.Rules["orphan"].Remedy; got != reconcile.Terminate {
		t.Errorf("remedy of orphan = %s, want terminate", got)
	}
	want := []providers.Entry{{
		Name: "here", Kind: "docker", URL: "unix:///var/run/docker.sock", Owns: providers.Owns{NamePrefix: "lab-"},
		Rate: 1000.0 / 3600, Timeout: 10 * time.Second, Probe: reconcile.ProbePolicy{Off: true},
	}}
	if diff := cmp.Diff(want, c.Entries()); diff != "" {
		t.Errorf("Entries (-want +got)\n%s", diff)
	}
	wantWarning := "c.yaml:6:9: rules.assigned-stale: finds nothing with tasks: none; remove it\n" +
		"c.yaml:6:34: rules.orphan: finds nothing with tasks: none; remove it"
	if got := c.Warnings.Error(); got != wantWarning {
		t.Errorf("Warnings = %s, want %s", got, wantWarning)
	}
}

func TestKindsHaveTheirOwnKeys(t *testing.T) {
	vercel := "kind: vercel\n    team: t_1\n    project: ${PRJ:-p_1}\n"
	c := mustParse(t, strings.Replace(sound, "kind: daytona\n", vercel, 1))
	e := c.Entries()[0]
	if diff := cmp.Diff(map[string]string{"team": "t_1", "project": "p_1"}, e.Extra); diff != "" {
		t.Errorf("Extra (-want +got)\n%s", diff)
	}
	if e.URL != "https://api.vercel.com" {
		t.Errorf("URL = %s, want the default of the kind", e.URL)
	}
}

func TestLinkThatNamesSandboxes(t *testing.T) {
	c := mustParse(t, strings.Replace(sound, "{task_label: task_id}", "{sandbox: id}", 1))
	p := c.Policy()
	if got := p.Providers["daytona"]; !got.LinkSandbox || !got.SandboxIsID || got.LinkTask || !p.Tasks.SandboxKnown {
		t.Errorf("policy of sandbox: id = %+v, %+v", got, p.Tasks)
	}
	c = mustParse(t, strings.Replace(sound, "{task_label: task_id}", "{sandbox: \"label:key\", task_label: t}", 1))
	if got := c.Policy().Providers["daytona"]; !got.LinkSandbox || got.SandboxIsID || !got.LinkTask {
		t.Errorf("policy of sandbox: label:key = %+v", got)
	}
}

func TestMappingCompiles(t *testing.T) {
	getenv := env(map[string]string{"DATABASE_URL": "postgres://l/m", "TASKS_DATABASE_URL": "postgres://t/m", "DAYTONA_API_KEY": "dtn_1"})
	for _, path := range []string{"testdata/reference.yaml", "../../../deploy/examples/omoios-daytona/sandkeeper.yaml"} {
		if _, err := tasks.Compile(mustLoad(t, path, getenv).Mapping().WithPreset()); err != nil {
			t.Errorf("the mapping of %s: %v", path, err)
		}
	}
	c := mustParse(t, sound+"rules: {assigned-stale: {overrides: [{when: {task.type: build, task.a: b}, after: 15m}]}}\n")
	if diff := cmp.Diff([]string{"a", "type"}, c.Mapping().Attrs); diff != "" {
		t.Errorf("columns that overrides ask for (-want +got)\n%s", diff)
	}
	if p := mustParse(t, sound+"events: none\n").Policy(); p.Tasks.Events || p.Tasks.Heartbeats {
		t.Errorf("Tasks with events: none = %+v, want no events", p.Tasks)
	}
}

func TestWarnings(t *testing.T) {
	again := func(token, owns string) string {
		return "  - {name: again, kind: daytona, token: \"${" + token + "}\", owns: " + owns + ", link: {task_label: task_id}}"
	}
	tests := map[string]struct {
		add  string
		want string // of which file and line and key, and how it begins
	}{
		"nothing odd":                 {"", ""},
		"quick rarer than full":       {`schedule: {quick: "@every 3m"}`, "c.yaml:10:12: schedule.quick: quick passes"},
		"quick as often as full":      {`schedule: {quick: "@every 2m"}`, ""},
		"orphans due before a look":   {`schedule: {full: "@every 301s"}`, "c.yaml:1:1: rules.orphan.after: 5m is shorter"},
		"orphans due after one look":  {`schedule: {full: "@every 5m"}`, ""},
		"less than three heartbeats":  {"rules: {heartbeat-lost: {after: 89s}}", "c.yaml:10:26: rules.heartbeat-lost"},
		"three heartbeats":            {"rules: {heartbeat-lost: {after: 90s}}", ""},
		"an open page":                {`web: {listen: ":8080"}`, "c.yaml:10:7: web.listen: run and serve refuse to show the page"},
		"an open page with users":     {`web: {listen: ":8080", config_file: web.yml}`, ""},
		"a page on another loopback":  {`web: {listen: "[::1]:8080"}`, ""},
		"history of less than passes": {"retention: 1m", "c.yaml:10:1: retention: is shorter"},
		"history of two passes":       {"retention: 4m", "c.yaml:10:1: retention: 4m is shorter than 7d"},
		"history of a week":           {"retention: 7d", ""},
		"no probes for idle-broken":   {"    probe: off\nrules: {idle-broken: enforce}", "c.yaml:10:5: providers[0].probe"},
		"no probes":                   {"    probe: off", ""},
		"room for nobody":             {"rules: {capacity: {make_room: true}}", "c.yaml:10:20: rules.capacity.make_room: makes no room"},
		"room that is made":           {"rules: {capacity: {mode: enforce, make_room: true}}", ""},
		"a token in the open":         {"    url: http://d.example", "c.yaml:10:5: providers[0].url: the token goes"},
		"the same account twice":      {again("TOKEN", "{labels: {more: x}}"), `c.yaml:10:5: providers[1]: shows the same sandboxes as "daytona"`},
		"two accounts":                {again("OTHER:-other", "{labels: {more: x}}"), ""},
		"one account, told apart":     {again("TOKEN", "{labels: {project: else}}"), ""},
		"a token that stays at home":  {"    url: http://127.0.0.1:8080", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustParse(t, sound+tt.add+"\n").Warnings
			if tt.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || tt.want == "" || !strings.HasPrefix(got[0].Error(), tt.want) {
				t.Errorf("Warnings = %q, want %q", got.Error(), tt.want)
			}
		})
	}
}

// What an entry excepts reaches its adapter, and tells it apart from an entry for just that.
func TestExceptOfAnEntry(t *testing.T) {
	const owns = "    owns: {labels: {project: omoios}}\n"
	c := mustParse(t, strings.Replace(sound, owns,
		"    owns: {labels: {project: omoios}, except: {labels: {type: spec}, name_prefix: gw-, templates: [base]},\n"+
			"      spares: {without_label: task_id}}\n", 1)+
		"  - {name: specs, kind: daytona, token: \"${TOKEN}\", owns: {labels: {project: omoios, type: spec}}, "+
		"link: {task_label: spec_id}}\n")
	want := providers.Class{Labels: map[string]string{"type": "spec"}, NamePrefix: "gw-", Templates: []string{"base"}}
	if diff := cmp.Diff(want, c.Entries()[0].Owns.Except); diff != "" {
		t.Errorf("Except (-want +got)\n%s", diff)
	}
	if got := c.Entries()[0].Owns.Spares; got.WithoutLabel != "task_id" {
		t.Errorf("Spares = %+v", got)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("Warnings = %v, want none: no sandbox is at both", c.Warnings)
	}
}

// The command for the worker reaches the keeper; one that would find itself is warned of.
func TestWorkerOfAnEntry(t *testing.T) {
	for command, warned := range map[string]bool{
		"pgrep -f '[w]orker.py'": false, "pgrep -f worker.py": true, "pgrep -u me -fl worker.py": true,
		"pgrep --full worker.py": true, "pgrep worker": false, "test -d /proc/7": false, "kill -0 7 -f": false,
	} {
		c := mustParse(t, sound+"    probe: {worker: \""+command+"\"}\n")
		if got := c.Policy().Providers["daytona"].Probe; got.Worker != command || got.Exec != "true" {
			t.Errorf("%s: probes by %+v, want the command besides exec", command, got)
		}
		if len(c.Warnings) > 0 != warned {
			t.Errorf("%s: Warnings = %v, want some: %t", command, c.Warnings, warned)
		}
	}
}

// One who says that what a rule would quarantine may wait at a provider is taken at the word.
func TestQuarantineMayWait(t *testing.T) {
	c := mustParse(t, sound+"  - {name: v, kind: vercel, token: t, owns: {labels: {a: b}}, link: {task_label: x}, team: t, "+
		"project: p, quarantine: hold}\nrules: {orphan: {remedy: quarantine}}\n")
	if got := c.Policy().Rules["orphan"].Remedy; got != reconcile.Quarantine {
		t.Errorf("remedy = %s, want quarantine", got)
	}
}

// What an entry says of its link and of rest is kept on the safe side where it says nothing.
func TestLinkAndRestOfAnEntry(t *testing.T) {
	const link = "    link: {task_label: task_id}\n"
	for _, c := range []struct {
		with               string
		required, endsRest bool
	}{
		{link, false, false},
		{"    link: {task_label: task_id, required: false}\n    at_rest: keep\n", false, false},
		{"    link: {task_label: task_id, required: true}\n", true, false},
		{link + "    at_rest: terminate\n", false, true},
	} {
		got := mustParse(t, strings.Replace(sound, link, c.with, 1)).Policy().Providers["daytona"]
		if got.LinkRequired != c.required || got.EndsAtRest != c.endsRest {
			t.Errorf("%q: link required %v, ends at rest %v; want %v, %v", c.with, got.LinkRequired, got.EndsAtRest,
				c.required, c.endsRest)
		}
	}
}

// TestRepairsThatAreNone: `fail: none` takes also what a preset would write, and `sandboxes: keep` and `per_task: many`
// come to where they count.
func TestRepairsThatAreNone(t *testing.T) {
	c := mustParse(t, strings.Replace(sound, "{preset: omoios}", "{preset: omoios, fail: none, sandboxes: keep, per_task: many}", 1))
	m, p := c.Mapping().WithPreset(), c.Policy().Tasks
	if m.Fail.Status != "" || len(m.Fail.Set)+len(m.Requeue.Set) > 0 || !m.Many || p.FailsRows || !p.KeepSandboxes {
		t.Errorf("mapping = %+v, %+v, many: %v; policy = %+v", m.Fail, m.Requeue, m.Many, p)
	}
	c = mustParse(t, sound)
	if p := c.Policy().Tasks; !p.FailsRows || p.KeepSandboxes || c.Mapping().Many {
		t.Errorf("without them: %+v", p)
	}
	c = mustParse(t, strings.Replace(sound, "{preset: omoios}", "{preset: omoios, fail: {sql: [\"UPDATE public.tasks SET status = @reason\"]}}", 1))
	if m := c.Mapping().WithPreset(); m.Fail.Status != "" || len(m.Fail.SQL) != 1 || !c.Policy().Tasks.FailsRows {
		t.Errorf("statements alone: %+v", m.Fail)
	}
}
