package tasks

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// bad are the lines that are not in order, as text.
func bad(lines []reconcile.CheckResult) []string {
	var out []string
	for _, l := range lines {
		if !l.OK {
			out = append(out, l.What+": "+l.Said+"; "+l.Fix)
		}
	}
	return out
}

func TestCheckOfAGoodDatabase(t *testing.T) {
	w := omoiosWorld(t)
	w.exec(
		`INSERT INTO program.tasks (status, sandbox_id, created_at) VALUES ('running', 'b', now() - interval '90 seconds'),
			('completed', 'a', now())`,
	)
	w.exec(`INSERT INTO program.sandbox_events (sandbox_id, event_type) VALUES ('b', 'agent.started')`)
	lines := w.tasks.Check(t.Context())
	if wrong := bad(lines); len(wrong) > 0 {
		t.Errorf("Check of a good database:\n%s", strings.Join(wrong, "\n"))
	}
	var whats []string
	for _, l := range lines {
		whats = append(whats, l.What)
	}
	for _, what := range []string{"task database", "clock " +
		"skew", "tasks.table", "events.table", "columns", "tasks.statuses",
		"index on the status", "index on the events", "index on the events' time", "clock created_at", "clock events", "live tasks", "grant UPDATE"} {
		if !slices.Contains(whats, what) {
			t.Errorf("no line on %q in %q", what, whats)
		}
	}
}

// TestCheckAdvisesIndexesOnEvents: that new events cannot be looked up, or that workers have many and all of them are
// gone through, is told, and is no reason to fail.
func TestCheckAdvisesIndexesOnEvents(t *testing.T) {
	w := omoiosWorld(t)
	w.exec("DROP INDEX sandbox_events_created_at_idx; CREATE INDEX ON sandbox_events USING hash (created_at)")
	line := func(what string) (found reconcile.CheckResult) {
		for _, l := range w.tasks.Check(t.Context()) {
			if l.What == what {
				found = l
			}
		}
		return found
	}
	const onTime, onTypes = "index on the events' time", "index on the events' types"
	const fix = `CREATE INDEX CONCURRENTLY ON "public"."sandbox_events" `
	if l := line(onTime); !l.OK || l.Fix != fix+`("created_at")` {
		t.Errorf("without an index on the time: %+v", l)
	}
	if l := line(onTypes); l.What != "" {
		t.Errorf("where nobody has events: %+v", l)
	}
	w.exec(`INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at)
		SELECT n, 'box-' || n % 20, 'agent.tool_use', now() FROM generate_series(1, 2000) AS n`)
	w.exec("ANALYZE")
	w.tasks.forget()
	if l := line(onTypes); !l.OK || l.Fix != fix+`("sandbox_id", "event_type", "created_at")` {
		t.Errorf("where each has a hundred: %+v", l)
	}
	w.exec(indexByType)
	w.tasks.forget()
	if l := line(onTypes); !l.OK || l.Fix != "" || l.What == "" {
		t.Errorf("with the index: %+v", l)
	}
}

// TestCheckFinds breaks one thing and wants its line, with the fix, and no other.
func TestCheckFinds(t *testing.T) {
	type events = mapping.EventMapping
	cases := map[string]struct {
		sql     string
		mapping mapping.Mapping
		want    []string
	}{
		"a typo in a column": {"", mapping.Mapping{Columns: map[string]string{"started_at": "startd_at"}},
			[]string{`tasks.columns.started_at: "public"."tasks" has no column "startd_at"; did you mean "started_at"?`}},
		"two typos": {
			"",
			mapping.Mapping{
				Columns: map[string]string{"started_at": "startd_at"},
				Events:  events{Columns: map[string]string{"type": "event_typ"}},
			},
			[]string{"did you mean \"started_at\"?", "events.columns.type", "did you mean \"event_type\"?"},
		},
		"a typo in an expression": {
			"",
			mapping.Mapping{Columns: map[string]string{"template": "(task_tpe || '')"}},
			[]string{"tasks.columns.template", "task_tpe"},
		},
		"a typo in fail.set": {
			"",
			mapping.Mapping{Fail: mapping.RowChange{Set: map[string]string{"completd_at": "@now"}}},
			[]string{"tasks.fail.set.completd_at", "did you mean \"completed_at\"?"},
		},
		"a typo in where": {"", mapping.Mapping{Where: "task_typ = 'a'"}, []string{"tasks.where", "task_typ"}},
		"a typo in the table": {
			"",
			mapping.Mapping{Table: "public.task"},
			[]string{"tasks.table", "did you mean \"tasks\"?"},
		},
		"a table of another schema": {
			"",
			mapping.Mapping{Table: "jobs.nothing_like_it"},
			[]string{"tasks.table", "does not exist"},
		},
		"a view": {
			"CREATE VIEW seen AS SELECT * FROM tasks",
			mapping.Mapping{Table: "seen"},
			[]string{"is not a table", "map the table behind it"},
		},
		"a timeout that is a number": {
			"",
			mapping.Mapping{Columns: map[string]string{"timeout": "timeout_seconds"}},
			[]string{"tasks.columns.timeout", "interval '1 second'"},
		},
		"a clock that is a number": {
			"",
			mapping.Mapping{Columns: map[string]string{"assigned_at": "retry_count"}},
			[]string{"tasks.columns.assigned_at", "to_timestamp"},
		},
		"attempts that are text": {
			"",
			mapping.Mapping{Columns: map[string]string{"attempts": "status"}},
			[]string{"tasks.columns.attempts", "an integer is needed"},
		},
		"a value of another type": {
			"",
			mapping.Mapping{Fail: mapping.RowChange{Set: map[string]string{"retry_count": "@reason"}}},
			[]string{"tasks.fail: "},
		},
		"a status that nobody mapped": {
			"INSERT INTO program.tasks (status) VALUES ('paused'), ('running')",
			mapping.Mapping{},
			[]string{"tasks.statuses", "paused"},
		},
		"the same without an index": {
			"DROP INDEX tasks_status_idx; INSERT INTO program.tasks (status) VALUES ('paused')",
			mapping.Mapping{},
			[]string{"paused", "CREATE INDEX"},
		},
		"a state that nobody knows": {
			"INSERT INTO program.tasks (status) VALUES ('x')",
			mapping.Mapping{Columns: map[string]string{"state": "('lost')"}},
			[]string{"tasks.columns.state", "lost"},
		},
		"no index on the status": {
			"DROP INDEX tasks_status_idx",
			mapping.Mapping{},
			[]string{`CREATE INDEX CONCURRENTLY ON "public"."tasks" ("status")`},
		},
		"no index on the events": {
			"DROP INDEX sandbox_events_sandbox_id_idx",
			mapping.Mapping{},
			[]string{`CREATE INDEX CONCURRENTLY ON "public"."sandbox_events" ("sandbox_id")`},
		},
		"only a partial index": {
			"DROP INDEX tasks_status_idx; CREATE INDEX ON tasks (status) WHERE status = 'running'",
			mapping.Mapping{},
			[]string{"CREATE INDEX"},
		},
		"no index on the status of partitions, and none that could make the id unique": {
			`DROP SCHEMA program CASCADE; ALTER TABLE tasks RENAME TO whole;
			CREATE TABLE tasks (LIKE whole INCLUDING DEFAULTS) PARTITION BY LIST (priority);
			CREATE TABLE tasks_rest PARTITION OF tasks DEFAULT`,
			mapping.Mapping{},
			[]string{`CREATE INDEX ON "public"."tasks" ("status")`},
		},
		"partitions of which an index could make the id unique": {
			`DROP SCHEMA program CASCADE; ALTER TABLE tasks RENAME TO whole;
			CREATE TABLE tasks (LIKE whole INCLUDING DEFAULTS) PARTITION BY HASH (id);
			CREATE TABLE tasks_rest PARTITION OF tasks FOR VALUES WITH (MODULUS 1, REMAINDER 0);
			CREATE INDEX ON tasks (status)`,
			mapping.Mapping{},
			[]string{"CREATE UNIQUE INDEX"},
		},
		"an id that is not unique": {
			"ALTER TABLE tasks DROP CONSTRAINT tasks_pkey CASCADE",
			mapping.Mapping{},
			[]string{"CREATE UNIQUE INDEX"},
		},
		"sandbox columns of two types": {
			"DROP SCHEMA program CASCADE; ALTER TABLE sandbox_events ALTER sandbox_id TYPE uuid USING NULL::uuid",
			mapping.Mapping{},
			[]string{"give both columns one type"},
		},
		"a clock that runs ahead": {
			"INSERT INTO program.tasks (status, updated_at) VALUES ('running', now() + interval '1 hour')",
			mapping.Mapping{},
			[]string{"clock updated_at", "ahead"},
		},
		"a clock in another time zone": {
			"ALTER TABLE tasks ADD made timestamp DEFAULT (now() AT TIME ZONE 'Asia/Tokyo'); INSERT INTO program.tasks (status) " +
				"VALUES ('running')",
			mapping.Mapping{Columns: map[string]string{"assigned_at": "made"}},
			[]string{"clock assigned_at", "tasks.timezone (UTC)"},
		},
		"a time zone that does not exist": {
			"",
			mapping.Mapping{Timezone: "Europe/Berln"},
			[]string{"task database", "Europe/Berln"},
		},
		"a column too short for a reason": {
			"DROP SCHEMA program CASCADE; ALTER TABLE tasks ALTER error_message TYPE varchar(50)",
			mapping.Mapping{},
			[]string{"50 characters", "50 characters"},
		},
		"an event data column of no json": {
			"DROP SCHEMA program CASCADE; ALTER TABLE sandbox_events ALTER event_data TYPE int USING 0",
			mapping.Mapping{Events: events{Write: true}},
			[]string{"events.columns.data", "jsonb"},
		},
		"an enum without the failed status": {
			"DROP SCHEMA program CASCADE; CREATE TYPE st AS ENUM ('pending', 'running'); ALTER TABLE tasks " +
				"ALTER status TYPE st USING status::st",
			mapping.Mapping{},
			[]string{"tasks.fail.status"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := omoiosWorld(t)
			if c.sql != "" {
				w.exec(c.sql)
			}
			c.mapping.Preset = "omoios"
			wrong := bad(w.open(c.mapping).Check(t.Context()))
			all := strings.Join(wrong, "\n")
			for _, part := range c.want {
				if !strings.Contains(all, part) {
					t.Errorf("no %q in\n%s", part, all)
				}
			}
			if len(wrong) == 0 != (len(c.want) == 0) || len(wrong) > max(2, len(c.want)) {
				t.Errorf("%d lines:\n%s", len(wrong), all)
			}
		})
	}
}

func TestCheckOfADatabaseThatIsGone(t *testing.T) {
	w := omoiosWorld(t)
	w.pool.Close()
	wrong := bad(w.tasks.Check(t.Context()))
	if len(wrong) != 1 || !strings.HasPrefix(wrong[0], "task database: ") {
		t.Errorf("Check without a database = %q, want its one line", wrong)
	}
}

func TestCheckComparesTheClocks(t *testing.T) {
	w := omoiosWorld(t)
	cases := map[time.Duration]bool{0: true, time.Second: true, 4 * time.Second: false, -4 * time.Second: false}
	for off, want := range cases {
		w.tasks.now = func() time.Time { return time.Now().Add(off) }
		i := slices.IndexFunc(
			w.tasks.Check(t.Context()),
			func(l reconcile.CheckResult) bool { return l.What == "clock skew" && l.OK },
		)
		if got := i >= 0; got != want {
			t.Errorf("a skew of %s is in order: %v, want %v", off, got, want)
		}
	}
}

// limited opens the database as a role with no more than the given grants.
func (w *world) limited(grants string) *Tasks {
	w.t.Helper()
	role := strings.Replace(w.text("SELECT current_database()"), "sandkeeper_test_", "limited_", 1)
	w.exec("CREATE ROLE " + role + " LOGIN PASSWORD 'x'")
	w.t.Cleanup(func() { dropRole(w, role) })
	w.exec(strings.ReplaceAll(grants, "ROLE", role))
	u, err := url.Parse(w.dsn)
	if err != nil {
		w.t.Fatal(err)
	}
	u.User = url.UserPassword(role, "x")
	return NewTasks(open(w.t, u.String()), w.tasks.plan, nil)
}

// dropRole runs at the end of the test, when its context is already cancelled.
func dropRole(w *world, role string) {
	ctx := context.WithoutCancel(w.t.Context())
	conn, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "DROP OWNED BY "+role+"; DROP ROLE "+role); err != nil {
		w.t.Error(err)
	}
}

func TestRoles(t *testing.T) {
	all := "GRANT SELECT ON tasks, sandbox_events, tickets, projects, specs TO ROLE; "
	cases := map[string]struct {
		grants string
		check  string // "" when in order
		write  string // "" when it works
	}{
		"may read only": {
			all,
			`GRANT UPDATE ("status", "conversation_id", "error_message", "completed_at", "retry_count", "sandbox_id")`,
			"GRANT UPDATE",
		},
		"may fail only": {
			all + "GRANT UPDATE (status, completed_at, error_message) ON tasks TO ROLE",
			`GRANT UPDATE ("conversation_id", "retry_count", "sandbox_id")`,
			"",
		},
		"may do all that is needed": {
			all + "GRANT UPDATE (status, completed_at, error_message, sandbox_id, conversation_id, retry_count) ON tasks TO " +
				"ROLE",
			"",
			"",
		},
		"may do nothing": {"SELECT 1", "GRANT SELECT ON", "GRANT SELECT ON"},
		"may not see the events": {
			"GRANT SELECT, UPDATE ON tasks TO ROLE; GRANT SELECT ON tickets, projects, specs TO ROLE",
			`GRANT SELECT ON "public"."sandbox_events"`,
			"GRANT SELECT",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := omoiosWorld(t)
			task := w.running("1")
			tasks := w.limited(c.grants)
			wrong := strings.Join(bad(tasks.Check(t.Context())), "\n")
			if (wrong == "") != (c.check == "") || !strings.Contains(wrong, c.check) {
				t.Errorf("Check = %q, want %q", wrong, c.check)
			}
			_, _, err := tasks.Write(
				t.Context(),
				reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason, Refutable: true, Lock: true},
			)
			if (err == nil) != (c.write == "") || err != nil && !strings.Contains(err.Error(), c.write) {
				t.Errorf("Write = %v, want %q", err, c.write)
			}
		})
	}
}

// TestErrorsSaySomethingUseful reads through mappings that do not fit.
func TestErrorsSaySomethingUseful(t *testing.T) {
	cases := map[string]struct {
		mapping mapping.Mapping
		want    string
	}{
		"a column that is missing":          {mapping.Mapping{Columns: map[string]string{"error": "eror"}}, "a mapped column does not exist"},
		"a column of where that is missing": {mapping.Mapping{Where: "eror IS NULL"}, "correct tasks.columns, tasks.where, "},
		"a function that is missing":        {mapping.Mapping{Columns: map[string]string{"error": "(eror(1))"}}, "calls a function"},
		"a table that is missing":           {mapping.Mapping{Table: "public.jobs"}, "a mapped table does not exist"},
		"a type that does not fit": {
			mapping.Mapping{Columns: map[string]string{"timeout": "timeout_seconds"}},
			"does not fit its field",
		},
		"a value that does not": {
			mapping.Mapping{Columns: map[string]string{"max_attempts": "status"}},
			"does not read as its field's type",
		},
	}
	w := omoiosWorld(t)
	w.exec("INSERT INTO program.tasks (status) VALUES ('running')")
	for name, c := range cases {
		c.mapping.Preset = "omoios"
		_, err := w.open(c.mapping).Live(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "read the live tasks: ") {
			t.Errorf("%s: Live = %v, want %q", name, err, c.want)
		}
	}
}
