package tasks

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// TestRetryGuards: a terminal row is set back only while it has our own version and our own mark, nothing less; and then
// to what a requeue sets, with a mark of its own, and not twice.
func TestRetryGuards(t *testing.T) {
	cases := map[string]struct {
		meanwhile string
		change    func(*reconcile.RowBefore)
		want      reconcile.Written
		says      string // part of the error
	}{
		"nothing happened":             {want: reconcile.WriteDone},
		"another column was written":   {meanwhile: "UPDATE tasks SET updated_at = now()", want: reconcile.WriteMoved},
		"the platform runs it again":   {meanwhile: "UPDATE tasks SET status = 'running', sandbox_id = 'box-9'", want: reconcile.WriteMoved},
		"it was completed after all":   {meanwhile: "UPDATE tasks SET status = 'completed'", want: reconcile.WriteMoved},
		"it was deleted":               {meanwhile: "DELETE FROM tasks", want: reconcile.WriteMoved},
		"the mark is another's":        {change: func(b *reconcile.RowBefore) { b.Mark = "[sandkeeper a-2]" }, want: reconcile.WriteMoved},
		"the version is another's":     {change: func(b *reconcile.RowBefore) { b.After = "1" }, want: reconcile.WriteMoved},
		"no mark is known":             {change: func(b *reconcile.RowBefore) { b.Mark = "" }, says: "by hand"},
		"no version is known":          {change: func(b *reconcile.RowBefore) { b.After = "" }, says: "by hand"},
		"what it was before is no use": {change: func(b *reconcile.RowBefore) { b.Columns = nil }, want: reconcile.WriteDone},
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
			got, err := w.tasks.Retry(t.Context(), id("1"), before, "retried by ana: fixed [sandkeeper r-1]")
			if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("Retry = %q, %v, want %q and %q", got, err, c.want, c.says)
			}
			if changed := w.text(all) != was; changed != (c.want == reconcile.WriteDone) {
				t.Errorf("the row changed: %v, after %s %v", changed, got, err)
			}
			if c.want != reconcile.WriteDone {
				return
			}
			const row = "SELECT concat_ws('|', status, coalesce(sandbox_id, '-'), retry_count, error_message) FROM tasks"
			if got, want := w.text(row), "pending|-|1|retried by ana: fixed [sandkeeper r-1]"; got != want {
				t.Errorf("row = %s, want %s", got, want)
			}
			if got, err := w.tasks.Retry(t.Context(), id("1"), before, "again [sandkeeper r-2]"); got != reconcile.WriteMoved || err != nil {
				t.Errorf("a second retry = %q, %v, want that the row has moved", got, err)
			}
		})
	}
}

// TestNoRetry: what the mapping does not know is said before anything is asked for.
func TestNoRetry(t *testing.T) {
	base := func(change func(*mapping.Mapping)) string {
		m := mapping.Mapping{Table: "jobs", Columns: map[string]string{"id": "id", "status": "status", "error": "err"},
			Statuses: map[string][]string{"pending": {"todo"}, "running": {"doing"}, "failed": {"broken"}},
			Fail:     mapping.RowChange{Status: "broken", Set: map[string]string{"err": "@reason"}},
			Requeue:  mapping.RowChange{Status: "todo", Set: map[string]string{"err": "@reason"}}}
		change(&m)
		c, err := Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		return c.NoRetry()
	}
	for name, c := range map[string]struct {
		change func(*mapping.Mapping)
		want   string
	}{
		"it is mapped":           {func(*mapping.Mapping) {}, ""},
		"it is not":              {func(m *mapping.Mapping) { m.Requeue = mapping.RowChange{} }, "tasks.requeue is not configured"},
		"the platform is called": {func(m *mapping.Mapping) { m.Requeue = mapping.RowChange{Call: true} }, "tasks.requeue.call"},
		"it is several statements": {func(m *mapping.Mapping) {
			m.Requeue = mapping.RowChange{SQL: []string{"UPDATE jobs SET status = 'todo', err = @reason WHERE id = @id"}}
		}, "more than one UPDATE"},
	} {
		if got := base(c.change); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: NoRetry says %q, want %q", name, got, c.want)
		}
	}
}
