package tasks

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// TestStatementsOrNone: a status that its table generates, as Coder's, is failed by the config's statements, under the
// same guards as any write, by all of them or by none.
func TestStatementsOrNone(t *testing.T) {
	const schema = `CREATE TABLE jobs (id uuid PRIMARY KEY, began timestamptz, ended timestamptz, note text,
			status text GENERATED ALWAYS AS (CASE WHEN ended IS NOT NULL THEN 'failed' WHEN began IS NULL THEN 'pending'
				ELSE 'running' END) STORED);
		CREATE TABLE history (job uuid, why text CHECK (why <> 'refused'))`
	const tell = "INSERT INTO public.history (job, why) VALUES (@id::uuid, @reason)"
	const end = "UPDATE public.jobs SET ended = @now, note = @reason WHERE id = @id::uuid"
	statuses := map[string]string{
		"generated": "status",
		"computed":  "(CASE WHEN jobs.ended IS NOT NULL THEN 'failed' WHEN jobs.began IS NULL THEN 'pending' ELSE 'running' END)",
	}
	for name, c := range map[string]struct {
		sql       []string
		meanwhile string
		lock      bool
		reason    string
		want      reconcile.Written
		err       string
	}{
		"nothing happened":                   {sql: []string{tell, end}, want: reconcile.WriteDone},
		"another column was written":         {sql: []string{tell, end}, meanwhile: "UPDATE jobs SET note = 'x'", want: reconcile.WriteBusy},
		"another column was written, locked": {sql: []string{tell, end}, meanwhile: "UPDATE jobs SET note = 'x'", lock: true, want: reconcile.WriteDone},
		"the status changed":                 {sql: []string{tell, end}, meanwhile: "UPDATE jobs SET began = NULL", lock: true, want: reconcile.WriteMoved},
		"the row is gone":                    {sql: []string{tell, end}, meanwhile: "DELETE FROM jobs", lock: true, want: reconcile.WriteMoved},
		"the statements do not fail it":      {sql: []string{tell}, err: `the row would be "running" and not failed`},
		"they take it away":                  {sql: []string{tell, "DELETE FROM public.jobs WHERE id = @id::uuid"}, err: "no row has the id"},
		"a later one is refused":             {sql: []string{end, tell}, reason: "refused", err: "tasks.fail.sql[1]"},
	} {
		for how, status := range statuses {
			t.Run(name+", "+how, func(t *testing.T) {
				w := newWorld(t, schema, mapping.Mapping{Table: "jobs", Columns: map[string]string{"id": "id", "status": status, "error": "note"},
					Statuses: map[string][]string{"pending": {"pending"}, "running": {"running"}, "failed": {"failed"}},
					Fail:     mapping.RowChange{SQL: c.sql}})
				w.exec("INSERT INTO jobs (id, began) VALUES ($1, now())", id("1"))
				task := w.one(id("1"))
				if c.meanwhile != "" {
					w.exec(c.meanwhile)
				}
				said := c.reason
				if said == "" {
					said = reason
				}
				written, before, err := w.tasks.Write(w.t.Context(),
					reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: said, Lock: c.lock})
				if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || written != c.want {
					t.Fatalf("Write = %q, %v; want %q, %q", written, err, c.want, c.err)
				}
				is := w.text("SELECT coalesce((SELECT status FROM jobs), 'gone') || ' ' || (SELECT count(*) FROM history)")
				if done := c.want == reconcile.WriteDone; done != (is == "failed 1") || !done && !strings.HasSuffix(is, " 0") {
					t.Errorf("row and history = %q after %q", is, written)
				}
				if before != nil {
					t.Error("a way back is kept, which would bring back one table of two")
				}
			})
		}
	}
}

// TestComposedID: rows that two columns name are read, locked and written by an expression of both.
func TestComposedID(t *testing.T) {
	w := newWorld(t, `CREATE TABLE runs (org text, n int, status text, note text, PRIMARY KEY (org, n))`, mapping.Mapping{
		Table: "runs", Columns: map[string]string{"id": "(org || '/' || n)", "status": "status", "error": "note"},
		Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}},
		Fail:     mapping.RowChange{Status: "failed", Set: map[string]string{"note": "@reason"}}})
	w.exec("INSERT INTO runs (org, n, status) VALUES ('a', 1, 'running'), ('a', 11, 'running'), ('b', 1, 'running')")
	if live := w.live(); len(live) != 3 || live["a/1"].ID != "a/1" {
		t.Fatalf("live = %v", live)
	}
	if got := w.fail(w.one("a/1"), reason); got != reconcile.WriteDone {
		t.Fatalf("Write = %s", got)
	}
	if got := w.text("SELECT string_agg(org || n || status, ' ' ORDER BY org, n) FROM runs"); got != "a1failed a11running b1running" {
		t.Errorf("rows = %s", got)
	}
	w.exec("ALTER TABLE runs DROP CONSTRAINT runs_pkey")
	w.exec("INSERT INTO runs (org, n, status) VALUES ('b', 1, 'running')")
	if _, _, err := w.tasks.Write(w.t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: reconcile.Task{ID: "b/1", Status: "running"},
		Reason: reason, Lock: true}); err == nil || !strings.Contains(err.Error(), "must be unique") {
		t.Errorf("two rows of one id: %v", err)
	}
	for _, line := range w.tasks.Check(t.Context()) {
		if !line.OK && strings.Contains(line.What, "id") {
			t.Errorf("check: %+v", line)
		}
	}
}
