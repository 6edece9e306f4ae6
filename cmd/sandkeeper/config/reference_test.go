package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

var referenceFile = filepath.Join("..", "..", "..", "docs", "configuration-reference.md")

// TestReferenceIsUpToDate: the reference of the config is made of the types that it is read into, as the schema is.
func TestReferenceIsUpToDate(t *testing.T) {
	want := newReference(t).text()
	if *updateSchema {
		if err := os.WriteFile(referenceFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not up to date, run go generate ./cmd/sandkeeper/config (-want +got)\n%s", referenceFile, diff)
	}
}

// A reference writes the page.
type reference struct {
	*testing.T
	says map[string]map[string]string // by type and key, the sentence of the schema
	out  strings.Builder
}

func newReference(t *testing.T) *reference {
	t.Helper()
	type described struct {
		Properties map[string]struct{ Description string }
	}
	var schema struct {
		described
		Defs map[string]described `json:"$defs"`
	}
	if err := json.Unmarshal(configSchema(t), &schema); err != nil {
		t.Fatal(err)
	}
	schema.Defs["Config"] = schema.described
	says := map[string]map[string]string{}
	for name, def := range schema.Defs {
		says[name] = map[string]string{}
		for key, p := range def.Properties {
			says[name][key] = p.Description
		}
	}
	return &reference{T: t, says: says}
}

func (r *reference) printf(form string, args ...any) { fmt.Fprintf(&r.out, form, args...) }

func (r *reference) text() string {
	r.Helper()
	r.printf("# Every key of the config\n\nMade by `go generate ./cmd/sandkeeper/config` from what the program reads. What the keys are for: " +
		"[configuration.md](configuration.md).\n`sandkeeper config show` prints what is in force, and where each value comes from.\n\n" +
		"A duration is written like `30s`, `5m` or `30d`, a percentage like `10%%`, a rate like `20/s`. `${VAR}` and `${VAR:-default}` " +
		"stand for\nvariables of the environment in every value. A floor is the least that is accepted.\n")
	r.section("", withDefaults(reflect.TypeFor[Config]()))
	r.mapped()
	r.rules()
	r.kinds()
	return r.out.String()
}

// section is a table of the keys of a section, and then the sections in it.
func (r *reference) section(path string, usual reflect.Value) {
	title, t := "The file", usual.Type()
	if path != "" {
		title = "`" + path + "`"
	}
	r.printf("\n## %s\n\n| key | type | default | floor | example | what it is |\n|---|---|---|---|---|---|\n", title)
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "" && name != "-" && name != ",inline" {
			r.row(joinKey(path, name), t, t.Field(i), usual.Field(i))
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		of, in := sectionIn(f.Type)
		if !in || of == reflect.TypeFor[RuleConfig]() || of == reflect.TypeFor[providers.API]() {
			continue
		}
		key, below := joinKey(path, f.Tag.Get("yaml")), usual.Field(i)
		if f.Type.Kind() == reflect.Slice {
			key, below = key+"[]", withDefaults(of)
		}
		if !slices.Contains(sameAsBefore, key) {
			r.section(key, below)
		}
	}
}

// sameAsBefore are sections with the keys of the one before.
var sameAsBefore = []string{"tasks.requeue", "providers[].owns.spares", "events.heartbeat[]", "events.waiting[]", "events.finished[]"}

func withDefaults(t reflect.Type) reflect.Value {
	usual := reflect.New(t)
	if v, ok := usual.Interface().(interface{ setDefaults() }); ok {
		v.setDefaults()
	}
	return usual.Elem()
}

// sectionIn is the section that a key holds, or a list of.
func sectionIn(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t, isSection(t)
}

func (r *reference) row(key string, of reflect.Type, f reflect.StructField, usual reflect.Value) {
	name := f.Tag.Get("yaml")
	does := r.says[of.Name()][name]
	if does == "" {
		r.Errorf("no sentence says what %s is", key)
	}
	cells := []string{"`" + name + "`", typeWords(f), usualWords(key, usual), code(floorOf(f)), code(r.example(key, f)), does}
	for i := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(cells[i], "|", `\|`), "\n", " ")
	}
	r.printf("| %s |\n", strings.Join(cells, " | "))
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// typeWords are what may be written.
func typeWords(f reflect.StructField) string {
	if enum := f.Tag.Get("enum"); enum != "" {
		return "one of `" + strings.ReplaceAll(enum, ",", "`, `") + "`"
	}
	switch t := f.Type; {
	case t == reflect.TypeFor[Secret]():
		return "secret"
	case t == reflect.TypeFor[map[string]RuleConfig]():
		return "section for each rule"
	case t.Kind() == reflect.Map:
		return "mapping"
	case t.Kind() == reflect.Slice:
		return "list"
	case isSection(t):
		return "section"
	default:
		return scalarWords(t)
	}
}

func scalarWords(t reflect.Type) string {
	known := map[reflect.Type]string{
		reflect.TypeFor[time.Duration](): "duration", reflect.TypeFor[Threshold](): "duration or `auto`", reflect.TypeFor[Percent](): "percentage", reflect.TypeFor[Rate](): "rate",
		reflect.TypeFor[CronLine](): "cron line", reflect.TypeFor[reconcile.Mode](): "one of `off`, `observe`, `enforce`",
		reflect.TypeFor[bool](): "`true` or `false`", reflect.TypeFor[int](): "whole number", reflect.TypeFor[float64](): "number",
	}
	if words := known[t]; words != "" {
		return words
	}
	if t.Kind() == reflect.Int { // the level of the log
		return "one of `debug`, `info`, `warn`, `error`"
	}
	return "text"
}

func usualWords(key string, usual reflect.Value) string {
	switch {
	case key == "tasks.database":
		return "that of `database`"
	case key == "log.level":
		return "`info`"
	case key == "tasks.preset":
		return "`none`"
	case usual.IsZero() || isSection(usual.Type()) || usual.Kind() == reflect.Map || usual.Kind() == reflect.Slice:
		return ""
	}
	return code(fmt.Sprint(shownAs(usual)))
}

func floorOf(f reflect.StructField) string { return f.Tag.Get("min") }

// referenceExamples are of keys whose type says too little.
var referenceExamples = map[string]string{
	"installation": "prod-eu", "mode": "observe", "retention": "90d", "schedule.full": `"@every 2m"`, "schedule.quick": `"@every 15s"`,
	"providers[].timeout": "10s", "providers[].probe.timeout": "5s", "providers[].probe.budget": "50/m", "tasks.webhook.timeout": "10s",
	"database": "${DATABASE_URL}", "database_file": "/run/secrets/ledger-url",
	"operator_key_file": "/etc/sandkeeper/operator.key", "rules": "{orphan: enforce}", "providers": "see below", "tasks": "none", "events": "none",
	"tasks.database": "${TASKS_DATABASE_URL}", "tasks.database_file": "/run/secrets/tasks-url", "tasks.table": "public.tasks",
	"tasks.from": "public.tasks_for_sandkeeper", "tasks.key": "id", "tasks.where": "NOT archived", "tasks.timezone": "Europe/Berlin",
	"tasks.columns": "{id: id, status: status, sandbox: sandbox_id}", "tasks.statuses": "{running: [running, busy]}",
	"tasks.fail": `{status: failed, set: {error: "@reason"}}`, "tasks.requeue": "{status: pending, set: {sandbox_id: \"NULL\"}}", "tasks.notify": "task_changed",
	"tasks.explained_by": "[{table: public.specs, key: id, label: spec_id}]", "tasks.explained_by[].table": "public.specs",
	"tasks.explained_by[].key": "id", "tasks.explained_by[].where": "status = 'open'", "tasks.explained_by[].label": "spec_id",
	"tasks.webhook": "{url: https://…, secret_file: hook.key}", "tasks.webhook.url": "https://api.example.com/hook", "tasks.webhook.secret": "${HOOK_KEY}",
	"tasks.webhook.secret_file": "hook.key", "tasks.fail.status": "failed", "tasks.fail.set": `{error: "@reason", ended_at: "@now"}`,
	"tasks.fail.sql": `["INSERT INTO notes (task, what) VALUES (@id, @reason)"]`, "events.table": "public.sandbox_events",
	"events.from": "SELECT * FROM public.events", "events.columns": "{sandbox: sandbox_id, type: event_type, at: created_at}",
	"events.set": `{source: "'system'"}`, "events.started": "[agent.started]", "events.heartbeat": "[agent.heartbeat]", "events.waiting": "[agent.waiting]",
	"events.finished": "[agent.completed]", "events.started[].type": "agent.started", "events.started[].where": "data->>'ok' = 'true'",
	"providers[].name": "daytona", "providers[].each": "[eu-1, us-1]", "providers[].each_file": "engines.txt", "providers[].rows": `["pool-{each}-*"]`,
	"providers[].kind": "daytona", "providers[].url": "https://app.daytona.io/api", "providers[].token": "${DAYTONA_API_KEY}",
	"providers[].token_file": "/run/secrets/daytona", "providers[].hosts": `["*.example.com"]`, "providers[].owns": "{labels: {project: mine}}",
	"providers[].link": "{task_label: task_id}", "providers[].templates": "[agent-small]", "providers[].probe": "off",
	"providers[].api": "see generic.md", "providers[].owns.labels": "{project: mine}", "providers[].owns.name_prefix": "mine-",
	"providers[].owns.except": "{labels: {role: gateway}}", "providers[].owns.spares": "{labels: {pool: warm}}",
	"providers[].owns.except.labels": "{role: gateway}", "providers[].owns.except.without_label": "task_id",
	"providers[].owns.except.name_prefix": "builder-", "providers[].owns.except.templates": "[gateway]", "providers[].link.task_label": "task_id",
	"providers[].link.tenant_label": "org", "providers[].link.key_file": "label.key", "providers[].link.sandbox": "id",
	"providers[].probe.exec": `"true"`, "providers[].probe.path": "/", "providers[].probe.worker": "pgrep -f worker.py",
	"web.listen": "127.0.0.1:8080", "web.health": ":8081", "web.config_file": "web.yml", "web.hosts": "[sandkeeper.example.com]", "web.operators": "[ana]",
	"web.trusted_proxies": "[10.0.0.0/8]", "alerts.notify": "[https://hooks.example.com/x]", "schedule": `{full: "@every 2m"}`,
	"tasks.fail.call": "{url: \"https://…/{id}/cancel\", token_file: platform.token}", "tasks.fail.call.url": "https://api.example.com/tasks/{id}/cancel",
	"tasks.fail.call.token": "${PLATFORM_TOKEN}", "tasks.fail.call.token_file": "platform.token", "tasks.fail.call.header": "X-Api-Key",
	"tasks.fail.call.secret": "${CALL_KEY}", "tasks.fail.call.secret_file": "call.key", "tasks.fail.call.body": `{reason: "@reason"}`,
	"providers[].prices": "[{cpu: 4, memory_gib: 8, per_hour: 0.32}]", "providers[].prices[].template": "agent-large",
	"providers[].prices[].region": "eu", "providers[].prices[].cpu": "4", "providers[].prices[].memory_gib": "8",
	"providers[].prices[].gpu": "1", "web.public_url": "https://sandkeeper.example.com", "alerts.labels": "[cluster, namespace]",
	"alerts.dashboard_url": "https://grafana.example.com/d/sandkeeper", "alerts.runbooks_url": "https://wiki.example.com/sandkeeper",
	"alerts.notify[].url": "https://hooks.example.com/x", "alerts.notify[].url_file": "/run/secrets/hook", "alerts.notify[].name": "on-call",
	"alerts.notify[].events": "[incident, breaker]", "alerts.notify[].secret": "${NOTIFY_KEY}", "alerts.notify[].secret_file": "notify.key",
	"limits": "{per_pass: 20}", "canary": "{template: agent-small}", "canary.template": "agent-small", "canary.provider": "daytona",
	"canary.per_day": "24", "canary.every": "1h", "canary.within": "20m", "proof": "off", "proof.false_positives": "2%", "proof.samples": "200", "web": `{listen: "127.0.0.1:8080"}`, "alerts": "{notify: []}", "log": "{level: info}",
	"telemetry": "{endpoint: http://collector:4318}", "telemetry.endpoint": "http://collector:4318",
	"telemetry.headers": "authorization=Bearer ${OTLP_TOKEN}", "telemetry.headers_file": "/run/secrets/otlp", "telemetry.send": "[traces]",
}

func (r *reference) example(key string, f reflect.StructField) string {
	if e := referenceExamples[key]; e != "" {
		return e
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		first, _, _ := strings.Cut(enum, ",")
		return first
	}
	known := map[reflect.Type]string{
		reflect.TypeFor[time.Duration](): "10m", reflect.TypeFor[Threshold](): "10m", reflect.TypeFor[Percent](): "10%", reflect.TypeFor[Rate](): "20/s",
		reflect.TypeFor[CronLine](): `"@every 1m"`, reflect.TypeFor[reconcile.Mode](): "enforce", reflect.TypeFor[bool](): "true",
		reflect.TypeFor[int](): "20", reflect.TypeFor[float64](): "0.08",
	}
	e := known[f.Type]
	if e == "" && f.Type.Kind() == reflect.Int {
		e = "warn"
	}
	if e == "" {
		r.Errorf("%s has no example: add one to referenceExamples", key)
	}
	return e
}

// rules are the keys of one rule, and what each rule has by default.
func (r *reference) rules() {
	r.printf("\n## `rules.NAME`\n\nA rule may also be given as its mode: `orphan: enforce`.\n\n| key | type | floor | rules | what it is |\n|---|---|---|---|---|\n")
	t := reflect.TypeFor[RuleConfig]()
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		var readers []string
		for k := range reconcile.Rules {
			if slices.Contains(reconcile.Rules[k].Keys, name) {
				readers = append(readers, "`"+reconcile.Rules[k].Name+"`")
			}
		}
		floor, of := "", strings.Join(readers, ", ")
		if least, counted := countFloors[name]; counted {
			floor = code(fmt.Sprint(least))
		} else if f.Type == reflect.TypeFor[time.Duration]() && name != "after" {
			floor = "`1s`"
		}
		words := typeWords(f)
		if name == "remedy" {
			words = "one of `" + strings.ReplaceAll(joinWords(remedyWords), ", ", "`, `") + "`"
		}
		if of == "" {
			of = "all"
		}
		r.printf("| `%s` | %s | %s | %s | %s |\n", name, words, floor, of, strings.ReplaceAll(r.says["RuleConfig"][name], "\n", " "))
	}
	r.printf("\n| rule | `after` | floor | runs | remedies, the default first |\n|---|---|---|---|---|\n")
	for i := range reconcile.Rules {
		s := &reconcile.Rules[i]
		after, runs := "at once", "by default"
		if s.Default.After > 0 {
			after = code(text.Exact(s.Default.After))
		} else if s.Must {
			after = "must be given"
		}
		if s.Off {
			runs = "when it is named"
		}
		r.printf("| [`%s`](rules/%s.md) | %s | `%s` | %s | `%s` |\n", s.Name, s.Name, after, text.Exact(max(s.Floor, time.Second)), runs,
			strings.ReplaceAll(joinWords(s.Remedies), ", ", "`, `"))
	}
}

// kinds are the keys that only some kinds of providers have.
func (r *reference) kinds() {
	r.printf("\n## Keys of single kinds of providers\n\nOf a key that is a credential, `NAME_file` names a file that holds it.\n\n" +
		"| key | kind | what it is |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(ownKeys)) {
		for _, kind := range ownKeys[name] {
			key, found := providers.KeysOf(kind).Find(name)
			if !found {
				continue // the file of a credential
			}
			does := key.Doc
			if key.Default != "" {
				does += " Default: `" + key.Default + "`."
			}
			r.printf("| `%s` | %s | %s |\n", name, kind, strings.ReplaceAll(does, "|", `\|`))
		}
	}
	r.printf("\n`api`, of kind generic alone, is described in [generic.md](generic.md).\n")
}
