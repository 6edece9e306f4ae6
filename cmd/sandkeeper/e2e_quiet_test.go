package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// role makes a role that may do what the grants say, and returns its address of the
// database. %s in a grant is the role.
func (a *arena) role(grants ...string) string {
	a.Helper()
	name := "role_" + strings.ReplaceAll(newUUID(), "-", "")
	a.sql("CREATE ROLE " + name + " LOGIN")
	for _, g := range grants {
		a.sql(fmt.Sprintf(g, name))
	}
	a.Cleanup(func() { // what it may do in this database goes first
		ctx := context.Background()
		for _, drop := range []string{"DROP OWNED BY ", "DROP ROLE "} {
			if _, err := a.db.Exec(ctx, drop+name); err != nil {
				a.Errorf("%s: %v", drop, err)
			}
		}
	})
	u, err := url.Parse(a.dsn)
	if err != nil {
		a.Fatal(err)
	}
	u.User = url.User(name)
	return u.String()
}

// reading are the calls that change nothing.
var reading = []simulated.Kind{
	simulated.List, simulated.Get, simulated.Find, simulated.Snapshot, simulated.AccountOf,
}

func (a *arena) onlyRead(also ...simulated.Kind) {
	a.Helper()
	for _, c := range a.cloud.Calls() {
		if !slices.Contains(reading, c.Kind) && !slices.Contains(also, c.Kind) {
			a.Errorf("call %s of %s at the provider", c.Kind, c.ID)
		}
	}
}

// everything is the content of all tables of the database, to the byte.
func (a *arena) everything() map[string]string {
	a.Helper()
	rows, err := a.db.Query(a.Context(), `
		SELECT table_schema || '.' || table_name,
		       query_to_xml(format('SELECT * FROM %I.%I t ORDER BY t::text', table_schema, table_name), true, true, '')::text
		FROM information_schema.tables
		WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`)
	if err != nil {
		a.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, content string
		if err := rows.Scan(&name, &content); err != nil {
			a.Fatal(err)
		}
		out[name] = content
	}
	if err := rows.Err(); err != nil {
		a.Fatal(err)
	}
	return out
}

// TestPlanWritesNothing: before the first migrate and with a role that may only read, plan
// shows what a pass would do, and no table and nothing at the provider changes.
func TestPlanWritesNothing(t *testing.T) {
	t.Parallel()
	read := []string{"GRANT SELECT ON tasks, sandbox_events TO %s"}
	cases := map[string]struct {
		migrated bool
		grants   []string // nil: the owner
	}{
		"before migrate":                   {},
		"before migrate, a read-only role": {grants: read},
		"after migrate":                    {migrated: true},
		"after migrate, a read-only role": {
			migrated: true,
			grants: append(
				read,
				"GRANT USAGE ON SCHEMA sandkeeper TO %s",
				"GRANT SELECT ON ALL TABLES IN SCHEMA sandkeeper TO %s",
			),
		},
		"after migrate, reads the rows only": {migrated: true, grants: read},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{})
			ws := a.working(3)
			a.tempted(ws)
			if tt.migrated {
				a.must("migrate")
			}
			if tt.grants != nil {
				a.configure(settings{dsn: a.role(tt.grants...)})
			}
			before := a.everything()
			code, out, errs := a.run("plan", "-o", "json", "--detailed-exitcode")
			if strings.Contains(name, "rows only") {
				if code != 1 || !strings.Contains(errs, "permission") {
					t.Errorf("a ledger that may not be read: exit code %d, %s", code, errs)
				}
				return
			}
			if code != 2 {
				t.Fatalf("exit code %d, want 2 for steps: %s%s", code, out, errs)
			}
			if r := a.report(out); len(r.Steps) == 0 || len(r.Findings) < 2 {
				t.Errorf("plan found too little: %s", out)
			}
			if diff := cmp.Diff(before, a.everything()); diff != "" {
				t.Errorf("plan wrote (-before +after):\n%s", diff)
			}
			a.onlyRead()
		})
	}
}

// TestObserveChangesNothing: everything is judged, shown and probed, and every step is
// held by the mode.
func TestObserveChangesNothing(t *testing.T) {
	a := newArena(t, settings{mode: "observe", rules: "{orphan: {after: 30s, apart: 1s}}",
		probe: `{exec: "true", path: "/", worker: "pgrep -f [w]orker", every: 10m, timeout: 10s, budget: 1000/m}`})
	ws := a.working(5)
	a.cloud.Change(ws[4].sandbox, func(s *simulated.Sandbox) { s.WorkerGone = true })
	ws = ws[:4]
	a.later(2*time.Minute, ws...) // the fifth is silent, and dead
	a.tempted(ws)
	a.box(a.task(row{status: "cancelled", created: time.Hour, updated: time.Minute}), time.Hour)
	var r result.Pass
	for range 3 {
		before, activity := a.rows(), a.lastActivity()
		r = a.once(0)
		a.untouched(before)
		if diff := cmp.Diff(activity, a.lastActivity()); diff != "" {
			t.Errorf("a probe counted as activity (-before +after):\n%s", diff)
		}
		a.later(10*time.Second, ws...)
	}
	if len(r.Steps) < 4 {
		t.Errorf("%d steps are shown, want at least 4: %+v", len(r.Steps), r.Steps)
	}
	for _, s := range r.Steps {
		if s.Verdict != "held" || !strings.Contains(s.HeldBy.String(), "observe") {
			t.Errorf("step %s of %s is %s, held by %q", s.Step, s.Rule, s.Verdict, s.HeldBy)
		}
	}
	a.onlyRead(simulated.Exec, simulated.Files)
	if len(a.cloud.Destructive()) > 0 || !a.called(simulated.Exec) {
		t.Error("observe probes, and nothing else")
	}
}

// TestOperatorsVerbs: what a person asks for holds at the next pass, and not longer.
func TestOperatorsVerbs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		wish, undo []string
		held       string
	}{
		"pause of all": {
			[]string{"pause", "--reason", "maintenance"},
			[]string{"resume"},
			"pause: all (maintenance)",
		},
		"pause of a rule": {
			[]string{"pause", "rule:stop-ignored"},
			[]string{"resume", "rule:stop-ignored"},
			"pause: rule:stop-ignored",
		},
		"pause of provider": {
			[]string{"pause", "provider:daytona"},
			[]string{"resume", "provider:daytona"},
			"pause: provider:daytona",
		},
		"hold of the task": {
			[]string{"hold", "task:TASK", "--reason", "mine"},
			[]string{"unhold", "task:TASK"},
			"hold: task:TASK (mine)",
		},
		"hold of a bare id": {[]string{"hold", "BOX"}, []string{"unhold", "BOX"}, "hold: sandbox:BOX"},
		"hold of a label": {
			[]string{"hold", "label:agent_id=agent-1"},
			[]string{"unhold", "label:agent_id=agent-1"},
			"hold: label:agent_id=agent-1",
		},
		"mode lowered": {
			[]string{"mode", "stop-ignored", "observe"},
			[]string{"mode", "stop-ignored", "clear"},
			"observe",
		},
		"a hold that ended":  {[]string{"hold", "task:TASK", "--for", "2m"}, nil, "hold: task:TASK"},
		"a pause that ended": {[]string{"pause", "--for", "2m"}, nil, "pause: all"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{})
			ws := a.working(3)
			task := a.task(row{status: "cancelled", created: time.Hour, updated: time.Minute})
			box := a.box(task, time.Hour)
			named := strings.NewReplacer("TASK", task, "BOX", box.ID)
			a.must("migrate")
			a.must(replaced(named, tt.wish)...)
			r := a.once(0)
			if len(r.Steps) != 1 || !strings.Contains(r.Steps[0].HeldBy.String(), named.Replace(tt.held)) {
				t.Errorf("steps = %+v, want one held by %q", r.Steps, tt.held)
			}
			if n := len(a.cloud.Destructive()); n > 0 {
				t.Fatalf("%d destructive calls while held", n)
			}
			if tt.undo != nil {
				a.must(replaced(named, tt.undo)...)
			} else {
				a.later(121*time.Second, ws...)
			}
			a.once(0)
			if !a.ended(box.ID) {
				t.Error("the sandbox lives on after the wish was taken back")
			}
			a.keeps(ws)
		})
	}
}

func replaced(r *strings.Replacer, words []string) []string {
	out := slices.Clone(words)
	for i := range out {
		out[i] = r.Replace(out[i])
	}
	return out
}

// TestRuleSwitchedOff: a rule that is lowered to off finds nothing.
func TestRuleSwitchedOff(t *testing.T) {
	a := newArena(t, settings{})
	a.working(3)
	a.box(a.task(row{status: "cancelled", created: time.Hour, updated: time.Minute}), time.Hour)
	a.must("migrate")
	a.must("mode", "stop-ignored", "off", "--reason", "trying it")
	if r := a.once(0); len(r.Findings) != 0 {
		t.Errorf("findings = %+v, want none", r.Findings)
	}
}
