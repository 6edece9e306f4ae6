package tasks

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// TestCheckTries: what a table would refuse is found before the first repair, with the key to
// mend it, and nothing is left of the trial.
func TestCheckTries(t *testing.T) {
	live := "UPDATE tasks SET status = 'running', sandbox_id = 'box', created_at = now(), updated_at = now()"
	written := mapping.Mapping{Events: mapping.EventMapping{Write: true}}
	unset := mapping.Mapping{Events: mapping.EventMapping{Write: true, Set: map[string]string{"id": "", "source": ""}}}
	const trigger = `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not on sundays''; END';`
	for name, c := range map[string]struct {
		sql  string
		m    mapping.Mapping
		want string // "" for nothing
	}{
		"all is well":                {live, written, ""},
		"all is well without a row":  {"DELETE FROM tasks", written, ""},
		"an event's id is not set":   {live, unset, `events.write: column "id" of "public"."sandbox_events" is NOT NULL without a default; set it: events: {set: {id: "gen_random_uuid()::text"}}`},
		"nor without a row":          {"DELETE FROM tasks", unset, `column "id" of "public"."sandbox_events" is NOT NULL`},
		"an event's column is added": {live + "; ALTER TABLE sandbox_events ADD at timestamptz NOT NULL", written, `{set: {at: "@now"}}`},
		"a value that a constraint refuses": {live + "; ALTER TABLE sandbox_events ADD CHECK (source = 'agent')", written,
			"a constraint of the events table refused it: correct events.set"},
		"a trigger on the events": {live + ";" + trigger + "CREATE TRIGGER no BEFORE INSERT ON sandbox_events FOR EACH ROW EXECUTE FUNCTION no()",
			written, "a trigger on the events table refused it"},
		"an expression that names a column": {live, mapping.Mapping{Events: mapping.EventMapping{Write: true, Set: map[string]string{"source": "status"}}},
			`events.write: column "status" does not exist`},
		"a status that a constraint refuses": {live + "; ALTER TABLE tasks ADD CHECK (status <> 'failed')", mapping.Mapping{},
			"correct fail.status"},
		"a trigger on the tasks": {live + ";" + trigger + "CREATE TRIGGER no BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION no()",
			mapping.Mapping{}, "a trigger on the task table refused it"},
		"a column that takes no null": {live + "; UPDATE tasks SET conversation_id = ''; ALTER TABLE tasks ALTER conversation_id SET NOT NULL", mapping.Mapping{},
			`tasks.requeue.set.conversation_id: column "conversation_id" of "public"."tasks" is NOT NULL`},
		"the same without a row": {"DELETE FROM tasks; ALTER TABLE tasks ALTER conversation_id SET NOT NULL", mapping.Mapping{},
			`tasks.requeue.set.conversation_id: column "conversation_id" of "public"."tasks" is NOT NULL`},
	} {
		t.Run(name, func(t *testing.T) {
			w := realWorld(t, c.m)
			w.enqueued("a", "t-free", "")
			w.exec(c.sql)
			const all = "SELECT concat(string_agg(xmin::text || t::text, ' '), (SELECT count(*) FROM sandbox_events)) FROM tasks AS t"
			before := w.text(all)
			wrong := strings.Join(bad(w.tasks.Check(t.Context())), "\n")
			if (wrong == "") != (c.want == "") || !strings.Contains(wrong, c.want) {
				t.Errorf("Check:\n%s\nwant %s", wrong, c.want)
			}
			if after := w.text(all); after != before {
				t.Errorf("the trial left %s, want %s", after, before)
			}
		})
	}
}

// TestATaskIsFailedWithoutItsEvent: the table of events refuses, the task is failed all the
// same, and the log says what is lost and how to mend it.
func TestATaskIsFailedWithoutItsEvent(t *testing.T) {
	for name, c := range map[string]struct {
		set  map[string]string
		sql  string
		says string
	}{
		"a column that is not set": {map[string]string{"id": ""}, "", `column \"id\" of sandbox_events is NOT NULL and is not set: add it to events.set`},
		"a constraint":             {nil, "ALTER TABLE sandbox_events ADD CHECK (source = 'agent')", "correct events.set"},
		"a column that is gone":    {nil, "ALTER TABLE sandbox_events DROP COLUMN source", "a mapped column does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			w := realWorld(t, mapping.Mapping{Events: mapping.EventMapping{Write: true, Set: c.set}})
			var log bytes.Buffer
			w.tasks.ReportTo(slog.New(slog.NewTextHandler(&log, nil)))
			w.exec(c.sql)
			task := w.enqueued("a", "t-free", "status = 'running', sandbox_id = 'box'")
			if got := w.fail(task, reason); got != reconcile.WriteDone {
				t.Fatalf("Write = %s, want done", got)
			}
			if got := w.text("SELECT status || error_message FROM tasks"); got != "failed"+reason {
				t.Errorf("the row is %s", got)
			}
			if said := log.String(); !strings.Contains(said, c.says) || !strings.Contains(said, "task=a") || strings.Contains(said, "fail.status") {
				t.Errorf("the log says %s, want %s", said, c.says)
			}
		})
	}
	w := realWorld(t, mapping.Mapping{Events: mapping.EventMapping{Write: true}})
	if got := w.fail(w.enqueued("a", "t-free", "status = 'running', sandbox_id = 'box'"), reason); got != reconcile.WriteDone {
		t.Fatalf("Write = %s, want done", got)
	}
	got := w.text("SELECT concat_ws('|', length(id), sandbox_id, event_type, source, event_data->>'task') FROM sandbox_events")
	if want := "36|box|sandkeeper.failed|system|a"; got != want {
		t.Errorf("event = %s, want %s", got, want)
	}
}
