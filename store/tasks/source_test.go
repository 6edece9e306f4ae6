package tasks

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// joined is a platform whose job has its state, its machine and its beats in tables of their own, one of them with a row
// for each try. reads are two ways to say what a job is.
const joined = `CREATE TABLE jobs (id uuid PRIMARY KEY, owner text, note text);
	CREATE TABLE tries (n serial PRIMARY KEY, job uuid, status text, box text);
	CREATE TABLE beats (job uuid, at timestamptz);
	CREATE VIEW job_list AS SELECT j.id AS job_id, j.note, t.status, t.box, b.at AS beat FROM jobs AS j
		JOIN LATERAL (SELECT * FROM tries WHERE tries.job = j.id ORDER BY n DESC LIMIT 1) AS t ON true
		LEFT JOIN (SELECT job, max(at) AS at FROM beats GROUP BY job) AS b ON b.job = j.id;
	INSERT INTO jobs VALUES ('00000000-0000-4000-8000-000000000001'), ('00000000-0000-4000-8000-000000000002');
	INSERT INTO tries (job, status, box) SELECT id, 'failed', 'old' FROM jobs;
	INSERT INTO tries (job, status, box) SELECT id, 'running', 'box-' || right(id::text, 1) FROM jobs`

var joinedReads = map[string]string{
	"a view": "public.job_list",
	"a query": `SELECT j.id AS job_id, j.note, t.status, t.box, (SELECT max(at) FROM beats WHERE beats.job = j.id) AS beat
		FROM jobs AS j JOIN LATERAL (SELECT * FROM tries WHERE tries.job = j.id ORDER BY n DESC LIMIT 1) AS t ON true`,
}

// endTry is what fails a job of the platform besides its row.
const endTry = "UPDATE public.tries SET status = 'failed' WHERE n = (SELECT max(n) FROM public.tries WHERE job = @id::uuid)"

func joinedMapping(from string) mapping.Mapping {
	return mapping.Mapping{
		Table: "public.jobs", From: from, Key: "id",
		Columns: map[string]string{"id": "job_id", "status": "(task.status)", "sandbox": "box", "heartbeat_at": "beat", "error": "note"},
		Statuses: map[string][]string{"pending": {"pending"}, "running": {"running"}, "failed": {"failed"},
			"completed": {"completed"}},
		Fail: mapping.RowChange{Set: map[string]string{"note": "@reason"}, SQL: []string{endTry}},
	}
}

// TestFrom reads tasks from a view and from a query, and writes the row behind them under the guards of any write: the
// version is that of all that was read.
func TestFrom(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile string
		write     reconcile.Write
		want      reconcile.Written
	}{
		"nothing happened":                    {"", reconcile.Write{}, reconcile.WriteDone},
		"another column was written":          {"UPDATE jobs SET note = 'x'", reconcile.Write{}, reconcile.WriteBusy},
		"another column, locked":              {"UPDATE jobs SET note = 'x'", reconcile.Write{Lock: true}, reconcile.WriteDone},
		"what is not read was written":        {"UPDATE jobs SET owner = 'x'", reconcile.Write{}, reconcile.WriteDone},
		"it went on to a next try":            {"INSERT INTO tries (job, status, box) SELECT id, 'pending', 'box-1' FROM jobs", reconcile.Write{Lock: true}, reconcile.WriteMoved},
		"the next try has another sandbox":    {"INSERT INTO tries (job, status, box) SELECT id, 'running', 'box-9' FROM jobs", reconcile.Write{Lock: true}, reconcile.WriteMoved},
		"it was completed":                    {"UPDATE tries SET status = 'completed'", reconcile.Write{Lock: true}, reconcile.WriteMoved},
		"a beat came":                         {"INSERT INTO beats SELECT id, now() FROM jobs", reconcile.Write{Lock: true, Refutable: true}, reconcile.WriteAlive},
		"a beat came that refutes nothing":    {"INSERT INTO beats SELECT id, now() FROM jobs", reconcile.Write{Lock: true}, reconcile.WriteDone},
		"its row is gone and its tries stand": {"DELETE FROM jobs", reconcile.Write{Lock: true}, reconcile.WriteMoved},
	} {
		for how, from := range joinedReads {
			t.Run(name+", "+how, func(t *testing.T) {
				w := newWorld(t, joined, joinedMapping(from))
				live := w.live()
				if len(live) != 2 || live[id("1")].Sandbox != "box-1" || live[id("1")].State != reconcile.TaskRunning {
					t.Fatalf("live = %v", live)
				}
				if c.meanwhile != "" {
					w.exec(c.meanwhile)
				}
				c.write.Task, c.write.Step, c.write.Reason = live[id("1")], reconcile.StepFail, reason
				written, before, err := w.tasks.Write(t.Context(), c.write)
				if err != nil || written != c.want || before != nil {
					t.Fatalf("Write = %q, %v, %v; want %q and no way back", written, before, err, c.want)
				}
				failed := w.text("SELECT count(*)::text FROM tries WHERE status = 'failed' AND box <> 'old'")
				if done := c.want == reconcile.WriteDone; done != (failed == "1") {
					t.Errorf("%s tries were failed after %q", failed, written)
				}
				if c.want == reconcile.WriteDone && w.text("SELECT note FROM jobs WHERE id = $1", id("1")) != reason {
					t.Error("the row does not say why")
				}
				if got := w.text("SELECT count(*)::text FROM jobs WHERE id = $1 AND note = $2", id("2"), reason); got != "0" {
					t.Error("another row was written")
				}
			})
		}
	}
}

// TestOthersWriteMeanwhile: whoever completes a job in a table that the repair writes too is not overwritten, whether the
// tasks are read from one table or from several, and a row that somebody has locked is not waited for.
func TestOthersWriteMeanwhile(t *testing.T) {
	plain := joinedMapping("")
	plain.Key, plain.Columns = "", map[string]string{"id": "id", "error": "note",
		"status": "((SELECT status FROM public.tries WHERE tries.job = jobs.id ORDER BY n DESC LIMIT 1))"}
	for name, m := range map[string]mapping.Mapping{"a query": joinedMapping(joinedReads["a query"]), "the table": plain} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, joined, m)
			tx, err := w.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "UPDATE tries SET status = 'completed' WHERE status = 'running'"); err != nil {
				t.Fatal(err)
			}
			refused := make(chan error)
			task := w.one(id("1"))
			write := reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason, Lock: true}
			go func() {
				_, _, err := w.tasks.Write(t.Context(), write)
				refused <- err
			}()
			w.untilSomebodyWaits()
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-refused; err == nil || !strings.Contains(err.Error(), "another transaction was in the way") {
				t.Errorf("Write = %v", err)
			}
			if got := w.text("SELECT string_agg(DISTINCT status, ' ' ORDER BY status) FROM tries"); got != "completed failed" {
				t.Errorf("the tries are %s", got)
			}
			if got := w.text("SELECT count(*)::text FROM jobs WHERE note IS NOT NULL"); got != "0" {
				t.Error("the row was written")
			}
		})
		t.Run(name+", locked", func(t *testing.T) {
			// A repair that writes other tables alone rests on the row as well.
			m.Fail = mapping.RowChange{SQL: []string{strings.Replace(endTry, "SET", "SET box = @reason,", 1)}}
			w := newWorld(t, joined, m)
			w.pool.Close()
			w.pool = open(t, w.dsn+"&lock_timeout=200ms")
			w.tasks = w.open(m)
			task := w.one(id("1"))
			tx, err := w.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "UPDATE jobs SET owner = 'x'"); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason, Lock: true}); err == nil ||
				!strings.Contains(err.Error(), "holds the row") {
				t.Errorf("Write = %v", err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestSeveralRowsOfOneID: a join that repeats a task says nothing of it; it is shown once and in no state.
func TestSeveralRowsOfOneID(t *testing.T) {
	m := joinedMapping("SELECT j.id AS job_id, j.note, t.status, t.box, NULL::timestamptz AS beat FROM jobs AS j JOIN tries AS t ON t.job = j.id")
	w := newWorld(t, joined, m)
	if live := w.live(); live[id("1")].State != reconcile.TaskRunning {
		t.Errorf("one live row of several, the others over: %v", live)
	}
	if got := w.one(id("1")); got.State != reconcile.TaskUnknown || !strings.HasSuffix(got.Status, repeated) {
		t.Errorf("two rows of one id are %q, %q", got.State, got.Status)
	}
	w.exec("INSERT INTO tries (job, status, box) VALUES ($1, 'running', 'box-3'), ($1, 'running', 'box-4')", id("1"))
	live := w.live()
	if got := live[id("1")]; len(live) != 2 || got.State != reconcile.TaskUnknown || live[id("2")].State != reconcile.TaskRunning {
		t.Errorf("live = %v", live)
	}
	var said string
	for _, line := range w.tasks.Check(t.Context()) {
		if !line.OK && line.What == "tasks.from" {
			said = line.Said
		}
	}
	if want := `gives several rows of one id, as of ["` + id("1") + `"]: nothing is judged from these`; said != want {
		t.Errorf("check says %q", said)
	}
}

// TestCheckOfFrom: what is read elsewhere than it is written is checked in both places.
func TestCheckOfFrom(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*mapping.Mapping)
		what   string
		said   string
		ok     bool
	}{
		"a view":              {func(*mapping.Mapping) {}, "tasks.from", `"public"."job_list" is a view`, true},
		"each once":           {func(*mapping.Mapping) {}, "tasks.from", "has each live task once", true},
		"tried":               {func(*mapping.Mapping) {}, "tasks.fail", "was tried on a live row, and rolled back", true},
		"no such view":        {func(m *mapping.Mapping) { m.From = "public.job_lists" }, "tasks.from", `"public"."job_lists" does not exist`, false},
		"no such column":      {func(m *mapping.Mapping) { m.Columns["sandbox"] = "boxx" }, "tasks.columns.sandbox", `has no column "boxx"`, false},
		"a query of nothing":  {func(m *mapping.Mapping) { m.From = "SELECT * FROM nothing" }, "tasks.from", `relation "nothing" does not exist`, false},
		"what does not fail":  {func(m *mapping.Mapping) { m.Fail.SQL = []string{"SELECT @id"} }, "tasks.fail", `the row would be "running" and not failed`, false},
		"a key of many":       {func(m *mapping.Mapping) { m.Key = "note" }, "tasks.key", `no index makes "note" unique`, false},
		"nothing is written":  {func(m *mapping.Mapping) { m.Table, m.Key, m.Fail = "", "", mapping.RowChange{None: true} }, "tasks.from", "has each live task once", true},
		"a view as the table": {func(m *mapping.Mapping) { m.Table, m.From, m.Key = "public.job_list", "", "" }, "tasks.table", "is not a table", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := joinedMapping("public.job_list")
			c.change(&m)
			w := newWorld(t, joined, m)
			var all []string
			for _, line := range w.tasks.Check(t.Context()) {
				if line.What == c.what && strings.Contains(line.Said, c.said) && line.OK == c.ok {
					return
				}
				all = append(all, line.What+": "+line.Said)
			}
			t.Errorf("check says\n%s", strings.Join(all, "\n"))
		})
	}
}

// TestRunAgainFrom: the SQL for people finds its rows where they are read and changes them where they are written.
func TestRunAgainFrom(t *testing.T) {
	m := joinedMapping("public.job_list")
	m.Columns["status"] = "status"
	m.Requeue = mapping.RowChange{Set: map[string]string{"note": "@reason"}, Status: "pending"}
	c, err := Compile(m.WithPreset())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, pgtest.OmoiOS, mapping.Mapping{Preset: "omoios"})
	w.exec(joined + "; ALTER TABLE jobs ADD status text; UPDATE tries SET status = 'failed'; UPDATE jobs SET note = 'why [sandkeeper a]' WHERE id = '" + id("1") + "'")
	w.exec(c.RunAgain([]string{id("1"), id("2")}, "again"))
	if got := w.text("SELECT string_agg(coalesce(status, 'NULL'), ' ' ORDER BY id) FROM jobs"); got != "pending NULL" {
		t.Errorf("rows = %s", got)
	}
	m.Requeue.SQL = []string{"DELETE FROM public.tries WHERE job = @id::uuid"}
	if c, err = Compile(m.WithPreset()); err != nil || !strings.Contains(c.RunAgain([]string{id("1")}, "again"), "more than one UPDATE") {
		t.Errorf("statements: %v", err)
	}
}
