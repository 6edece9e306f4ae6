package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestWrongSetups: each mistake of an operator gets a clear error and changes nothing.
func TestWrongSetups(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		settings settings
		world    func(*arena)
		args     []string // default once
		want     []string // in what is printed
	}{
		"an unknown key": {
			settings: settings{rules: "{orphan: {afterr: 5m}}"},
			want:     []string{"sandkeeper.yaml:", "afterr", "after"},
		},
		"an unknown rule": {
			settings: settings{rules: "{orfan: enforce}"},
			want:     []string{"orfan", "orphan"},
		},
		"below the floor": {
			settings: settings{rules: "{orphan: {after: 1s}}"},
			want:     []string{"orphan", "30s"},
		},
		"no proof of ownership": {settings: settings{owns: "{}"}, want: []string{"owns"}},
		"two mistakes": {
			settings: settings{rules: "{orfan: enforce}", owns: "{}"},
			want:     []string{"orfan", "owns"},
		},
		"a column that is not there": {
			settings: settings{tasks: ", columns: {started_at: begun_at}"},
			want:     []string{"begun_at"},
		},
		"a table that is not there": {
			settings: settings{tasks: ", table: public.jobs"},
			want:     []string{"public.jobs"},
		},
		"a key that expired": {settings: settings{token: "other"}, want: []string{"401"}},
		"another installation's ledger": {world: func(a *arena) {
			a.must("migrate")
			a.configure(settings{name: "somebody-else"})
		}, want: []string{"test", "somebody-else"}},
		"no ledger yet": {args: []string{"once"}, want: []string{"migrate"}},
		"no config":     {world: func(a *arena) { a.config += ".not-there" }, want: []string{"no such file"}},
		"no database":   {settings: settings{dsn: "postgres://127.0.0.1:1/x"}, want: []string{"127.0.0.1"}},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, tt.settings)
			ws := a.working(3)
			a.beat(ws)
			a.tempted(ws)
			if tt.world != nil {
				tt.world(a)
			}
			if tt.args == nil {
				tt.args = []string{"once", "--migrate"}
			}
			before := a.rows()
			code, out, errs := a.run(append(tt.args, "--wait", "0s")...)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, doing := range []string{"read the live tasks: ", "read the task database's clock: "} {
				if strings.Contains(errs, doing+doing) {
					t.Errorf("what was being read is said twice:\n%s", errs)
				}
			}
			for _, word := range tt.want {
				if !strings.Contains(out+errs, word) {
					t.Errorf("nothing says %q:\n%s%s", word, out, errs)
				}
			}
			a.untouched(before)
		})
	}
}

// TestRoleWithoutUpdate: the row stays, the step says why, and is done once the grant is
// there.
func TestRoleWithoutUpdate(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(3)
	stale := a.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
	a.must("migrate")
	dsn := a.role("GRANT SELECT ON tasks, sandbox_events TO %s", "GRANT USAGE ON SCHEMA sandkeeper TO %s",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sandkeeper TO %s",
		"GRANT USAGE ON ALL SEQUENCES IN SCHEMA sandkeeper TO %s")
	a.configure(settings{dsn: dsn})
	before := a.rows()
	_, out, errs := a.run("once", "--wait", patience)
	if !strings.Contains(out+errs, "UPDATE") || !strings.Contains(out+errs, "permission denied") {
		t.Errorf("nothing says which grant is missing:\n%s%s", out, errs)
	}
	a.untouched(before)
	if code, out, _ := a.run("check"); code != 1 || !strings.Contains(out, "GRANT UPDATE") {
		t.Errorf("check: exit code %d, want 1 and the grant:\n%s", code, out)
	}
	a.configure(settings{})
	a.later(10*time.Second, ws...)
	a.once(0)
	if status, _ := a.state(stale); status != "failed" {
		t.Errorf("with the grant the task is %s, want failed", status)
	}
}

// TestCheck: one line each with its fix, and an exit code that a script can use.
func TestCheck(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		settings settings
		world    func(*arena)
		code     int
		want     []string
	}{
		"all is well": {
			world: func(a *arena) { a.must("migrate") },
			want: []string{
				"ok    config",
				"ok    ledger",
				"ok    tasks",
				"ok    provider daytona",
				"template ai-agent-dev-light: active",
			},
		},
		"before migrate": {code: 1, want: []string{"FAIL  ledger: schema", "sandkeeper migrate"}},
		"a wrong column": {
			settings: settings{tasks: ", columns: {started_at: begun_at}"},
			code:     1,
			want:     []string{"FAIL  tasks", "begun_at"},
		},
		"an inactive snapshot": {
			world: func(a *arena) { a.deactivate() },
			code:  1,
			want:  []string{"FAIL  provider daytona: template ai-agent-dev-light: is inactive"},
		},
		"a wrong key": {
			settings: settings{token: "other"},
			code:     1,
			want:     []string{"FAIL  provider daytona"},
		},
		"a listing that is down": {
			world: func(a *arena) { a.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 503}) },
			code:  1,
			want:  []string{"FAIL  provider daytona", "503"},
		},
		"a broken config": {settings: settings{owns: "{}"}, code: 1, want: []string{"FAIL  config", "owns"}},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, tt.settings)
			a.beat(a.working(3))
			if tt.world != nil {
				tt.world(a)
			}
			before := a.everything()
			code, out, errs := a.run("check")
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("no line says %q:\n%s", want, out)
				}
			}
			if len(before) != len(a.everything()) {
				t.Error("check made tables")
			}
			a.onlyRead(simulated.Exec, simulated.Files)
		})
	}
}

// TestExplain: what was done and why, what was kept and why, and what nobody knows.
func TestExplain(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(3)
	a.beat(ws)
	young := a.box(nobody, 2*time.Minute)
	stale := a.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
	a.once(0)
	for id, want := range map[string]string{
		stale: "worker never started", ws[0].task: ws[0].sandbox, young.ID: "no task explains it, created",
	} {
		if out := a.must("explain", id); !strings.Contains(out, want) {
			t.Errorf("explain %s does not say %q:\n%s", id, want, out)
		}
	}
	if code, _, errs := a.run("explain", "nobody-knows-me"); code != 1 || !strings.Contains(errs, "nobody-knows-me") {
		t.Errorf("explain of an unknown id: exit code %d, %s", code, errs)
	}
}

// TestSecretsAreNotShown: whatever goes wrong, no password and no token is printed.
func TestSecretsAreNotShown(t *testing.T) {
	a := newArena(t, settings{token: "tok3n-s3cret", dsn: "postgres://u:p4ss-s3cret@127.0.0.1:1/x"})
	for _, verb := range []string{"check", "once", "plan", "migrate"} {
		_, out, errs := a.run(verb)
		if strings.Contains(out+errs, "s3cret") {
			t.Errorf("%s shows a secret:\n%s%s", verb, out, errs)
		}
	}
	if text, err := os.ReadFile(a.config); err != nil || !strings.Contains(string(text), "s3cret") {
		t.Errorf("the test's config has no secret to show: %v", err)
	}
}

// TestReportWithoutALedger says over how long in the form that all durations have.
func TestReportWithoutALedger(t *testing.T) {
	a := newArena(t, settings{})
	if code, out, errs := a.run("report"); code != 1 || out != "" || !strings.Contains(errs, "read report of the last 7d: the ledger has no schema yet") {
		t.Errorf("report: exit code %d:\n%s%s", code, out, errs)
	}
}
