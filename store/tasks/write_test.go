package tasks

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// running adds a running task with the sandbox box-n and returns it as it is judged.
func (w *world) running(n string) reconcile.Task {
	w.t.Helper()
	w.exec(
		`INSERT INTO program.tasks (id, status, sandbox_id, conversation_id, created_at, updated_at, started_at, timeout_seconds)
		VALUES ($1, 'running', $2, 'c', '2026-02-01 09:00Z', '2026-02-01 09:00Z', '2026-02-01 09:00Z', 60)`,
		id(n),
		"box-"+n,
	)
	return w.one(id(n))
}

// row is everything of a row, so that a change of any byte is seen.
func (w *world) row(id string) string {
	w.t.Helper()
	return w.text("SELECT xmin::text || ' ' || t::text FROM tasks AS t WHERE id = $1", id)
}

const reason = "heartbeat lost [sandkeeper a-1]"

func TestFailSetsWhatItSaysAndNothingElse(t *testing.T) {
	w := omoiosWorld(t)
	task := w.running("1")
	other := w.running("2")
	before := w.row(other.ID)
	if got := w.fail(task, reason); got != reconcile.WriteDone {
		t.Fatalf("Write = %s, want done", got)
	}
	const rest = `SELECT (to_jsonb(t) - 'status' - 'error_message' - 'completed_at' - 'id' - 'sandbox_id')::text
		FROM tasks AS t WHERE id = $1`
	if got, want := w.text(rest, task.ID), w.text(rest, other.ID); got != want {
		t.Errorf("the other columns became %s, want %s", got, want)
	}
	got := w.text(
		"SELECT status || '|' || error_message || '|' || (completed_at > now() - interval '1 minute') "+
			"FROM tasks WHERE id = $1",
		task.ID,
	)
	if want := "failed|" + reason + "|true"; got != want {
		t.Errorf("row = %s, want %s", got, want)
	}
	if w.row(other.ID) != before {
		t.Error("another row was written")
	}
	if got := w.text("SELECT count(*)::text FROM sandbox_events"); got != "0" {
		t.Errorf("%s events were added without events.write", got)
	}
}

func TestRequeueClearsAndCounts(t *testing.T) {
	w := omoiosWorld(t)
	task := w.running("1")
	got := w.write(reconcile.Write{Step: reconcile.StepRequeue, Task: task, Reason: reason})
	if got != reconcile.WriteDone {
		t.Fatalf("Write = %s, want done", got)
	}
	row := w.text(
		"SELECT concat_ws('|', status, coalesce(sandbox_id, '-'), coalesce(conversation_id, '-'), retry_count, " +
			"error_message) FROM tasks",
	)
	if want := "pending|-|-|1|" + reason; row != want {
		t.Errorf("row = %s, want %s", row, want)
	}
}

// TestGuards changes the row between the judgement and the write, and wants the row to
// stay as it then is.
func TestGuards(t *testing.T) {
	event := `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		VALUES ('box-1', 'agent.heartbeat', '2026-02-01 09:05:01Z')`
	cases := map[string]struct {
		meanwhile string
		write     reconcile.Write
		want      reconcile.Written
	}{
		"nothing happened":         {"", reconcile.Write{}, reconcile.WriteDone},
		"nothing happened, locked": {"", reconcile.Write{Lock: true}, reconcile.WriteDone},
		"another column was written": {
			"UPDATE tasks SET updated_at = now()",
			reconcile.Write{},
			reconcile.WriteBusy,
		},
		"another column was written, locked": {
			"UPDATE tasks SET updated_at = now()",
			reconcile.Write{Lock: true},
			reconcile.WriteDone,
		},
		"the status changed": {
			"UPDATE tasks SET status = 'assigned'",
			reconcile.Write{},
			reconcile.WriteMoved,
		},
		"the status changed, locked": {
			"UPDATE tasks SET status = 'assigned'",
			reconcile.Write{Lock: true},
			reconcile.WriteMoved,
		},
		"it got another sandbox": {
			"UPDATE tasks SET sandbox_id = 'box-9'",
			reconcile.Write{},
			reconcile.WriteMoved,
		},
		"it got another sandbox, locked": {
			"UPDATE tasks SET sandbox_id = 'box-9'",
			reconcile.Write{Lock: true},
			reconcile.WriteMoved,
		},
		"its sandbox was cleared": {
			"UPDATE tasks SET sandbox_id = NULL",
			reconcile.Write{Lock: true},
			reconcile.WriteMoved,
		},
		"it was completed": {
			"UPDATE tasks SET status = 'completed'",
			reconcile.Write{Lock: true},
			reconcile.WriteMoved,
		},
		"it was deleted":         {"DELETE FROM tasks", reconcile.Write{}, reconcile.WriteMoved},
		"it was deleted, locked": {"DELETE FROM tasks", reconcile.Write{Lock: true}, reconcile.WriteMoved},
		"a life sign came":       {event, reconcile.Write{Refutable: true}, reconcile.WriteAlive},
		"a life sign came, locked": {
			event,
			reconcile.Write{Refutable: true, Lock: true},
			reconcile.WriteAlive,
		},
		"a life sign came that refutes nothing": {event, reconcile.Write{}, reconcile.WriteDone},
		"the newest life sign was known": {
			event,
			reconcile.Write{Refutable: true, LastSeen: utc("2026-02-01 09:05:01")},
			reconcile.WriteDone,
		},
		"the one a microsecond before it was known": {
			event,
			reconcile.Write{Refutable: true, LastSeen: utc("2026-02-01 09:05:01").Add(-time.Microsecond)},
			reconcile.WriteAlive,
		},
		"a heartbeat came, and only activity refutes": {
			event,
			reconcile.Write{Refutable: true, Active: true},
			reconcile.WriteDone,
		},
		"activity came, and only activity refutes": {
			strings.ReplaceAll(event, "agent.heartbeat", "agent.tool_used"),
			reconcile.Write{Refutable: true, Active: true},
			reconcile.WriteAlive,
		},
		"activity came, locked": {
			strings.ReplaceAll(event, "agent.heartbeat", "agent.waiting"),
			reconcile.Write{Refutable: true, Active: true, Lock: true},
			reconcile.WriteAlive,
		},
		"an event of ours came": {
			strings.ReplaceAll(event, "agent.heartbeat", "sandkeeper.failed"),
			reconcile.Write{Refutable: true},
			reconcile.WriteDone,
		},
		"another sandbox gave a life sign": {
			strings.ReplaceAll(event, "box-1", "box-2"),
			reconcile.Write{Refutable: true},
			reconcile.WriteDone,
		},
	}
	w := omoiosWorld(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.exec("TRUNCATE tasks, sandbox_events")
			c.write.Step, c.write.Task, c.write.Reason = reconcile.StepFail, w.running("1"), reason
			if c.meanwhile != "" {
				w.exec(c.meanwhile)
			}
			const all = "SELECT coalesce(string_agg(xmin::text || t::text, ' '), 'none') FROM tasks AS t"
			before := w.text(all)
			if got := w.write(c.write); got != c.want {
				t.Errorf("Write = %s, want %s", got, c.want)
			}
			if changed := w.text(all) != before; changed != (c.want == reconcile.WriteDone) {
				t.Errorf("the row changed: %v, after %s", changed, c.want)
			}
		})
	}
}

// TestTheRowDecidesNotTheVersion gives the row's version with facts that are not the row's.
func TestTheRowDecidesNotTheVersion(t *testing.T) {
	w := omoiosWorld(t)
	task := w.running("1")
	before := w.row(task.ID)
	for name, lie := range map[string]func(*reconcile.Task){
		"another status":  func(t *reconcile.Task) { t.Status = "assigned" },
		"another sandbox": func(t *reconcile.Task) { t.Sandbox = "box-9" },
		"no sandbox":      func(t *reconcile.Task) { t.Sandbox = "" },
	} {
		judged := task
		lie(&judged)
		got := w.write(reconcile.Write{Step: reconcile.StepFail, Task: judged, Reason: reason})
		if got != reconcile.WriteMoved || w.row(task.ID) != before {
			t.Errorf("%s: Write = %s, row %s", name, got, w.row(task.ID))
		}
	}
}

func TestColumnsGiveLifeSignsToo(t *testing.T) {
	for _, column := range []string{"heartbeat_at", "activity_at"} {
		t.Run(column, func(t *testing.T) {
			w := newWorld(
				t,
				"CREATE TABLE tasks (id int PRIMARY KEY, status text, beat timestamptz, note text); INSERT INTO tasks VALUES "+
					"(1, 'on')",
				mapping.Mapping{Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "error": "note", column: "beat"},
					Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
					Fail:     mapping.RowChange{Status: "off", Set: map[string]string{"note": "@reason"}}},
			)
			write := reconcile.Write{Step: reconcile.StepFail, Task: w.one("1"), Reason: reason, Refutable: true, Lock: true}
			w.exec("UPDATE tasks SET beat = '2026-02-01 09:00Z'")
			if got := w.write(write); got != reconcile.WriteAlive {
				t.Errorf("Write after a newer beat = %s, want alive", got)
			}
			write.LastSeen = utc("2026-02-01 09:00:00")
			if got := w.write(write); got != reconcile.WriteDone {
				t.Errorf("Write that knew the beat = %s, want done", got)
			}
		})
	}
}

// TestTerminalRowsAreNeverWritten gives arguments that fit the row exactly.
func TestTerminalRowsAreNeverWritten(t *testing.T) {
	w := omoiosWorld(t)
	for _, status := range []string{"completed", "failed", "cancelled", "odd"} {
		for _, step := range []reconcile.Step{reconcile.StepFail, reconcile.StepRequeue} {
			w.exec("TRUNCATE tasks")
			w.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, $2, 'box-1')", id("1"), status)
			task, before := w.one(id("1")), w.row(id("1"))
			task.State = reconcile.TaskRunning // a lie
			for _, lock := range []bool{false, true} {
				got := w.write(reconcile.Write{Step: step, Task: task, Reason: reason, Lock: lock})
				if got != reconcile.WriteMoved || w.row(id("1")) != before {
					t.Errorf("%s of a %s row, lock %v = %s, row %s", step, status, lock, got, w.row(id("1")))
				}
			}
		}
	}
}

// What was ruled too long ago is not written, also where only the wait for a connection used the time up.
func TestTooLateIsNotWritten(t *testing.T) {
	w := omoiosWorld(t)
	w.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', 'box-1')", id("1"))
	task, before := w.one(id("1")), w.row(id("1"))
	late := reconcile.NotAfter(t.Context(), time.Now())
	if _, _, err := w.tasks.Write(late, reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason}); err == nil ||
		w.row(id("1")) != before {
		t.Errorf("Write = %v, row %s", err, w.row(id("1")))
	}
	if got := w.write(reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason}); got != reconcile.WriteDone {
		t.Errorf("in time it is %s", got)
	}
}

func TestABusyRowIsWaitedForOnlyAsLongAsAllowed(t *testing.T) {
	w := omoiosWorld(t)
	w.pool.Close()
	w.pool = open(t, w.dsn+"&lock_timeout=200ms")
	w.tasks = w.open(mapping.Mapping{Preset: "omoios"})
	task := w.running("1")
	conn, err := pgx.Connect(t.Context(), w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE tasks SET updated_at = now()"); err != nil {
		t.Fatal(err)
	}
	for _, lock := range []bool{false, true} {
		_, _, err := w.tasks.Write(
			t.Context(),
			reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason, Lock: lock},
		)
		if err == nil || !strings.Contains(err.Error(), "lock_timeout") {
			t.Errorf("Write of a locked row, lock %v = %v, want the lock_timeout", lock, err)
		}
	}
}

// TestAWriterThatIsWaitedFor commits while the write waits for it.
func TestAWriterThatIsWaitedFor(t *testing.T) {
	cases := map[string]struct {
		sql  string
		lock bool
		want reconcile.Written
	}{
		"it only touched the row":         {"UPDATE tasks SET updated_at = now()", false, reconcile.WriteBusy},
		"it only touched the row, locked": {"UPDATE tasks SET updated_at = now()", true, reconcile.WriteDone},
		"it completed the task":           {"UPDATE tasks SET status = 'completed'", false, reconcile.WriteMoved},
		"it completed the task, locked":   {"UPDATE tasks SET status = 'completed'", true, reconcile.WriteMoved},
		"it brought a life sign, locked": {`UPDATE tasks SET updated_at = now();
			INSERT INTO program.sandbox_events (sandbox_id, event_type) VALUES ('box-1', 'agent.heartbeat')`, true,
			reconcile.WriteAlive},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := omoiosWorld(t)
			task := w.running("1")
			tx, err := w.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), c.sql); err != nil {
				t.Fatal(err)
			}
			got := make(chan reconcile.Written)
			go func() {
				written, _, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason,
					Refutable: true, Lock: c.lock})
				if err != nil {
					written = reconcile.Written(err.Error())
				}
				got <- written
			}()
			w.untilSomebodyWaits()
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := <-got; got != c.want {
				t.Errorf("Write = %s, want %s", got, c.want)
			}
		})
	}
}

// untilSomebodyWaits returns when a session waits for a lock.
func (w *world) untilSomebodyWaits() {
	w.t.Helper()
	for w.text(`SELECT count(*)::text FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`) == "0" {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestReasonsFitTheirColumn(t *testing.T) {
	w := newWorld(
		t,
		"CREATE TABLE tasks (id int PRIMARY KEY, status text, note varchar(60), short varchar(40)); INSERT INTO tasks "+
			"SELECT n, 'on' FROM generate_series(1, 3) n",
		mapping.Mapping{Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "error": "note"},
			Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
			Fail:     mapping.RowChange{Status: "off", Set: map[string]string{"note": "@reason", "short": "@reason"}}},
	)
	for id, reason := range map[string]string{
		"1": strings.Repeat("ü", 90) + " [sandkeeper a-1]",
		"2": "zero \x00 and \xff\xfe [sandkeeper a-2]",
		"3": strings.Repeat("no mark ", 20),
	} {
		if got := w.fail(w.one(id), reason); got != reconcile.WriteDone {
			t.Fatalf("Write = %s", got)
		}
	}
	want := map[string]string{
		"1": strings.Repeat("ü", 20) + "... [sandkeeper a-1]",
		"2": "zero  and ? [sandkeeper a-2]",
		"3": strings.Repeat("no mark ", 5)[:36] + "... ",
	}
	for id, note := range want {
		if got := w.text("SELECT note FROM tasks WHERE id = $1", id); got != note {
			t.Errorf("note of %s = %q, want %q", id, got, note)
		}
	}
}

func TestFitKeepsTheLimitAndTheMark(t *testing.T) {
	text := "a long reason that says much [sandkeeper abc]"
	for limit := 1; limit <= len(text)+1; limit++ {
		got := fit(text, limit)
		if n := utf8.RuneCountInString(got); n > limit {
			t.Errorf("fit(%d) = %q of %d", limit, got, n)
		}
		if limit >= len("[sandkeeper abc]") && !strings.HasSuffix(got, "[sandkeeper abc]") {
			t.Errorf("fit(%d) = %q lost its mark", limit, got)
		}
	}
	if got := fit(text, 0); got != text {
		t.Errorf("fit without a limit = %q", got)
	}
}

func TestEventAndNotificationComeWithTheWrite(t *testing.T) {
	w := omoiosWorld(t)
	w.tasks = w.open(mapping.Mapping{Preset: "omoios", Notify: "Task Changes", Events: mapping.EventMapping{Write: true}})
	conn, err := pgx.Connect(t.Context(), w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `LISTEN "Task Changes"`); err != nil {
		t.Fatal(err)
	}
	stale := w.running("1")
	w.exec("UPDATE tasks SET updated_at = now()")
	if got := w.write(reconcile.Write{Step: reconcile.StepFail, Task: stale, Reason: reason}); got != reconcile.WriteBusy {
		t.Fatalf("Write of a stale row = %s, want busy", got)
	}
	if got := w.fail(w.one(id("1")), reason); got != reconcile.WriteDone {
		t.Fatalf("Write = %s, want done", got)
	}
	got := w.text(
		"SELECT string_agg(sandbox_id || '|' || event_type || '|' || (event_data->>'reason') || '|' || " +
			"(event_data->>'task'), ' ') FROM sandbox_events",
	)
	if want := "box-1|sandkeeper.failed|" + reason + "|" + id("1"); got != want {
		t.Errorf("events = %s, want %s", got, want)
	}
	n, err := conn.WaitForNotification(t.Context())
	if err != nil || n.Payload != `{"status":"failed","step":"fail","task":"`+id("1")+`"}` {
		t.Errorf("notification = %+v, %v", n, err)
	}
	if after := w.one(id("1")); !after.Events.Newest().IsZero() {
		t.Error("our own event counts as a life sign")
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	const schema = "CREATE TABLE tasks (id int, status text, note text, data jsonb); INSERT INTO tasks VALUES (1, " +
		"'on'), (1, 'on'), (2, 'on');"
	base := func() mapping.Mapping {
		return mapping.Mapping{Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "error": "note"},
			Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
			Fail:     mapping.RowChange{Status: "off", Set: map[string]string{"note": "@reason"}}}
	}
	cases := map[string]struct {
		schema string
		change func(*mapping.Mapping)
		id     string
		want   string
	}{
		"two rows with one id": {"", func(*mapping.Mapping) {}, "1", "must be unique"},
		"a state expression that does not become failed": {"", func(m *mapping.Mapping) {
			m.Columns["state"], m.Statuses = "('running')", nil
		}, "2", `would be "running" and not failed`},
		"a trigger that puts the status back": {
			`CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.status := 'on'; RETURN NEW; END $$;
			CREATE TRIGGER back BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION back();`,
			func(*mapping.Mapping) {},
			"2",
			`would be "on"`,
		},
		"a trigger that refuses": {
			`CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not on sundays'; END $$;
			CREATE TRIGGER no BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION no();`,
			func(*mapping.Mapping) {},
			"2",
			"a trigger on the task table refused it",
		},
		"a constraint that does not know the status": {
			"ALTER TABLE tasks ADD CHECK (status = 'on');",
			func(*mapping.Mapping) {},
			"2",
			"correct fail.status",
		},
		"a value of the wrong type": {
			"",
			func(m *mapping.Mapping) { m.Fail.Set["data"] = "@reason" },
			"2",
			"does not fit",
		},
		"nothing configured": {
			"",
			func(m *mapping.Mapping) { m.Fail = mapping.RowChange{} },
			"2",
			"tasks.fail is not configured",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := base()
			c.change(&m)
			w := newWorld(t, schema+c.schema, m)
			rows, err := w.tasks.ByID(t.Context(), []string{c.id})
			if err != nil {
				t.Fatal(err)
			}
			write := reconcile.Write{Step: reconcile.StepFail, Task: rows.Tasks[0], Reason: reason, Lock: true}
			if _, _, err := w.tasks.Write(t.Context(), write); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Write = %v, want it to say %q", err, c.want)
			}
			if got := w.text("SELECT string_agg(status || coalesce(note, '-'), ' ') FROM tasks"); got != "on- on- on-" {
				t.Errorf("rows after a refusal: %s", got)
			}
		})
	}
}

func TestWriteOfAnIDThatIsNoneMoves(t *testing.T) {
	w, task := uuidWorld(t)
	task.ID = "not-a-uuid"
	if got := w.fail(task, reason); got != reconcile.WriteMoved {
		t.Errorf("Write = %s, want moved", got)
	}
}
