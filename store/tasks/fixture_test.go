package tasks

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// A world is a task database of its own for one test.
type world struct {
	t     *testing.T
	dsn   string
	pool  *pgxpool.Pool
	tasks *Tasks
}

// newWorld makes a database with the given schema and opens its tasks by the mapping.
func newWorld(t *testing.T, schema string, m mapping.Mapping) *world {
	t.Helper()
	w := &world{t: t, dsn: pgtest.Database(t)}
	w.pool = open(t, w.dsn)
	w.exec(schema)
	w.tasks = w.open(m)
	w.tasks.RememberEvents()
	return w
}

func omoiosWorld(t *testing.T) *world {
	t.Helper()
	return newWorld(t, pgtest.OmoiOS+pgtest.OmoiOSProgram, mapping.Mapping{Preset: "omoios"})
}

// uuidWorld is a platform whose ids are of the type uuid, with one running task.
func uuidWorld(t *testing.T) (*world, reconcile.Task) {
	t.Helper()
	w := newWorld(t, "CREATE TABLE jobs_by_uuid (id uuid PRIMARY KEY, status text, note text)", mapping.Mapping{
		Table: "jobs_by_uuid", Columns: map[string]string{"id": "id", "status": "status", "error": "note"},
		Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}},
		Fail:     mapping.RowChange{Status: "failed", Set: map[string]string{"note": "@reason"}},
	})
	w.exec("INSERT INTO jobs_by_uuid (id, status) VALUES ($1, 'running')", id("1"))
	return w, w.one(id("1"))
}

func open(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	pool, err := store.Open(t.Context(), dsn, store.OpenOptions{Name: "tasks", LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// open is the same database by another mapping.
func (w *world) open(m mapping.Mapping) *Tasks {
	w.t.Helper()
	c, err := Compile(m.WithPreset())
	if err != nil {
		w.t.Fatal(err)
	}
	return NewTasks(w.pool, c, nil)
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.pool.Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatalf("%.200s: %v", sql, err)
	}
}

func (w *world) text(sql string, args ...any) string {
	w.t.Helper()
	var out *string
	if err := w.pool.QueryRow(w.t.Context(), sql, args...).Scan(&out); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	if out == nil {
		return "NULL"
	}
	return *out
}

// id is an id as the platform makes them, text that looks like a uuid; it ends with n.
func id(n string) string { return "00000000-0000-4000-8000-00000000000" + n }

// one reads the one task with the id.
func (w *world) one(id string) reconcile.Task {
	w.t.Helper()
	rows, err := w.tasks.ByID(w.t.Context(), []string{id})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(rows.Tasks) != 1 {
		w.t.Fatalf("ByID(%s) = %d rows, want 1", id, len(rows.Tasks))
	}
	return rows.Tasks[0]
}

func (w *world) live() map[string]reconcile.Task {
	w.t.Helper()
	rows, err := w.tasks.Live(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return byID(rows)
}

func byID(rows reconcile.Rows) map[string]reconcile.Task {
	out := map[string]reconcile.Task{}
	for _, t := range rows.Tasks {
		out[t.ID] = t
	}
	return out
}

func (w *world) write(c reconcile.Write) reconcile.Written {
	w.t.Helper()
	written, _, err := w.tasks.Write(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return written
}

// fail is a write that nothing refutes.
func (w *world) fail(task reconcile.Task, why string) reconcile.Written {
	w.t.Helper()
	return w.write(reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: why})
}

func utc(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return at
}
