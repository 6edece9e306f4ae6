package tasks

import (
	"context"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// failed fails the task with the id and returns what restore needs.
func (w *world) failed(step reconcile.Step, task reconcile.Task) reconcile.RowBefore {
	w.t.Helper()
	written, before, err := w.tasks.Write(w.t.Context(), reconcile.Write{Step: step, Task: task, Reason: reason})
	if err != nil || written != reconcile.WriteDone || before == nil {
		w.t.Fatalf("Write = %s, %v, %v, want done and the row before", written, before, err)
	}
	return *before
}

func (w *world) restore(id string, before reconcile.RowBefore) (reconcile.Written, error) {
	w.t.Helper()
	return w.tasks.Restore(w.t.Context(), id, before)
}

// A table whose written columns are of every kind that a text may not survive.
const tableOfManyTypes = `CREATE TYPE stage AS ENUM ('todo', 'doing', 'broken');
	CREATE TABLE "Jobs" (id bigint PRIMARY KEY, stage stage NOT NULL, box varchar(20), "Note" text, code character(6),
		flags bit(3), tags text[], data jsonb, raw bytea, at timestamptz, local timestamp, "left" interval, ok boolean, n numeric(8, 3));
	INSERT INTO "Jobs" VALUES (1, 'doing', 'box-1', E'it''s "so"\n{}', 'abc', B'101', '{a,NULL,"b c"}', '{"k": [1, null]}', '\x00ff',
		'2026-02-01 09:00:00.123456+02', '2026-02-01 09:00:00.654321', '1 mon 2 days 03:04:05', true, 12345.678),
		(2, 'doing', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`

func manyTypes() mapping.Mapping {
	set := map[string]string{"Note": "@reason", "local": "@now"}
	for _, column := range []string{"box", "code", "flags", "tags", "data", "raw", "at", `left`, "ok", "n"} {
		set[column] = "NULL"
	}
	return mapping.Mapping{
		Table: `public."Jobs"`, Columns: map[string]string{"id": "id", "status": "stage", "sandbox": "box", "error": "Note"},
		Statuses: map[string][]string{"pending": {"todo"}, "running": {"doing"}, "failed": {"broken"}},
		Fail:     mapping.RowChange{Status: "broken", Set: set},
	}
}

// TestRestoreBringsTheRowBack: to the byte, whatever the columns' types.
func TestRestoreBringsTheRowBack(t *testing.T) {
	w := newWorld(t, tableOfManyTypes, manyTypes())
	for _, id := range []string{"1", "2"} {
		const row = `SELECT t::text FROM "Jobs" AS t WHERE id = $1`
		was := w.text(row, id)
		before := w.failed(reconcile.StepFail, w.one(id))
		if is := w.text(row, id); is == was || !strings.Contains(is, reason) {
			t.Fatalf("the row was not failed: %s", is)
		}
		if len(before.Columns) != 13 || *before.Columns["stage"] != "doing" || before.Mark != "[sandkeeper a-1]" {
			t.Errorf("row before = %+v, want the 13 written columns and the mark", before)
		}
		if got, err := w.restore(id, before); got != reconcile.WriteDone || err != nil {
			t.Fatalf("Restore = %s, %v, want done", got, err)
		}
		if is := w.text(row, id); is != was {
			t.Errorf("restored:\n%s\nwas:\n%s", is, was)
		}
		if got, err := w.restore(id, before); got != reconcile.WriteDone || err != nil {
			t.Errorf("Restore again = %s, %v, want done: the row is as it was", got, err)
		}
	}
}

func TestRestoreOfARequeue(t *testing.T) {
	w := omoiosWorld(t)
	before := w.failed(reconcile.StepRequeue, w.running("1"))
	if got, err := w.restore(id("1"), before); got != reconcile.WriteDone || err != nil {
		t.Fatalf("Restore = %s, %v, want done", got, err)
	}
	got := w.text("SELECT concat_ws('|', status, sandbox_id, conversation_id, retry_count, error_message) FROM tasks")
	if want := "running|box-1|c|0"; got != want {
		t.Errorf("row = %s, want %s", got, want)
	}
}

// TestRestoreGuards: the exemption from "no terminal row is written" is our own version and
// our own mark, nothing less.
func TestRestoreGuards(t *testing.T) {
	cases := map[string]struct {
		meanwhile string
		change    func(*reconcile.RowBefore)
		want      reconcile.Written
		says      string // part of the error
	}{
		"nothing happened":            {want: reconcile.WriteDone},
		"another column was written":  {meanwhile: "UPDATE tasks SET updated_at = now()", want: reconcile.WriteMoved},
		"written with what it had":    {meanwhile: "UPDATE tasks SET status = status", want: reconcile.WriteMoved},
		"the user runs it again":      {meanwhile: "UPDATE tasks SET status = 'running', sandbox_id = 'box-9'", want: reconcile.WriteMoved},
		"it was deleted":              {meanwhile: "DELETE FROM tasks", want: reconcile.WriteMoved},
		"somebody restored it before": {meanwhile: "UPDATE tasks SET status = 'running', error_message = NULL, completed_at = NULL", want: reconcile.WriteDone},
		"the mark is another's": {
			change: func(b *reconcile.RowBefore) { b.Mark = "[sandkeeper a-2]" }, want: reconcile.WriteMoved,
		},
		"the version is another's": {
			change: func(b *reconcile.RowBefore) { b.After = "1" }, want: reconcile.WriteMoved,
		},
		"no mark is known":    {change: func(b *reconcile.RowBefore) { b.Mark = "" }, says: "by hand"},
		"no version is known": {change: func(b *reconcile.RowBefore) { b.After = "" }, says: "by hand"},
		"a column that nobody grants": {
			change: func(b *reconcile.RowBefore) { b.Columns["retry_limit"] = nil }, says: `the column "retry_limit"`,
		},
		"a column of no known reason": {
			change: func(b *reconcile.RowBefore) { delete(b.Columns, "error_message") }, says: "held the reason",
		},
		"a value that does not read": {
			change: func(b *reconcile.RowBefore) { text := "soon"; b.Columns["completed_at"] = &text }, says: "restore task",
		},
		"it would not come to life": {
			change: func(b *reconcile.RowBefore) { text := "cancelled"; b.Columns["status"] = &text }, says: "not live",
		},
	}
	w := omoiosWorld(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.exec("TRUNCATE tasks")
			before := w.failed(reconcile.StepFail, w.running("1"))
			if c.meanwhile != "" {
				w.exec(c.meanwhile)
			}
			if c.change != nil {
				c.change(&before)
			}
			const all = "SELECT coalesce(string_agg(xmin::text || t::text, ' '), 'none') FROM tasks AS t"
			was := w.text(all)
			got, err := w.restore(id("1"), before)
			if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("Restore = %q, %v, want %q and %q", got, err, c.want, c.says)
			}
			wrote := c.want == reconcile.WriteDone && c.meanwhile == ""
			if changed := w.text(all) != was; changed != wrote {
				t.Errorf("the row changed: %v, after %s %v", changed, got, err)
			}
		})
	}
}

// TestRestoreTellsTheChannel: who listens hears of it with the status that is back.
func TestRestoreTellsTheChannel(t *testing.T) {
	w := omoiosWorld(t)
	w.tasks = w.open(mapping.Mapping{Preset: "omoios", Notify: "changes"})
	conn, err := w.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), "LISTEN changes"); err != nil {
		t.Fatal(err)
	}
	before := w.failed(reconcile.StepFail, w.running("1"))
	if _, err := w.restore(id("1"), before); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"status":"failed","step":"fail","task":"` + id("1") + `"}`,
		`{"status":"running","step":"restore","task":"` + id("1") + `"}`,
	} {
		n, err := conn.Conn().WaitForNotification(t.Context())
		if err != nil || n.Payload != want {
			t.Errorf("heard %v, %v, want %s", n, err, want)
		}
	}
}

// TestRestoreOfAnIDThatIsNone: it names no row, which is no error.
func TestRestoreOfAnIDThatIsNone(t *testing.T) {
	w, task := uuidWorld(t)
	before := w.failed(reconcile.StepFail, task)
	if got, err := w.restore("not-a-uuid", before); got != reconcile.WriteMoved || err != nil {
		t.Errorf("Restore = %s, %v, want moved", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.tasks.Restore(ended, id("1"), before); err == nil {
		t.Error("Restore after the end of its context = nil, want its error")
	}
}

// TestWriteKeepsWhatItOverwrites: also what came between the judgement and the lock.
func TestWriteKeepsWhatItOverwrites(t *testing.T) {
	w := omoiosWorld(t)
	task := w.running("1")
	w.exec("UPDATE tasks SET error_message = 'a note of the worker'")
	_, before, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason, Lock: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := before.Columns["error_message"]; got == nil || *got != "a note of the worker" {
		t.Errorf("error before = %v, want what the worker wrote", got)
	}
	if got, want := before.After, w.text("SELECT xmin::text FROM tasks"); got != want {
		t.Errorf("version after = %s, want %s", got, want)
	}
}
