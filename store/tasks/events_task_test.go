package tasks

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// TestEventsByTask: events that know their task and no sandbox, in one table or in several, with a prefix or of another
// type than the task's id.
func TestEventsByTask(t *testing.T) {
	const schema = `CREATE TABLE jobs (id uuid PRIMARY KEY, status text, note text);
		CREATE TABLE logs (job uuid, kind text, at timestamptz, data jsonb);
		CREATE INDEX ON jobs (status);
		CREATE INDEX ON logs (job);
		CREATE TABLE pings (subject text, at timestamptz);
		INSERT INTO jobs SELECT ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'running' FROM generate_series(1, 3) AS n;
		INSERT INTO logs VALUES ('00000000-0000-4000-8000-000000000001', 'began', '2026-02-01 09:00Z', '{}'),
			('00000000-0000-4000-8000-000000000001', 'step', '2026-02-01 09:05Z', '{}'),
			('00000000-0000-4000-8000-000000000002', 'began', '2026-02-01 09:01Z', '{}');
		INSERT INTO pings VALUES ('job/00000000-0000-4000-8000-000000000001', '2026-02-01 09:07Z')`
	columns := map[string]string{"task": "job", "type": "kind", "at": "at"}
	both := `SELECT job::text AS job, kind, at FROM logs UNION ALL SELECT substr(subject, 5), 'ping', at FROM pings`
	for name, c := range map[string]struct {
		events mapping.EventMapping
		before string
		beat   string // what newest heartbeat of the first is, at 09:07 where pings are read
	}{
		"a table":               {mapping.EventMapping{Table: "logs", Columns: columns}, "", ""},
		"without an index":      {mapping.EventMapping{Table: "logs", Columns: columns}, "DROP INDEX logs_job_idx", ""},
		"ids of another type":   {mapping.EventMapping{Table: "logs", Columns: columns}, "ALTER TABLE logs ALTER job TYPE text", ""},
		"a query of two tables": {mapping.EventMapping{From: both, Columns: columns}, "", "2026-02-01 09:07:00"},
	} {
		t.Run(name, func(t *testing.T) {
			c.events.Started, c.events.Heartbeat = mapping.EventTypes("began"), mapping.EventTypes("ping")
			w := newWorld(t, schema+"; "+c.before, mapping.Mapping{Table: "jobs", Columns: map[string]string{"id": "id", "status": "status", "error": "note"},
				Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}}, Events: c.events,
				Fail: mapping.RowChange{Status: "failed", Set: map[string]string{"note": "@reason"}}})
			live := w.live()
			one, two, three := live[id("1")], live[id("2")], live[id("3")]
			if !one.Events.Started.Equal(utc("2026-02-01 09:00:00")) || !one.Events.Activity.Equal(utc("2026-02-01 09:05:00")) ||
				!two.Events.Newest().Equal(utc("2026-02-01 09:01:00")) || !three.Events.Newest().IsZero() {
				t.Errorf("events = %+v, %+v, %+v", one.Events, two.Events, three.Events)
			}
			if (c.beat == "") != one.Events.Heartbeat.IsZero() || c.beat != "" && !one.Events.Heartbeat.Equal(utc(c.beat)) {
				t.Errorf("heartbeat = %s", one.Events.Heartbeat)
			}
			if wrong := bad(w.tasks.Check(t.Context())); len(wrong) > 1 || len(wrong) == 1 && c.before == "" {
				t.Errorf("Check = %q", wrong)
			}
			w.exec("INSERT INTO logs VALUES ($1, 'step', '2026-02-01 09:30Z', '{}')", id("2"))
			write := reconcile.Write{Step: reconcile.StepFail, Task: one, Reason: reason, Refutable: true, LastSeen: one.LastSeen()}
			if got := w.write(write); got != reconcile.WriteDone {
				t.Errorf("Write of the first = %s", got)
			}
			write.Task, write.LastSeen = two, two.LastSeen()
			if got := w.write(write); got != reconcile.WriteAlive {
				t.Errorf("Write of the second, whose event came = %s", got)
			}
		})
	}
}

// TestEventWrittenByTask: an event that is added names the task where there is no sandbox to name.
func TestEventWrittenByTask(t *testing.T) {
	w := newWorld(t, "CREATE TABLE jobs (id uuid PRIMARY KEY, status text, note text); CREATE TABLE logs (job uuid, kind text, at timestamptz)",
		mapping.Mapping{Table: "jobs", Columns: map[string]string{"id": "id", "status": "status", "error": "note"},
			Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}},
			Events:   mapping.EventMapping{Table: "logs", Columns: map[string]string{"task": "job", "type": "kind", "at": "at"}, Write: true},
			Fail:     mapping.RowChange{Status: "failed", Set: map[string]string{"note": "@reason"}}})
	w.exec("INSERT INTO jobs (id, status) VALUES ($1, 'running')", id("1"))
	for _, line := range w.tasks.Check(t.Context()) {
		if line.What == "events.write" && (!line.OK || !strings.Contains(line.Said, "rolled back")) {
			t.Errorf("check: %+v", line)
		}
	}
	if got := w.fail(w.one(id("1")), reason); got != reconcile.WriteDone {
		t.Fatalf("Write = %s", got)
	}
	if got := w.text("SELECT job || ' ' || kind FROM logs"); got != id("1")+" sandkeeper.failed" {
		t.Errorf("event = %s", got)
	}
}
