package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sound is a config without a mistake; each case below breaks some of it.
const sound = `installation: prod
database: ${DATABASE_URL}
tasks: {preset: omoios}
providers:
  - name: daytona
    kind: daytona
    token: ${TOKEN}
    owns: {labels: {project: omoios}}
    link: {task_label: task_id}
`

var soundEnv = env(map[string]string{
	"DATABASE_URL": "postgres://db.example/x", "TOKEN": "t0ken", "EMPTY": "", "ODD": "odd\nmode: enforce",
})

// A broken config is the sound one with one line replaced, and with text behind it.
type brokenConfig struct {
	replace, with string // a line of sound, and what stands instead; "" removes it
	add           string // behind
	want          []string
}

func (b brokenConfig) text() string {
	text := sound
	if b.replace != "" {
		text = strings.Replace(text, b.replace+"\n", strings.TrimSuffix(b.with, "\n")+"\n", 1)
	}
	return text + b.add
}

func TestBrokenConfigs(t *testing.T) {
	for _, group := range []map[string]brokenConfig{
		brokenShapes, brokenValues, brokenVariables, brokenTasks, brokenProviders, brokenRules, brokenLimits,
	} {
		for name, tt := range group {
			t.Run(name, func(t *testing.T) { checkBroken(t, tt) })
		}
	}
}

func checkBroken(t *testing.T, tt brokenConfig) {
	t.Helper()
	if tt.replace != "" && !strings.Contains(sound, tt.replace+"\n") {
		t.Fatalf("the sound config has no line %q", tt.replace)
	}
	_, err := Parse("c.yaml", []byte(tt.text()), soundEnv)
	var all Errors
	if !errors.As(err, &all) {
		t.Fatalf("Parse = %v, want Errors", err)
	}
	if diff := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("Parse of\n%s\n(-want +got)\n%s", tt.text(), diff)
	}
}

func TestSoundConfigIsSound(t *testing.T) {
	if _, err := Parse("c.yaml", []byte(sound), soundEnv); err != nil {
		t.Errorf("Parse = %v, want no mistake", err)
	}
}

func TestNoConfigAtAll(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"nothing":      {"", "c.yaml:1:1: the config is empty; " + emptyFix},
		"only remarks": {"# nothing\n---\n", "c.yaml:1:1: the config is empty; " + emptyFix},
		"one word":     {"words", `c.yaml:1:1: is one value; must be a mapping: key: value`},
		"a list":       {"- a\n", "c.yaml:1:1: is a list; must be a mapping: key: value"},
		"too large": {strings.Repeat("#", maxSize+1),
			"c.yaml:1:1: is larger than 256 KiB; give the config, not something else"},
		"nothing useful": {"log: {level: info}\n", strings.Join([]string{
			"c.yaml:1:1: installation: is not given; name this installation: it is stamped into the ledger",
			"c.yaml:1:1: database: is not given; give the PostgreSQL URL of the ledger, for example ${DATABASE_URL}",
			"c.yaml:1:1: tasks: is not given; describe the task table, or write tasks: none for sandbox-side rules only",
			"c.yaml:1:1: providers: no provider is given; name at least one: where the sandboxes run",
		}, "\n")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(tt.text), soundEnv)
			if err == nil || err.Error() != tt.want {
				t.Errorf("Parse =\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

var brokenShapes = map[string]brokenConfig{
	"not YAML": {add: "log: [info\n", want: []string{
		"c.yaml:10:6: is not YAML: sequence end token ']' not found; look at the indentation and the " +
			"quotes here",
	}},
	"a variable inside braces without quotes": {add: "web: {listen: ${LISTEN}}\n", want: []string{
		"c.yaml:10:16: is not YAML: ',' or '}' must be specified; close what is open, and put ${…} " +
			"inside {…} in quotes",
	}},
	"a tab": {add: "log:\n\tlevel: info\n", want: []string{
		"c.yaml:11:1: the line is indented with a tab, which YAML does not allow; indent it with spaces",
	}},
	"two documents": {add: "---\nlog: {}\n", want: []string{
		"c.yaml:11:4: a second document begins here; keep one in the file",
	}},
	"many brackets": {add: "log: " + strings.Repeat("[", 40) + "\n", want: []string{
		"c.yaml:10:38: is nested too deep; close what is open, and put brackets in quotes",
	}},
	"an unknown key": {add: "provider: []\n", want: []string{
		`c.yaml:10:1: unknown key "provider"; did you mean "providers"?`,
	}},
	"an unknown key far from all": {add: "zzzzzzzz: 1\n", want: []string{
		`c.yaml:10:1: unknown key "zzzzzzzz"; known are alerts, canary, database, database_file, events, ` +
			"installation, limits, log, mode, operator_key_file, proof, providers, retention, rules, schedule, tasks, " +
			"telemetry, web",
	}},
	"an unknown key below": {add: "schedule: {qick: \"@daily\"}\n", want: []string{
		`c.yaml:10:12: schedule: unknown key "qick"; did you mean "quick"?`,
	}},
	"a key given twice": {add: "database: x\n", want: []string{
		"c.yaml:10:1: database: is given twice; remove it here or in line 2",
	}},
	"a key given twice in one line": {add: "log: {level: info, level: warn}\n", want: []string{
		"c.yaml:10:20: log.level: is given twice; remove it here or in line 10",
	}},
	"an anchor": {add: "log: &l {level: info}\n", want: []string{
		"c.yaml:10:6: log: anchors, aliases and merges are not supported; write the value out",
	}},
	"an alias": {add: "log: *l\n", want: []string{
		"c.yaml:10:6: log: anchors, aliases and merges are not supported; write the value out",
	}},
	"a merge": {add: "log:\n  <<: {level: info}\n", want: []string{
		"c.yaml:11:3: log: anchors, merges and keys that are no plain words are not supported; write the " +
			"keys out",
	}},
	"a tag": {add: "mode: !!str off\n", want: []string{
		"c.yaml:10:7: mode: YAML tags are not supported; remove it; put a text in quotes",
	}},
	"a list for a section": {add: "log: [info]\n", want: []string{
		"c.yaml:10:6: log: is a list; must be a mapping: key: value",
	}},
	"a word for a section": {add: "log: info\n", want: []string{
		"c.yaml:10:6: log: is one value; must be a mapping: key: value",
	}},
	"a mapping for a value": {add: "retention: {days: 3}\n", want: []string{
		"c.yaml:10:12: retention: is a mapping; must be one value like 30s, 5m or 30d",
	}},
	"a mapping for a secret": {replace: "database: ${DATABASE_URL}", with: "database: {url: s3cret}", want: []string{
		"c.yaml:2:11: database: is a mapping; must be one value",
	}},
	"a value for a list": {add: "web: {operators: ana}\n", want: []string{
		"c.yaml:10:18: web.operators: is one value; must be a list: [a, b]",
	}},
	"a list for a number": {add: "limits: {per_pass: [1]}\n", want: []string{
		"c.yaml:10:20: limits.per_pass: is a list; must be a whole number",
	}},
	"a key without value": {add: "retention:\n", want: []string{
		"c.yaml:10:12: retention: has no value; give one, or remove the key",
	}},
	"an element without value": {add: "web: {operators: [~]}\n", want: []string{
		"c.yaml:10:19: web.operators[0]: has no value; give one, or remove the key",
	}},
	"many mistakes at once": {
		replace: "installation: prod", with: "instllation: prod\nmode: enforc",
		add: "rules: {orphn: off}\nlimits: {share: 200%}\n",
		want: []string{
			"c.yaml:1:1: installation: is not given; name this installation: it is stamped into the ledger",
			`c.yaml:1:1: unknown key "instllation"; did you mean "installation"?`,
			`c.yaml:2:7: mode: "enforc" is not one of off, observe, enforce; did you mean "enforce"?`,
			`c.yaml:11:9: rules: unknown rule "orphn"; did you mean "orphan"?`,
			`c.yaml:12:17: limits.share: "200%" is not above 0% and up to 100%; write it like 10%`,
		}},
}

var brokenValues = map[string]brokenConfig{
	"a mode that is none": {add: "mode: enforced\n", want: []string{
		`c.yaml:10:7: mode: "enforced" is not one of off, observe, enforce; did you mean "enforce"?`,
	}},
	"a mode that is true": {add: "mode: true\n", want: []string{
		`c.yaml:10:7: mode: "true" is not a mode; write observe or enforce`,
	}},
	"a duration without unit": {add: "retention: 30\n", want: []string{
		`c.yaml:10:12: retention: "30" has no unit; write it like 30s for seconds, 30m or 30d`,
	}},
	"a duration below zero": {add: "retention: -1h\n", want: []string{
		`c.yaml:10:12: retention: "-1h" is not a duration; write it like 30s, 5m or 30d`,
	}},
	"a retention below the floor": {add: "retention: 59s\n", want: []string{
		`c.yaml:10:12: retention: "59s" is below 1m; use at least 1m`,
	}},
	"a duration of centuries": {add: "retention: 99999d99999h\n", want: []string{
		`c.yaml:10:12: retention: "99999d99999h" is not a duration; write it like 30s, 5m or 30d`,
	}},
	"a level that is none": {add: "log: {level: warning}\n", want: []string{
		`c.yaml:10:14: log.level: "warning" is not one of debug, info, warn, error; did you mean "warn"?`,
	}},
	"a format that is none": {add: "log: {format: yaml}\n", want: []string{
		`c.yaml:10:15: log.format: unknown value "yaml"; known are json, text`,
	}},
	"a number that is none": {add: "limits: {per_pass: many}\n", want: []string{
		`c.yaml:10:20: limits.per_pass: "many" is not a whole number; write it like 20`,
	}},
	"a bool that is none": {add: "events: {write: yes}\n", want: []string{
		`c.yaml:10:17: events.write: "yes" is neither true nor false; write true or false`,
	}},
	"an address that is none": {add: "web: {listen: localhost}\n", want: []string{
		`c.yaml:10:7: web.listen: "localhost" is not an address; write it like 127.0.0.1:8080 or :8080`,
	}},
	"a port that is none": {add: "web: {listen: \"localhost:99999\"}\n", want: []string{
		`c.yaml:10:7: web.listen: "localhost:99999" is not an address; write it like 127.0.0.1:8080 or ` +
			":8080",
	}},
	"a host with more than a name": {add: "web: {hosts: [a.example, \"https://a.example\", \"a:80\", \"\"]}\n", want: []string{
		`c.yaml:10:26: web.hosts[1]: "https://a.example" is not a host name; write it like sandkeeper.example.com, without scheme and port`,
		`c.yaml:10:47: web.hosts[2]: "a:80" is not a host name; write it like sandkeeper.example.com, without scheme and port`,
		`c.yaml:10:55: web.hosts[3]: "" is not a host name; write it like sandkeeper.example.com, without scheme and port`,
	}},
	"a network that is none": {add: "web: {trusted_proxies: [10.0.0.0/8, ten]}\n", want: []string{
		`c.yaml:10:37: web.trusted_proxies[1]: "ten" is not a network; write it like 10.0.0.0/8 or ` +
			"10.1.2.3",
	}},
	"a notification that is no URL": {add: "alerts: {notify: [s3cret]}\n", want: []string{
		"c.yaml:10:19: alerts.notify[0]: is not a URL; write it like https://host/path or slack://hook:...@webhook",
	}},
	"a canary without a template": {add: "canary: {every: 1h}\n", want: []string{
		"c.yaml:10:1: canary.template: is not given; name the template that canaries are made from, or remove canary",
	}},
	"a canary that nothing would end": {add: "canary: {template: light}\n", want: []string{
		"c.yaml:10:1: canary: nothing would end it: the rule orphan is in observe; give rules: {orphan: {mode: enforce, " +
			"remedy: terminate}}, or remove canary",
	}},
	"a canary too often": {add: "mode: enforce\ncanary: {template: light, every: 1m}\n", want: []string{
		`c.yaml:11:34: canary.every: "1m" is below 10m; use at least 10m`,
	}},
	"a canary in no time": {add: "mode: enforce\ncanary: {template: light, within: 1m, provider: dayton}\n", want: []string{
		"c.yaml:11:27: canary.within: 1m is no longer than orphan waits for, 5m; use more, or leave it out",
		`c.yaml:11:39: canary.provider: unknown provider "dayton"; did you mean "daytona"?`,
	}},
	"a canary where none can be made": {replace: "daytona\n    token: ${TOKEN}", with: "simulated",
		add: "mode: enforce\nrules: {orphan: {rollout: 25}}\ncanary: {template: light}\n", want: []string{
			"c.yaml:11:1: canary: only 25 % of what orphan finds is ended; give it the whole rollout, or remove canary",
			"c.yaml:11:1: canary.provider: sandkeeper cannot make a sandbox at a provider of kind simulated; name an entry of " +
				"kind agentuity, daytona, docker, e2b, kubernetes or vercel, or remove canary",
		}},
	"a canary that ends before it is late": {replace: "daytona\n    token: ${TOKEN}", with: "e2b\n    token: ${TOKEN}",
		add: "mode: enforce\nrules: {orphan: {after: 50m}}\ncanary: {template: light}\n", want: []string{
			"c.yaml:12:1: canary.within: is 1h1m, and daytona ends a canary by itself after 1h; use less, or a shorter after " +
				"for the rule orphan",
		}},
	"a canary that is excepted": {replace: "{labels: {project: omoios}}", with: "{labels: {project: omoios}, except: {templates: [light]}}",
		add: "mode: enforce\ncanary: {template: light}\n", want: []string{
			"c.yaml:11:1: canary.provider: owns.except or owns.spares would leave a canary alone; use another template",
		}},
	"a key that is found by trying": {add: "alerts: {notify: [{url: \"https://x.example/h\", secret: short}]}\n", want: []string{
		"c.yaml:10:48: alerts.notify[0].secret: has 5 bytes, fewer than 16: who sees one signed message can find it by " +
			"trying; make one: openssl rand -hex 32",
	}},
	"notifications that tell nobody": {add: "alerts:\n  notify:\n    - {url: \"slack://hook:s3cret-a-b@webhook\", secret: k, events: [incidents]}\n" +
		"    - {url: \"https://x.example/s3cret\", name: \"a b\", severity: loud}\n    - https://x.example/s3cret\n    - https://x.example/s3cret\n", want: []string{
		"c.yaml:12:48: alerts.notify[0].secret: signs nothing; remove it: only https:// addresses are signed",
		`c.yaml:12:68: alerts.notify[0].events[0]: unknown event "incidents"; did you mean "incident"?`,
		`c.yaml:13:41: alerts.notify[1].name: "a b" is not a name; use letters, digits, dots, hyphens and underscores, at most 63`,
		`c.yaml:13:64: alerts.notify[1].severity: unknown value "loud"; known are info, warning, critical`,
		"c.yaml:15:7: alerts.notify[3]: is told twice; remove it here, or give it another name",
	}},
	"an installation with a space": {replace: "installation: prod", with: "installation: prod eu", want: []string{
		`c.yaml:1:1: installation: "prod eu" is not a name; use letters, digits, dots, hyphens and ` +
			"underscores, at most 63",
	}},
	"an empty installation": {replace: "installation: prod", with: "installation: \"\"", want: []string{
		"c.yaml:1:1: installation: is not given; name this installation: it is stamped into the ledger",
	}},
	"a database that is none": {
		replace: "database: ${DATABASE_URL}", with: "database: mysql://s3cret",
		want: []string{
			"c.yaml:2:1: database: is not a PostgreSQL URL; write it like postgres://user@host/name",
		}},
	"an empty database": {replace: "database: ${DATABASE_URL}", with: "database: ${EMPTY}", want: []string{
		"c.yaml:2:1: database: is not given; give the PostgreSQL URL of the ledger, for example " +
			"${DATABASE_URL}",
	}},
	"a schedule that is none": {add: "schedule: {quick: often}\n", want: []string{
		`c.yaml:10:19: schedule.quick: "often" is not a cron line: expected 5 to 6 fields, found 1: ` +
			`[often]; write it like "@every 15s", "*/5 * * * *" or "@hourly"`,
	}},
	"a schedule out of range": {add: "schedule: {quick: \"70 * * * *\"}\n", want: []string{
		`c.yaml:10:19: schedule.quick: "70 * * * *" is not a cron line: end of range (70) above maximum ` +
			`(59): 70; write it like "@every 15s", "*/5 * * * *" or "@hourly"`,
	}},
	"a schedule that never fires": {add: "schedule: {full: \"0 0 30 2 *\"}\n", want: []string{
		`c.yaml:10:18: schedule.full: "0 0 30 2 *" never comes true; write it like "@every 15s", "*/5 * ` +
			`* * *" or "@hourly"`,
	}},
	"a schedule below a second": {add: "schedule: {quick: \"@every 999ms\"}\n", want: []string{
		`c.yaml:10:19: schedule.quick: "@every 999ms" is more often than every second; use at least ` +
			"@every 1s",
	}},
	"a schedule in parts of seconds": {add: "schedule: {quick: \"@every 1500ms\"}\n", want: []string{
		`c.yaml:10:19: schedule.quick: "@every 1500ms" is not in whole seconds; use whole seconds`,
	}},
	"a schedule of a time zone only": {add: "schedule: {quick: \"TZ=UTC\"}\n", want: []string{
		`c.yaml:10:19: schedule.quick: "TZ=UTC" is not a cron line; write it like "@every 15s", "*/5 * * ` +
			`* *" or "@hourly"`,
	}},
}

var brokenVariables = map[string]brokenConfig{
	"a variable that is not set": {
		replace: "database: ${DATABASE_URL}", with: "database: ${DATABSE_URL}",
		want: []string{
			"c.yaml:2:11: database: needs the variable DATABSE_URL, which is not set; set it, or write " +
				"${DATABSE_URL:-default}",
		}},
	"a variable with an odd name": {add: "retention: ${RETENTION-30d}\n", want: []string{
		`c.yaml:10:12: retention: "${RETENTION-30d}" holds a ${…} that is no variable: RETENTION-30d; ` +
			"write ${NAME} or ${NAME:-default}, or $${ for the two characters",
	}},
	"a variable within a default": {add: "retention: ${RETENTION:-${DAYS}d}\n", want: []string{
		`c.yaml:10:12: retention: "${RETENTION:-${DAYS}d}" holds a ${…} that is no variable: ` +
			"RETENTION:-${DAYS; write ${NAME} or ${NAME:-default}, or $${ for the two characters",
	}},
	"a variable that is not closed": {add: "retention: ${RETENTION\n", want: []string{
		`c.yaml:10:12: retention: "${RETENTION" holds a ${ that is not closed; write ${NAME}, or $${ for ` +
			"the two characters",
	}},
	"an odd variable in a secret": {replace: "    token: ${TOKEN}", with: "    token: s3c${r3t!}", want: []string{
		"c.yaml:7:12: providers[0].token: holds a ${…} that is no variable; write ${NAME} or " +
			"${NAME:-default}, or $${ for the two characters",
	}},
	"a variable that holds YAML is text": {add: "mode: ${ODD}\n", want: []string{
		`c.yaml:10:7: mode: "${ODD}" is not one of off, observe, enforce; use one of them`,
	}},
	"a variable that holds nonsense is not shown": {
		add: "retention: ${TOKEN}\nschedule: {quick: \"${TOKEN}\"}\n",
		want: []string{
			`c.yaml:10:12: retention: "${TOKEN}" is not a duration; write it like 30s, 5m or 30d`,
			`c.yaml:11:19: schedule.quick: "${TOKEN}" is not a cron line; write it like "@every 15s", "*/5 * ` +
				`* * *" or "@hourly"`,
		}},
	"a variable for a name is not shown": {
		replace: "installation: prod", with: "installation: ${ODD}",
		want: []string{
			`c.yaml:1:1: installation: "${ODD}" is not a name; use letters, digits, dots, hyphens and ` +
				"underscores, at most 63",
		}},
	"two of a pair": {add: "database_file: /run/secrets/db\n", want: []string{
		"c.yaml:10:1: database_file: is given together with database; keep one of them",
	}},
	"a file that is not there": {
		replace: "    token: ${TOKEN}", with: "    token_file: testdata/nope",
		want: []string{
			"c.yaml:7:5: providers[0].token_file: read testdata/nope: no such file or directory; put the " +
				"secret into that file, readable for this user",
		}},
	"a file that is a folder": {replace: "database: ${DATABASE_URL}", with: "database_file: testdata", want: []string{
		"c.yaml:2:1: database_file: read testdata: is not a regular file; put the secret into that file, " +
			"readable for this user",
	}},
	"a file that is empty": {
		replace: "    token: ${TOKEN}", with: "    token_file: testdata/empty",
		want: []string{
			"c.yaml:7:5: providers[0].token_file: read testdata/empty: it is empty; put the secret " +
				"into that file, readable for this user",
		}},
}

var brokenTasks = map[string]brokenConfig{
	"a word for the tasks": {replace: "tasks: {preset: omoios}", with: "tasks: nothing", want: []string{
		`c.yaml:3:8: tasks: "nothing" is neither none nor a mapping; describe the task table, or write ` +
			"tasks: none",
	}},
	"no tasks": {replace: "tasks: {preset: omoios}", with: "", want: []string{
		"c.yaml:1:1: tasks: is not given; describe the task table, or write tasks: none for sandbox-side " +
			"rules only",
	}},
	"an unknown preset": {replace: "tasks: {preset: omoios}", with: "tasks: {preset: omios}", want: []string{
		`c.yaml:3:17: tasks.preset: unknown value "omios"; did you mean "omoios"?`,
	}},
	"an unknown section": {
		replace: "tasks: {preset: omoios}", with: "tasks:\n  preset: omoios\n  colums: {}",
		want: []string{
			`c.yaml:5:3: tasks: unknown key "colums"; did you mean "columns"?`,
		}},
	"an unknown field": {
		replace: "tasks: {preset: omoios}",
		with:    "tasks:\n  preset: omoios\n  columns:\n    started: started_at",
		want: []string{
			`c.yaml:6:5: tasks.columns: unknown key "started"; did you mean "started_at"?`,
		}},
	"an unknown state": {
		replace: "tasks: {preset: omoios}", with: "tasks: {preset: omoios, statuses: {canceled: [x]}}",
		want: []string{
			`c.yaml:3:36: tasks.statuses: unknown key "canceled"; known are pending, assigned, running, ` +
				"completed, failed, stopped, parked, waiting",
		}},
	"a status that is no list": {
		replace: "tasks: {preset: omoios}", with: "tasks: {preset: omoios, statuses: {failed: error}}",
		want: []string{
			"c.yaml:3:44: tasks.statuses.failed: is one value; must be a list: [a, b]",
		}},
	"an unknown column of events": {add: "events: {columns: {kind: event_type}}\n", want: []string{
		`c.yaml:10:20: events.columns: unknown key "kind"; known are sandbox, type, at, data, task`,
	}},
	"what compiling finds, with the rest": {
		replace: "tasks: {preset: omoios}",
		with:    "tasks:\n  preset: omoios\n  table: a.b.c\n  fail: {status: broken}\n  colums: {}",
		want: []string{
			`c.yaml:5:3: tasks.table: "a.b.c" has 3 parts; name the table as schema.table`,
			`c.yaml:6:10: tasks.fail.status: "broken" is not one of tasks.statuses.failed; use one of ["failed"]`,
			`c.yaml:7:3: tasks: unknown key "colums"; did you mean "columns"?`,
		},
	},
	"what compiling finds hides variables": {
		replace: "tasks: {preset: omoios}", with: "tasks: {preset: omoios, table: \"a.${TOKEN}.c\"}",
		want: []string{
			`c.yaml:3:25: tasks.table: "a.${TOKEN}.c" holds what cannot stand here; name the table as ` +
				"schema.table",
		},
	},
	"no table": {replace: "tasks: {preset: omoios}", with: "tasks: {columns: {id: id}}", want: []string{
		"c.yaml:3:1: tasks.table: is missing; name the table as schema.table",
		"c.yaml:3:1: tasks.statuses: no status is pending, assigned or running; name the statuses of " +
			"live tasks, or map tasks.columns.state",
		"c.yaml:3:9: tasks.columns.status: is missing; name the column",
	}},
	"events without tasks": {
		replace: "tasks: {preset: omoios}", with: "tasks: none",
		add: "events: {table: e}\n",
		want: []string{
			"c.yaml:10:1: events: events without tasks tell nothing; remove them, or describe the task table",
		}},
	"a database of tasks that is none": {
		replace: "tasks: {preset: omoios}", with: "tasks: {preset: omoios, database: s3cret}",
		want: []string{
			"c.yaml:3:25: tasks.database: is not a PostgreSQL URL; write it like postgres://user@host/name",
		}},
}

var brokenProviders = map[string]brokenConfig{
	"no name": {replace: "  - name: daytona", with: "  - url: https://d.example", want: []string{
		"c.yaml:5:5: providers[0].name: is not given; name the provider; the name is shown everywhere",
	}},
	"a name with a slash": {replace: "  - name: daytona", with: "  - name: eu/daytona", want: []string{
		`c.yaml:5:5: providers[0].name: "eu/daytona" is not a name; use letters, digits, dots, hyphens ` +
			"and underscores, at most 63",
	}},
	"a name twice": {
		add: "  - {name: daytona, kind: docker, owns: {name_prefix: x-}, link: {sandbox: id}}\n",
		want: []string{
			`c.yaml:10:6: providers[1].name: "daytona" is also the name of the provider in line 5; give each ` +
				"its own",
		}},
	"no kind": {replace: "    kind: daytona", with: "", want: []string{
		"c.yaml:5:5: providers[0].kind: is not given; use one of agentuity, cloudflare, daytona, docker, " +
			"e2b, generic, kubernetes, simulated, vercel",
	}},
	"an unknown kind": {replace: "    kind: daytona", with: "    kind: datona", want: []string{
		`c.yaml:6:5: providers[0].kind: unknown kind "datona"; did you mean "daytona"?`,
	}},
	"no token": {replace: "    token: ${TOKEN}", with: "", want: []string{
		"c.yaml:5:5: providers[0].token: is empty; daytona needs a credential; give token or token_file: " +
			"an API key, made in the dashboard",
	}},
	"an empty token": {replace: "    token: ${TOKEN}", with: "    token: \"\"", want: []string{
		"c.yaml:7:5: providers[0].token: is empty; daytona needs a credential; give token or token_file: " +
			"an API key, made in the dashboard",
	}},
	"a Worker's secret at another kind": {
		replace: "    kind: daytona", with: "    kind: daytona\n    worker_token: x", want: []string{
			"c.yaml:7:5: providers[0].worker_token: is no key of kind daytona; remove it",
		}},
	"Cloudflare with neither half": {replace: "    kind: daytona\n    token: ${TOKEN}", with: "    kind: cloudflare",
		want: []string{
			"c.yaml:5:5: providers[0].token: is empty, and no Worker is given either; give token, account and " +
				"application for the control plane, or worker_url and worker_token, or all",
		}},
	"Cloudflare without an account": {replace: "    kind: daytona", with: "    kind: cloudflare\n    application: x",
		want: []string{
			"c.yaml:5:5: providers[0].account: is not given; the control plane needs it; " +
				"`npx wrangler containers list` shows the ids",
		}},
	"a Worker without its secret": {replace: "    kind: daytona\n    token: ${TOKEN}",
		with: "    kind: cloudflare\n    worker_url: https://w.example/api/sandbox", want: []string{
			"c.yaml:5:5: providers[0].worker_token: is empty; the Worker must not end sandboxes for everybody; " +
				"give worker_token or worker_token_file",
		}},
	"a Worker's address with its secret": {replace: "    kind: daytona\n    token: ${TOKEN}",
		with: "    kind: cloudflare\n    worker_url: https://u:p@w.example\n    worker_token: x", want: []string{
			"c.yaml:7:5: providers[0].worker_url: holds a credential; put it into worker_token",
		}},
	"a Worker's address with more": {replace: "    kind: daytona\n    token: ${TOKEN}",
		with: "    kind: cloudflare\n    worker_url: https://w.example/?key=p\n    worker_token: x", want: []string{
			"c.yaml:7:5: providers[0].worker_url: holds more than an address; leave out what begins with the " +
				"question mark; a credential belongs into worker_token",
		}},
	"a word that is none": {replace: "    kind: daytona",
		with: "    kind: cloudflare\n    account: a\n    application: b\n    instance_api: ${ODD}", want: []string{
			`c.yaml:9:5: providers[0].instance_api: "${ODD}" is neither true nor false; write true or false`,
		}},
	"Vercel without its project": {replace: "    kind: daytona", with: "    kind: vercel\n    team: t\n    terminate: all",
		want: []string{
			"c.yaml:5:5: providers[0].project: is not given; vercel needs it; give the project's id (prj_…), " +
				"which is in its settings",
			`c.yaml:8:5: providers[0].terminate: "all" is neither session nor record; write session or record`,
		}},
	"objects that are none": {replace: "    kind: daytona",
		with: "    kind: kubernetes\n    url: https://k.example\n    objects: jobs", want: []string{
			`c.yaml:8:5: providers[0].objects: "jobs" is not one of pods, sandboxes, all; use one of them`,
		}},
	"a key of another kind": {
		replace: "    kind: daytona", with: "    kind: daytona\n    namespace: x",
		want: []string{
			"c.yaml:7:5: providers[0].namespace: is no key of kind daytona; remove it",
		}},
	"a key of no kind": {replace: "    kind: daytona", with: "    kind: daytona\n    tokn: x", want: []string{
		`c.yaml:7:5: providers[0]: unknown key "tokn"; did you mean "token"?`,
	}},
	"a url that is none": {
		replace: "    kind: daytona", with: "    kind: daytona\n    url: daytona.io",
		want: []string{
			"c.yaml:7:5: providers[0].url: is not an address of https or http; write it like " +
				"https://host/path",
		}},
	"an address with a password": {
		replace: "    kind: daytona", with: "    kind: daytona\n    url: https://u:s3cret@d.example",
		want: []string{
			"c.yaml:7:5: providers[0].url: holds a credential; put it into token",
		}},
	"no address of a generic": {
		add: "  - {name: g, kind: generic, owns: {name_prefix: x-}, link: {sandbox: id}}\n",
		want: []string{
			"c.yaml:10:5: providers[1].api: is not given; kind generic knows nothing of the platform by itself; " +
				"describe its API; docs/generic.md shows how",
			"c.yaml:10:5: providers[1].url: kind generic has no default address; give url",
		}},
	"no proof of ownership": {replace: "    owns: {labels: {project: omoios}}", with: "", want: []string{
		"c.yaml:5:5: providers[0].owns: nothing proves which sandboxes are this installation's, and a " +
			"sandbox that is not must never be touched; give labels, name_prefix or referenced: true",
	}},
	"exclusive is no proof": {
		replace: "    owns: {labels: {project: omoios}}", with: "    owns: {exclusive: true, labels: {}}",
		want: []string{
			"c.yaml:8:5: providers[0].owns: nothing proves which sandboxes are this installation's, and a " +
				"sandbox that is not must never be touched; give labels, name_prefix or referenced: true",
		}},
	"an empty label": {
		replace: "    owns: {labels: {project: omoios}}", with: "    owns: {labels: {project: \"\"}}",
		want: []string{
			"c.yaml:8:21: providers[0].owns.labels.project: an empty label proves nothing: strangers may " +
				"have it too; give it a value that only this installation uses",
		}},
	"an empty prefix": {
		replace: "    owns: {labels: {project: omoios}}", with: "    owns: {name_prefix: \"\"}",
		want: []string{
			"c.yaml:8:5: providers[0].owns: nothing proves which sandboxes are this installation's, and a " +
				"sandbox that is not must never be touched; give labels, name_prefix or referenced: true",
		}},
	"an exception of nothing": {
		replace: "    owns: {labels: {project: omoios}}", with: "    owns: {labels: {project: omoios}, except: {templates: []}}",
		want: []string{
			"c.yaml:8:39: providers[0].owns.except: excepts nothing; give labels, without_label, name_prefix or templates, or remove it",
		}},
	"an exception by nothing": {
		replace: "    owns: {labels: {project: omoios}}",
		with:    "    owns: {labels: {project: omoios}, except: {labels: {type: \"\"}, templates: [\"\"]}}",
		want: []string{
			"c.yaml:8:57: providers[0].owns.except.labels.type: an empty label excepts nothing; " +
				"give it the value that such sandboxes have",
			"c.yaml:8:80: providers[0].owns.except.templates[0]: is empty; name the template, or remove it",
		}},
	"an exception of everything": {
		replace: "    owns: {labels: {project: omoios}}",
		with:    "    owns: {labels: {project: omoios}, except: {labels: {project: omoios}}}", want: []string{
			"c.yaml:8:39: providers[0].owns.except: excepts everything that owns proves; make it less",
		}},
	"no link": {replace: "    link: {task_label: task_id}", with: "", want: []string{
		"c.yaml:5:5: providers[0].link: nothing says which sandbox is of which task; give task_label: " +
			"the label with the task's id, or sandbox: what tasks.sandbox holds",
	}},
	"a link that is none": {
		replace: "    link: {task_label: task_id}", with: "    link: {sandbox: uuid}",
		want: []string{
			`c.yaml:9:12: providers[0].link.sandbox: "uuid" is not one of id, name, label:KEY; say what ` +
				"tasks.sandbox holds",
		}},
	"a link to no label": {
		replace: "    link: {task_label: task_id}", with: "    link: {sandbox: \"label:\"}",
		want: []string{
			`c.yaml:9:12: providers[0].link.sandbox: "label:" is not one of id, name, label:KEY; say what ` +
				"tasks.sandbox holds",
		}},
	"a link to a column that is not mapped": {
		replace: "tasks: {preset: omoios}",
		with:    "tasks: {preset: omoios, columns: {sandbox: \"\"}}\nevents: none",
		add:     "  - {name: e, kind: e2b, token: t, owns: {name_prefix: x-}, link: {sandbox: id}}\n", want: []string{
			"c.yaml:11:68: providers[1].link.sandbox: is compared with a column that is not mapped; map " +
				"tasks.columns.sandbox",
		}},
	"a reference without tasks": {replace: "tasks: {preset: omoios}", with: "tasks: none",
		add: "  - {name: e, kind: e2b, token: t, owns: {referenced: true}}\n", want: []string{
			"c.yaml:10:43: providers[1].owns.referenced: no task row refers to anything with tasks: none; " +
				"use labels or name_prefix",
		}},
	"a rate that is none": {add: "    rate: 20\n", want: []string{
		`c.yaml:10:11: providers[0].rate: "20" has no unit; write it like 20/s, 50/m or 1000/h`,
	}},
	"a rate of nothing": {add: "    rate: 0/s\n", want: []string{
		`c.yaml:10:11: providers[0].rate: "0/s" is not a rate; write it like 20/s, 50/m or 1000/h`,
	}},
	"a timeout of nothing": {add: "    timeout: 0\n", want: []string{
		`c.yaml:10:14: providers[0].timeout: "0" is below 100ms; use at least 100ms`,
	}},
	"a probe that is none": {add: "    probe: never\n", want: []string{
		`c.yaml:10:12: providers[0].probe: "never" is neither off nor a mapping; write probe: off, or ` +
			`like {exec: "true", path: "/"}`,
	}},
	"a probe of nothing": {add: "    probe: {exec: \"\", path: \"\"}\n", want: []string{
		"c.yaml:10:5: providers[0].probe: probes nothing; give exec or path, or write probe: off",
	}},
	"a worker that nothing can ask for": {
		replace: "    kind: daytona",
		with:    "    kind: cloudflare\n    account: a\n    application: x\n    probe: {worker: \"pgrep -f '[w]orker.py'\"}",
		want: []string{
			"c.yaml:9:13: providers[0].probe.worker: nothing can run a command: worker_url is not given; " +
				"give it, or remove worker",
		}},
	"a probe too rare": {add: "    probe: {budget: 59/h}\n", want: []string{
		"c.yaml:10:13: providers[0].probe.budget: is less than one in a minute; use at least 1/m",
	}},
	"a probe too long": {add: "    probe: {every: 5s}\n", want: []string{
		"c.yaml:10:5: providers[0].probe.timeout: is not shorter than every; use a shorter one",
	}},
	"an end at rest that is none": {add: "    at_rest: stop\n", want: []string{
		`c.yaml:10:14: providers[0].at_rest: unknown value "stop"; known are keep, terminate`,
	}},
	"hosts that are none, or of anybody": {add: "    hosts: [a.example, \"*.a.example\", 10.0.0.7, \"https://a.example\", \"a:80\", \"*.com\", \"*\"]\n", want: []string{
		`c.yaml:10:49: providers[0].hosts[3]: "https://a.example" is not a host; write it like api.example.com or *.example.com, without scheme and port`,
		`c.yaml:10:70: providers[0].hosts[4]: "a:80" is not a host; write it like api.example.com or *.example.com, without scheme and port`,
		`c.yaml:10:78: providers[0].hosts[5]: "*.com" stands for hosts of anybody; write more of the name, like *.sandboxes.example.com`,
		`c.yaml:10:87: providers[0].hosts[6]: "*" is not a host; write it like api.example.com or *.example.com, without scheme and port`,
	}},
	"hosts of what asks its url alone": {replace: "    kind: daytona", with: "    kind: docker\n    hosts: [a.example]", want: []string{
		"c.yaml:7:5: providers[0].hosts: is for nothing: docker asks nothing but its own address; remove it",
	}},
	"a price below nothing": {add: "    price_per_hour: -1\n", want: []string{
		`c.yaml:10:21: providers[0].price_per_hour: "-1" is not a number of 0 or more; write it like 0.08`,
	}},
	"a price of nothing": {add: "    prices: [{per_hour: 1}]\n", want: []string{
		"c.yaml:10:14: providers[0].prices[0]: names no template, region or size; name one of them, or use price_per_hour",
	}},
	"a price by a size that nobody tells": {replace: "    kind: daytona", with: "    kind: docker\n    prices: [{cpu: 4, per_hour: 1}]",
		want: []string{
			"c.yaml:7:14: providers[0].prices[0]: is for nothing: docker does not say how large a sandbox is; name a template or a region",
		}},
}

var brokenRules = map[string]brokenConfig{
	"an unknown rule": {add: "rules: {orfan: off}\n", want: []string{
		`c.yaml:10:9: rules: unknown rule "orfan"; did you mean "orphan"?`,
	}},
	"a rule given as a list": {add: "rules: {orphan: [off]}\n", want: []string{
		"c.yaml:10:17: rules.orphan: is a list; must be a mapping: key: value",
	}},
	"a rule that is true": {add: "rules: {orphan: true}\n", want: []string{
		`c.yaml:10:17: rules.orphan: "true" is not a mode; write observe or enforce`,
	}},
	"a rule's mode is unknown": {add: "rules: {orphan: {mode: on}}\n", want: []string{
		`c.yaml:10:24: rules.orphan.mode: "on" is not one of off, observe, enforce; use one of them`,
	}},
	"a key of no rule": {add: "rules: {orphan: {afer: 5m}}\n", want: []string{
		`c.yaml:10:18: rules.orphan: unknown key "afer"; did you mean "after"?`,
	}},
	"a key of another rule": {add: "rules: {orphan: {failures: 3}}\n", want: []string{
		"c.yaml:10:18: rules.orphan.failures: is no key of orphan; it is one of idle-broken",
	}},
	"orphan below its floors": {add: "rules: {orphan: {after: 29s, sightings: 1, apart: 999ms}}\n", want: []string{
		"c.yaml:10:18: rules.orphan.after: 29s is below the floor of 30s; use at least 30s",
		"c.yaml:10:30: rules.orphan.sightings: 1 is below the floor of 2; use at least 2",
		"c.yaml:10:44: rules.orphan.apart: 999ms is below the floor of 1s; use at least 1s",
	}},
	"orphan at once": {add: "rules: {orphan: {after: 0}}\n", want: []string{
		"c.yaml:10:18: rules.orphan.after: 0s is below the floor of 30s; use at least 30s",
	}},
	"assigned-stale below its floor": {add: "rules: {assigned-stale: {after: 9s}}\n", want: []string{
		"c.yaml:10:26: rules.assigned-stale.after: 9s is below the floor of 10s; use at least 10s",
	}},
	"heartbeat-lost below its floor": {add: "rules: {heartbeat-lost: {after: 29s}}\n", want: []string{
		"c.yaml:10:26: rules.heartbeat-lost.after: 29s is below the floor of 30s; use at least 30s",
	}},
	"idle-broken below its floors": {add: "rules: {idle-broken: {after: 4s, failures: 1}}\n", want: []string{
		"c.yaml:10:23: rules.idle-broken.after: 4s is below the floor of 5s; use at least 5s",
		"c.yaml:10:34: rules.idle-broken.failures: 1 is below the floor of 2; use at least 2",
	}},
	"sandbox-missing below its floors": {add: "rules: {sandbox-missing: {after: 999ms, looks: 1}}\n", want: []string{
		"c.yaml:10:27: rules.sandbox-missing.after: 999ms is below the floor of 1s; use at least 1s",
		"c.yaml:10:41: rules.sandbox-missing.looks: 1 is below the floor of 2; use at least 2",
	}},
	"over-age without an age": {add: "rules: {over-age: enforce}\n", want: []string{
		"c.yaml:10:9: rules.over-age: has no threshold of its own; give after",
	}},
	"over-age of nothing": {add: "rules: {over-age: {after: 0}}\n", want: []string{
		"c.yaml:10:20: rules.over-age.after: 0s is below the floor of 1s; use at least 1s",
	}},
	"rollout above 100": {add: "rules: {orphan: {rollout: 101}}\n", want: []string{
		"c.yaml:10:18: rules.orphan.rollout: 101 is not within 0 and 100; give percent of the subjects",
	}},
	"rollout below 0": {add: "rules: {orphan: {rollout: -1}}\n", want: []string{
		"c.yaml:10:18: rules.orphan.rollout: -1 is not within 0 and 100; give percent of the subjects",
	}},
	"a remedy that is none": {add: "rules: {orphan: {remedy: kill}}\n", want: []string{
		`c.yaml:10:26: rules.orphan.remedy: "kill" is not one of fail, requeue, terminate, quarantine, stop, ` +
			"report, activate; use one of them",
	}},
	"a quarantine where nothing can be stopped": {
		add: "  - {name: v, kind: vercel, token: t, owns: {labels: {a: b}}, link: {task_label: x}, team: t, project: p}\n" +
			"rules: {orphan: {mode: observe, remedy: quarantine}, errored: {remedy: quarantine, mode: off}}\n",
		want: []string{
			`c.yaml:11:33: rules.orphan.remedy: quarantine cannot be done at the provider "v": vercel can neither stop nor ` +
				"pause a sandbox; use terminate or report; or say quarantine: hold there, so that its findings wait for an operator",
		}},
	"an end by what ends nothing": {
		replace: "    kind: daytona", with: "    kind: cloudflare\n    account: a\n    application: x",
		add: "rules: {orphan: {remedy: terminate}, errored: enforce}\n", want: []string{
			`c.yaml:12:18: rules.orphan.remedy: terminate cannot be done at the provider "daytona": the control plane ends ` +
				"nothing; give worker_url, or use report",
		}},
	"what a generic does not describe": {
		replace: "    kind: daytona", with: "    kind: generic\n    url: https://g.example\n" +
			"    api: {absent: status == 404, list: {path: /b, items: body}, get: {path: \"/b/{id}\"}, states: {up: running, off: stopped},\n" +
			"      sandbox: {id: id, state: state, labels: labels}, stop: {path: \"/b/{id}/stop\"}, resume: {path: \"/b/{id}/go\"}}",
		add: "rules: {orphan: {remedy: terminate}, errored: {remedy: quarantine}}\n", want: []string{
			`c.yaml:13:18: rules.orphan.remedy: terminate cannot be done at the provider "daytona": api.delete is not ` +
				"described; describe it, or use report",
		}},
	"a row remedy without task": {add: "rules: {orphan: {remedy: fail}}\n", want: []string{
		"c.yaml:10:18: rules.orphan.remedy: fail is no remedy of orphan, which writes no task row; use " +
			"one of terminate, quarantine, stop, report",
	}},
	"a remedy of other rules": {add: "rules: {assigned-stale: {remedy: activate}}\n", want: []string{
		"c.yaml:10:26: rules.assigned-stale.remedy: activate is no remedy of assigned-stale; use one of " +
			"fail, requeue, report",
	}},
	"requeue without attempts": {
		replace: "tasks: {preset: omoios}",
		with:    "tasks: {preset: omoios, columns: {max_attempts: \"\"}}",
		add:     "rules: {assigned-stale: {remedy: requeue}}\n", want: []string{
			"c.yaml:10:26: rules.assigned-stale.remedy: requeue must know how often a task was tried; map " +
				"attempts and max_attempts in tasks.columns",
		}},
	"requeue without a word of what the row becomes": {
		replace: "tasks: {preset: omoios}",
		with:    "tasks: {preset: garm, columns: {attempts: create_attempt, max_attempts: (5)}}",
		add:     "rules: {assigned-stale: {remedy: requeue}}\n", want: []string{
			"c.yaml:10:26: rules.assigned-stale.remedy: nothing says what a row becomes that is handed out again; " +
				"give tasks.requeue, or use another remedy",
		}},
	"a row remedy without tasks": {replace: "tasks: {preset: omoios}", with: "tasks: none",
		add: "rules: {idle-broken: {remedy: fail, overrides: [{when: {task.type: build}, after: 5m}]}}\n", want: []string{
			"c.yaml:10:23: rules.idle-broken.remedy: fail writes a task row, and there is none with tasks: " +
				"none; use terminate or report",
			"c.yaml:10:57: rules.idle-broken.overrides[0].when.task.type: there are no tasks with tasks: " +
				"none; remove it",
		}},
	"overrides of nothing": {
		add: "rules: {orphan: {overrides: [{after: 5m}, {when: {template: gpu}}, {when: {template: gpu}, after: 29s}]}}\n",
		want: []string{
			"c.yaml:10:30: rules.orphan.overrides[0]: says no class; give when, or set after for the rule " +
				"itself",
			"c.yaml:10:43: rules.orphan.overrides[1]: says no threshold; give after",
			"c.yaml:10:92: rules.orphan.overrides[2].after: 29s is below the floor of 30s; use at least 30s",
		}},
	"overrides of unknown classes": {
		add: "rules: {orphan: {overrides: [{when: {templat: gpu, task.: x, provider: nope, region: \"\"}, after: 5m}]}}\n",
		want: []string{
			`c.yaml:10:38: rules.orphan.overrides[0].when.templat: unknown class "templat"; did you mean ` +
				`"template"?`,
			`c.yaml:10:52: rules.orphan.overrides[0].when.task.: unknown class "task."; did you mean ` +
				`"task.COLUMN"?`,
			`c.yaml:10:62: rules.orphan.overrides[0].when.provider: there is no provider "nope"; use the ` +
				"name of one under providers",
			"c.yaml:10:78: rules.orphan.overrides[0].when.region: has no value; name the region",
		}},
	"quota above all": {add: "rules: {capacity: {quota: 101%, critical: -1}}\n", want: []string{
		`c.yaml:10:27: rules.capacity.quota: "101%" is not above 0% and up to 100%; write it like 10%`,
		"c.yaml:10:33: rules.capacity.critical: -1 is below the floor of 0; use at least 0",
	}},
}

var brokenLimits = map[string]brokenConfig{
	"a proof that is none": {add: "proof: maybe\n", want: []string{
		`c.yaml:10:8: proof: "maybe" is neither off nor a mapping; write proof: off, or like {false_positives: 2%, samples: 200}`,
	}},
	"a proof that is too weak": {add: "proof: {false_positives: 11%, samples: 49}\n", want: []string{
		`c.yaml:10:9: proof.false_positives: "11%" is above the cap of 10%; use at most 10%, or write proof: off`,
		`c.yaml:10:31: proof.samples: 49 is below the floor of 50; use at least 50, or write proof: off`,
	}},
	"nothing in a pass": {add: "limits: {per_pass: 0}\n", want: []string{
		`c.yaml:10:20: limits.per_pass: "0" is below 1; use at least 1`,
	}},
	"nothing in an hour": {add: "limits: {per_hour: 0}\n", want: []string{
		`c.yaml:10:20: limits.per_hour: "0" is below 1; use at least 1`,
	}},
	"a share of nothing": {add: "limits: {share: 0%}\n", want: []string{
		`c.yaml:10:17: limits.share: "0%" is not above 0% and up to 100%; write it like 10%`,
	}},
	"a share of more than all": {add: "limits: {share: 101%}\n", want: []string{
		`c.yaml:10:17: limits.share: "101%" is not above 0% and up to 100%; write it like 10%`,
	}},
	"a share of one": {add: "limits: {share: 1}\n", want: []string{
		`c.yaml:10:17: limits.share: "1" may mean 1% or 100%; write the % sign`,
	}},
	"a breaker that is none": {add: "limits: {breaker: third}\n", want: []string{
		`c.yaml:10:19: limits.breaker: "third" is not a percentage; write it like 10%`,
	}},
}
