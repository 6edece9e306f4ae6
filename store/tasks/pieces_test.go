package tasks

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// One row with a time that no time with a zone can be stops nobody's pass: it is left out, named, and its
// sandbox is explained by it.
func TestOneRowStopsNoPass(t *testing.T) {
	w := newWorld(t, realCoding, mapping.Mapping{Preset: mapping.CodingAgentName, Timezone: "Asia/Tokyo"})
	var log bytes.Buffer
	w.tasks.ReportTo(slog.New(slog.NewTextHandler(&log, nil)))
	w.exec("INSERT INTO tasks (id, prompt, user_id, status, sandbox_id) SELECT 'x' || n, '', 'u', 'processing', 'sbx_x' || n FROM generate_series(1, 40) AS n")
	w.exec("UPDATE tasks SET updated_at = '4714-11-24 00:00:00 BC' WHERE id IN ('x7', 'x31')")
	for name, read := range map[string]func() (reconcile.Rows, error){
		"all live tasks": func() (reconcile.Rows, error) { return w.tasks.Live(t.Context()) },
		"by id":          func() (reconcile.Rows, error) { return w.tasks.ByID(t.Context(), append(numbered("x"), "a", "b", "c")) },
		"by sandbox": func() (reconcile.Rows, error) {
			return w.tasks.BySandbox(t.Context(), append(numbered("sbx_x"), "sbx_1"))
		},
	} {
		rows, err := read()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := map[string]reconcile.Task{}
		for _, task := range rows.Tasks {
			got[task.ID] = task
		}
		if len(got) < 41 || len(got) != len(rows.Tasks) {
			t.Errorf("%s: %d rows, %d of them different", name, len(rows.Tasks), len(got))
		}
		for id, want := range map[string]reconcile.TaskState{"x6": "running", "x7": "", "x31": "", "x40": "running", "a": "running"} {
			if task := got[id]; task.State != want || task.Sandbox == "" || want == "" && !strings.Contains(task.Status, "cannot be read: timestamp out of range") {
				t.Errorf("%s: %s is %+v, want state %q", name, id, task, want)
			}
		}
	}
	for _, id := range []string{"x7", "x31"} {
		if n := strings.Count(log.String(), "task="+id+" "); n != 1 {
			t.Errorf("%s is told of %d times, want once:\n%s", id, n, log.String())
		}
	}
}

// A row whose text is none of its field's type comes back as one that nothing is judged from, also when it is asked
// for alone: only where no live row can be read is the mapping wrong.
func TestOneRowAlone(t *testing.T) {
	w := newWorld(t, "CREATE TABLE tasks (id text PRIMARY KEY, status text, box text, begun text);"+
		"INSERT INTO tasks VALUES ('a', 'running', 'sb-a', 'yesterday noon-ish'), ('b', 'running', 'sb-b', '2026-01-01')",
		mapping.Mapping{Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "sandbox": "box",
			"started_at": "(begun::timestamptz)"}, Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}}})
	for name, read := range map[string]func() (reconcile.Rows, error){
		"by id":      func() (reconcile.Rows, error) { return w.tasks.ByID(t.Context(), []string{"a"}) },
		"by sandbox": func() (reconcile.Rows, error) { return w.tasks.BySandbox(t.Context(), []string{"sb-a"}) },
	} {
		rows, err := read()
		if err != nil || len(rows.Tasks) != 1 || rows.Tasks[0].State != reconcile.TaskUnknown || rows.Tasks[0].Sandbox != "sb-a" {
			t.Errorf("%s: %+v, %v; want the row, in no state", name, rows.Tasks, err)
		}
	}
	w.exec("DELETE FROM tasks WHERE id = 'b'")
	if _, err := w.tasks.Live(t.Context()); err == nil {
		t.Error("no live row can be read, and the mapping passes")
	}
}

// What else than data is wrong with a value of one row stops no pass either: NaN for a whole number, a JSON that is
// nested too deep, what a domain or a function of the platform's does not take.
func TestOneRowOfOtherClassesStopsNoPass(t *testing.T) {
	for name, test := range map[string]struct{ bad, field, expression string }{
		"NaN":                   {"NaN", "attempts", "(v::numeric::integer)"},
		"nested too deep":       {strings.Repeat("[", 100_000), "session", "(v::jsonb->>0)"},
		"none of a domain":      {"-1", "attempts", "(v::even::integer)"},
		"refused by a function": {"odd", "session", "(strict(v))"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "CREATE TABLE tasks (id text PRIMARY KEY, status text, box text, v text);"+
				"CREATE DOMAIN even AS integer CHECK (VALUE % 2 = 0);"+
				"CREATE FUNCTION strict(v text) RETURNS text LANGUAGE plpgsql AS "+
				"$$BEGIN IF v = 'odd' THEN RAISE EXCEPTION 'an odd one'; END IF; RETURN v; END$$;"+
				"INSERT INTO tasks SELECT 'x' || n, 'running', 'sb-' || n, '2' FROM generate_series(1, 9) AS n",
				mapping.Mapping{Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "sandbox": "box",
					test.field: test.expression}, Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}}})
			w.exec("INSERT INTO tasks VALUES ('bad', 'running', 'sb-bad', $1)", test.bad)
			rows, err := w.tasks.Live(t.Context())
			if err != nil || len(rows.Tasks) != 10 {
				t.Fatalf("Live = %d rows, %v; want 10", len(rows.Tasks), err)
			}
			for _, task := range rows.Tasks {
				want := reconcile.TaskRunning
				if task.ID == "bad" {
					want = reconcile.TaskUnknown
				}
				if task.State != want || task.Sandbox == "" {
					t.Errorf("%s is %+v, want state %q", task.ID, task, want)
				}
			}
		})
	}
}

func numbered(prefix string) (out []string) {
	for n := range 40 {
		out = append(out, fmt.Sprint(prefix, n+1))
	}
	return out
}

// A notification that cannot be sent as it is undoes no repair.
func TestOneNoticeStopsNoRepair(t *testing.T) {
	w := newWorld(t, `CREATE TABLE tasks (id text PRIMARY KEY, status text NOT NULL, error text)`,
		mapping.Mapping{Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "error": "error"},
			Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}}, Notify: "told",
			Fail: mapping.RowChange{Status: "failed", Set: map[string]string{"error": "@reason"}}})
	listener, err := pgx.ConnectConfig(t.Context(), w.tasks.pool.Config().ConnConfig.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close(t.Context())
	if _, err := listener.Exec(t.Context(), "LISTEN told"); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long-", 1800)
	w.exec("INSERT INTO tasks VALUES ($1, 'running')", long)
	if got := w.fail(w.one(long), reason); got != reconcile.WriteDone {
		t.Errorf("a task with a long id: %s, want it failed", got)
	}
	if got := w.text("SELECT status FROM tasks"); got != "failed" {
		t.Errorf("its row is %s", got)
	}
	heard, err := listener.WaitForNotification(t.Context())
	if err != nil || !strings.Contains(heard.Payload, `"cut":"true"`) || !strings.Contains(heard.Payload, `"task":"long-long-`) {
		t.Errorf("heard %.200s, %v; want the start of the id, and that it was cut", heard.Payload, err)
	}
}
