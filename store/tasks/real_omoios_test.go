package tasks

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// realOmoios are the columns that matter of the platform's tables, as its own migrations
// leave them: most ids and times have no default, for the platform's code makes them.
const realOmoios = `
CREATE TABLE projects (id varchar PRIMARY KEY, name varchar(255) NOT NULL, autonomous_execution_enabled boolean NOT NULL DEFAULT false);
CREATE TABLE specs (id varchar PRIMARY KEY, project_id varchar NOT NULL REFERENCES projects ON DELETE CASCADE,
	status varchar(50) NOT NULL DEFAULT 'draft');
CREATE TABLE tickets (id varchar PRIMARY KEY, title varchar(500) NOT NULL, project_id varchar);
CREATE TABLE tasks (id varchar PRIMARY KEY, ticket_id varchar NOT NULL REFERENCES tickets ON DELETE CASCADE,
	phase_id varchar(50) NOT NULL, task_type varchar(100) NOT NULL, priority varchar(20) NOT NULL, status varchar(50) NOT NULL,
	conversation_id varchar(255), error_message text, created_at timestamptz NOT NULL, started_at timestamptz,
	completed_at timestamptz, retry_count integer NOT NULL DEFAULT 0, max_retries integer NOT NULL DEFAULT 3,
	timeout_seconds integer, validation_enabled boolean NOT NULL DEFAULT false, validation_iteration integer NOT NULL DEFAULT 0,
	deadline_at timestamptz, sandbox_id varchar(255), updated_at timestamptz NOT NULL);
CREATE INDEX ON tasks (status);
CREATE INDEX ON tasks (sandbox_id);
CREATE TABLE sandbox_events (id varchar PRIMARY KEY, sandbox_id varchar(100) NOT NULL, event_type varchar(100) NOT NULL,
	event_data jsonb, source varchar(50) NOT NULL DEFAULT 'agent', created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
	spec_id varchar REFERENCES specs ON DELETE SET NULL);
CREATE INDEX ON sandbox_events (sandbox_id);
INSERT INTO projects VALUES ('free', 'f', true), ('by-hand', 'h', false);
INSERT INTO tickets VALUES ('t-free', 't', 'free'), ('t-hand', 't', 'by-hand'), ('t-none', 't', NULL), ('t-lost', 't', 'nobody');
`

func realWorld(t *testing.T, m mapping.Mapping) *world {
	t.Helper()
	m.Preset = mapping.OmoiosName
	return newWorld(t, realOmoios, m)
}

// enqueued adds a task as the platform does, and sets columns.
func (w *world) enqueued(id, ticket, set string) reconcile.Task {
	w.t.Helper()
	w.exec(`INSERT INTO tasks (id, ticket_id, phase_id, task_type, priority, status, created_at, updated_at)
		VALUES ($1, $2, 'PHASE', 'implement', 'HIGH', 'pending', '2026-02-01 09:00Z', '2026-02-01 09:00Z')`, id, ticket)
	if set != "" {
		w.exec("UPDATE tasks SET "+set+" WHERE id = $1", id)
	}
	return w.one(id)
}

// event adds an event as the platform does.
func (w *world) event(sandbox, kind, at, data string) {
	w.t.Helper()
	w.exec(`INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at, event_data)
		VALUES (gen_random_uuid()::text, $1, $2, $3::text::timestamptz, $4::text::jsonb)`, sandbox, kind, at, data)
}

func TestOmoiosStates(t *testing.T) {
	w := realWorld(t, mapping.Mapping{})
	cases := map[string]reconcile.TaskState{
		"status = 'pending'": reconcile.TaskPending, "status = 'claiming'": reconcile.TaskAssigned,
		"status = 'assigned'": reconcile.TaskAssigned, "status = 'running'": reconcile.TaskRunning,
		"status = 'pending_validation'": reconcile.TaskRunning, "status = 'validating'": reconcile.TaskRunning,
		"status = 'needs_revision'": reconcile.TaskRunning, "status = 'needs_work'": reconcile.TaskRunning,
		"status = 'under_review'": reconcile.TaskRunning, "status = 'validation_in_progress'": reconcile.TaskRunning,
		"status = 'completed'": reconcile.TaskCompleted, "status = 'done'": reconcile.TaskCompleted,
		"status = 'failed'":                                                         reconcile.TaskFailed,
		"status = 'failed', error_message = 'no luck'":                              reconcile.TaskFailed,
		"status = 'cancelled'":                                                      reconcile.TaskStopped,
		"status = 'odd'":                                                            reconcile.TaskUnknown,
		"status = 'running', error_message = 'Task cancelled: no'":                  reconcile.TaskRunning,
		"status = 'failed', error_message = 'Task cancelled: by a person'":          reconcile.TaskStopped,
		"status = 'failed', error_message = 'EMERGENCY CANCELLATION: by guardian'":  reconcile.TaskStopped,
		"status = 'failed', error_message = 'the log says: Task cancelled: by him'": reconcile.TaskFailed,
	}
	for set, want := range cases {
		w.exec("DELETE FROM tasks")
		task := w.enqueued("a", "t-free", set)
		if task.State != want {
			t.Errorf("%s: state = %q, want %q", set, task.State, want)
		}
		if _, live := w.live()["a"]; live != want.Live() {
			t.Errorf("%s: read as live: %v", set, live)
		}
		if got := w.fail(task, reason); (got == reconcile.WriteDone) != want.Live() {
			t.Errorf("%s: Write = %s", set, got)
		}
	}
}

// TestOmoiosClocks: nothing ends a task for its SLA date, and a retry keeps the time when the
// first attempt started.
func TestOmoiosClocks(t *testing.T) {
	w := realWorld(t, mapping.Mapping{})
	task := w.enqueued("a", "t-free", `status = 'running', sandbox_id = 'box', started_at = '2026-02-01 09:10Z',
		deadline_at = '2026-02-01 10:00Z'`)
	if !task.DeadlineAt.IsZero() || !task.StartedAt.Equal(utc("2026-02-01 09:10:00")) {
		t.Errorf("deadline %s, started %s; want none, 09:10", task.DeadlineAt, task.StartedAt)
	}
	w.exec("UPDATE tasks SET retry_count = 1")
	if task = w.one("a"); !task.StartedAt.IsZero() {
		t.Errorf("started %s: that was the attempt before", task.StartedAt)
	}
}

func TestOmoiosSandboxes(t *testing.T) {
	w := realWorld(t, mapping.Mapping{})
	for set, want := range map[string]int{
		"status = 'running'": 1, "status = 'running', validation_enabled = true": 2, "status = 'running', validation_iteration = 1": 2,
		"status = 'validating'": 2, "status = 'needs_revision'": 2, "": 1,
	} {
		w.exec("DELETE FROM tasks")
		if got := w.enqueued("a", "t-free", set).Sandboxes; got != want {
			t.Errorf("%q: %d sandboxes, want %d", set, got, want)
		}
	}
}

// TestOmoiosPendingByHand: tasks of a project that starts nothing by itself wait for a person.
func TestOmoiosPendingByHand(t *testing.T) {
	w := realWorld(t, mapping.Mapping{})
	for _, ticket := range []string{"t-free", "t-hand", "t-none", "t-lost"} {
		w.enqueued("p-"+ticket, ticket, "")
		w.enqueued("r-"+ticket, ticket, "status = 'running'")
	}
	var got []string
	for id := range w.live() {
		got = append(got, id)
	}
	slices.Sort(got)
	if want := "p-t-free p-t-lost p-t-none r-t-free r-t-hand r-t-lost r-t-none"; strings.Join(got, " ") != want {
		t.Errorf("live = %q, want %s", got, want)
	}
	if !w.one("p-t-hand").Outside || w.one("r-t-hand").Outside {
		t.Error("only the pending one is outside of where")
	}
	if scans := w.explain().scans(); !slices.ContainsFunc(scans, func(s string) bool { return strings.HasSuffix(s, "on tickets") }) {
		t.Errorf("scans = %v: the tickets are read for the pending rows", scans)
	}
	w.exec("DELETE FROM tasks WHERE status = 'pending'")
	if scans := w.explain().scans(); slices.ContainsFunc(scans, func(s string) bool { return strings.HasSuffix(s, "on tickets") }) {
		t.Errorf("scans = %v: the tickets are read although nothing is pending", scans)
	}
}

// TestOmoiosFinished: an iteration that ends is no end, and one that is not validated neither.
func TestOmoiosFinished(t *testing.T) {
	w := realWorld(t, mapping.Mapping{})
	w.enqueued("a", "t-free", "status = 'running', sandbox_id = 'box'")
	w.event("box", "agent.completed", "2026-02-01 10:00Z", `{"success": true}`)
	w.event("box", "continuous.completed", "2026-02-01 10:01Z", `{"validation_passed": false}`)
	w.event("box", "continuous.completed", "2026-02-01 10:02Z", `{}`)
	w.event("box", "continuous.completed", "2026-02-01 10:03Z", `[1]`)
	w.exec("UPDATE sandbox_events SET event_data = NULL WHERE created_at = '2026-02-01 10:02Z'")
	task := w.one("a")
	if !task.Events.Finished.IsZero() || !task.Events.Activity.Equal(utc("2026-02-01 10:03:00")) {
		t.Errorf("events %+v: want none finished, the newest of them activity", task.Events)
	}
	w.event("box", "continuous.completed", "2026-02-01 10:02:30Z", `{"validation_passed": true}`)
	if at := w.one("a").Events.Finished; !at.Equal(utc("2026-02-01 10:02:30")) {
		t.Errorf("finished at %s", at)
	}
}

// TestOmoiosOfAFork: what the preset derives follows the names and statuses of the config.
func TestOmoiosOfAFork(t *testing.T) {
	w := newWorld(t, "CREATE SCHEMA jobs; SET search_path = jobs;"+realOmoios+`
		ALTER TABLE tasks RENAME status TO "Stage"; ALTER TABLE tasks RENAME error_message TO why; ALTER TABLE tasks RENAME retry_count TO tries;
		INSERT INTO tasks (id, ticket_id, phase_id, task_type, priority, "Stage", why, tries, started_at, created_at, updated_at)
			VALUES ('a', 't-hand', '', '', '', 'bad', 'Task cancelled: x', 0, now(), now(), now()), ('b', 't-hand', '', '', '', 'new', '', 0, now(), now(), now()),
			('c', 't-free', '', '', '', 'new', '', 1, now(), now(), now());
		SET search_path = public`,
		mapping.Mapping{Preset: mapping.OmoiosName, Table: "jobs.tasks", Columns: map[string]string{"status": "Stage", "error": "why", "attempts": "tries"},
			Statuses: map[string][]string{"pending": {"new"}, "failed": {"bad"}},
			Fail:     mapping.RowChange{Status: "bad"}, Requeue: mapping.RowChange{Status: "new"}, Events: mapping.EventMapping{Table: "jobs.sandbox_events"}})
	if live := w.live(); len(live) != 1 || live["c"].State != reconcile.TaskPending || !live["c"].StartedAt.IsZero() {
		t.Errorf("live = %+v, want c alone, its start of an attempt before", live)
	}
	if a := w.one("a"); a.State != reconcile.TaskStopped || a.StartedAt.IsZero() {
		t.Errorf("a = %+v, want it stopped", a)
	}
	for _, m := range []mapping.Mapping{
		{Preset: mapping.OmoiosName, Columns: map[string]string{"error": ""}, Fail: mapping.RowChange{Set: map[string]string{"x": "@reason"}}},
		{Preset: mapping.OmoiosName, Columns: map[string]string{"state": ""}},
	} {
		if m = m.WithPreset(); m.Split || m.Columns["state"] != "" {
			t.Errorf("without an error to read, or with a state of its own: %+v", m)
		}
	}
	m := mapping.Mapping{Preset: mapping.OmoiosName}.WithPreset()
	if again := m.WithPreset(); again.Columns["state"] != m.Columns["state"] || !again.Split || again.Where != m.Where {
		t.Errorf("the preset twice: %+v", again)
	}
}

// TestOmoiosChecks: the platform as it ships is in order, and what it lacks has a line.
func TestOmoiosChecks(t *testing.T) {
	w := realWorld(t, mapping.Mapping{Events: mapping.EventMapping{Write: true}})
	if wrong := bad(w.tasks.Check(t.Context())); len(wrong) > 0 {
		t.Errorf("Check of empty tables:\n%s", strings.Join(wrong, "\n"))
	}
	w.enqueued("a", "t-free", "status = 'running', sandbox_id = 'box', created_at = now() - interval '1 hour', updated_at = now()")
	w.enqueued("b", "t-free", "created_at = now(), updated_at = now()")
	if wrong := bad(w.tasks.Check(t.Context())); len(wrong) > 0 {
		t.Errorf("Check:\n%s", strings.Join(wrong, "\n"))
	}
	w.exec("DROP TABLE tickets, specs CASCADE")
	wrong := strings.Join(bad(w.tasks.Check(t.Context())), "\n")
	if !strings.Contains(wrong, `tasks.where and columns: relation "public.tickets" does not exist`) {
		t.Errorf("Check without tickets:\n%s", wrong)
	}
	w.tasks = w.open(mapping.Mapping{Preset: mapping.OmoiosName, Where: "true"})
	wrong = strings.Join(bad(w.tasks.Check(t.Context())), "\n")
	if !strings.Contains(wrong, `tasks.explained_by[0].table: "public"."specs" does not exist`) {
		t.Errorf("Check without specs:\n%s", wrong)
	}
}

// TestExplaining: which specs there are, by values that sandboxes show.
func TestExplaining(t *testing.T) {
	w := realWorld(t, mapping.Mapping{ExplainedBy: []mapping.Explainer{
		{Table: "public.specs", Key: "id", Label: "spec_id"},
		{Table: "specs", Key: "id", Where: "status = 'executing' OR false", Name: true},
		{Table: "boxes", Key: "Key", Label: "box"},
	}})
	w.exec(`INSERT INTO specs VALUES ('spec-1', 'free', 'executing'), ('spec-2', 'free', 'draft');
		CREATE TABLE boxes ("Key" uuid); INSERT INTO boxes VALUES ('` + id("a") + `'), ('` + id("a") + `'), (NULL)`)
	for by, c := range map[int]struct{ asked, want []string }{
		0: {[]string{"spec-2", "spec-1", "spec-9", "", "x\x00", "spec-1", "\xff"}, []string{"spec-2", "spec-1"}},
		1: {[]string{"spec-2", "spec-1"}, []string{"spec-1"}},
		2: {[]string{"spec-1", strings.ToUpper(id("a")), id("a"), id("b")}, []string{strings.ToUpper(id("a")), id("a")}},
	} {
		got, err := w.tasks.Explaining(t.Context(), by, c.asked)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Explaining(%d) = %q, %v, want %q", by, got, err, c.want)
		}
		if got, err := w.tasks.Explaining(t.Context(), by, nil); err != nil || len(got) > 0 {
			t.Errorf("Explaining(%d) of nothing = %q, %v", by, got, err)
		}
	}
	for _, by := range []int{-1, 3} {
		if _, err := w.tasks.Explaining(t.Context(), by, []string{"a"}); err == nil {
			t.Errorf("Explaining(%d) is no error", by)
		}
	}
	w.exec("DROP TABLE boxes")
	if _, err := w.tasks.Explaining(t.Context(), 2, []string{"a"}); err == nil || !strings.Contains(err.Error(), "tasks.explained_by[2]") {
		t.Errorf("Explaining by a table that is gone = %v, want its key", err)
	}
	if _, err := w.tasks.Live(t.Context()); err != nil {
		t.Errorf("a table that is gone keeps the tasks from being read: %v", err)
	}
}

func TestCheckOfExplainers(t *testing.T) {
	w := realWorld(t, mapping.Mapping{})
	for want, by := range map[string]mapping.Explainer{
		`explained_by[0].table: "public"."spec" does not exist; did you mean "specs"?`: {Table: "public.spec", Key: "id", Label: "l"},
		`explained_by[0].key: "specs" has no column "idd"`:                             {Table: "specs", Key: "idd", Label: "l"},
		`explained_by[0]: column "nope" does not exist`:                                {Table: "specs", Key: "id", Where: "nope = 1", Label: "l"},
	} {
		wrong := bad(w.open(mapping.Mapping{Preset: mapping.OmoiosName, ExplainedBy: []mapping.Explainer{by}}).Check(t.Context()))
		if len(wrong) != 1 || !strings.Contains(wrong[0], want) {
			t.Errorf("Check = %q, want %q", wrong, want)
		}
	}
	wrong := strings.Join(bad(w.limited("GRANT SELECT, UPDATE ON tasks TO ROLE; GRANT SELECT ON sandbox_events, tickets, projects TO ROLE").
		Check(t.Context())), "\n")
	if !strings.Contains(wrong, `GRANT SELECT ON "public"."specs" TO`) {
		t.Errorf("Check of a role that may not see the specs:\n%s", wrong)
	}
	wrong = strings.Join(bad(realWorld(t, mapping.Mapping{}).limited("GRANT SELECT, UPDATE ON tasks TO ROLE; GRANT SELECT ON sandbox_events, specs, projects TO ROLE").
		Check(t.Context())), "\n")
	if wrong != "" { // it is judged without what the preset reads of them
		t.Errorf("Check of a role that may not see the tickets:\n%s", wrong)
	}
}

// TestEventsOfTheTask: a row without a sandbox finds the events of its task, since it was made.
func TestEventsOfTheTask(t *testing.T) {
	byTask := mapping.EventMapping{Columns: map[string]string{"task": "(event_data->>'task_id')"}}
	w := realWorld(t, mapping.Mapping{Events: byTask})
	w.enqueued("a", "t-free", "status = 'running'")
	w.enqueued("b", "t-free", "status = 'running', sandbox_id = 'box'")
	for _, id := range []string{"a", "b"} {
		w.event("other", "agent.started", "2026-02-01 08:59Z", `{"task_id": "`+id+`"}`)
		w.event("other", "agent.tool_use", "2026-02-01 09:10Z", `{"task_id": "`+id+`"}`)
		w.event("other", "sandkeeper.failed", "2026-02-01 09:20Z", `{"task_id": "`+id+`"}`)
	}
	a, b := w.one("a"), w.one("b")
	if !a.Events.Started.IsZero() || !a.Events.Newest().Equal(utc("2026-02-01 09:10:00")) {
		t.Errorf("events of the row without a sandbox = %+v", a.Events)
	}
	if !b.Events.Newest().IsZero() {
		t.Errorf("events of the row with a sandbox = %+v, want none: they are of another", b.Events)
	}
	refutable := reconcile.Write{Step: reconcile.StepFail, Task: a, Reason: reason, Refutable: true, LastSeen: a.LastSeen()}
	w.event("other", "agent.heartbeat", "2026-02-01 09:30Z", `{"task_id": "a"}`)
	if got := w.write(refutable); got != reconcile.WriteAlive {
		t.Errorf("Write after a newer event of the task = %s, want alive", got)
	}
	refutable.Active = true
	if got := w.write(refutable); got != reconcile.WriteDone {
		t.Errorf("Write that only activity refutes = %s, want done", got)
	}
	w.exec("DROP INDEX sandbox_events_sandbox_id_idx")
	w.tasks.forget()
	w.event("box", "agent.heartbeat", "2026-02-01 09:40Z", `{}`)
	if b := w.one("b"); !b.Events.Newest().Equal(utc("2026-02-01 09:40:00")) {
		t.Errorf("without the index: %+v", b.Events)
	}
	if wrong := bad(w.tasks.Check(t.Context())); len(wrong) != 1 || !strings.Contains(wrong[0], "CREATE INDEX") {
		t.Errorf("Check = %q, want only the index", wrong)
	}
}

// TestNarrowedHeartbeats: one type may be a heartbeat and something else, by its data.
func TestNarrowedHeartbeats(t *testing.T) {
	m := mapping.Mapping{Events: mapping.EventMapping{Started: []mapping.EventType{}, Finished: []mapping.EventType{},
		Heartbeat: []mapping.EventType{{Type: "status", Where: "data->>'is' = 'beat' AND source <> ''"}},
		Waiting:   []mapping.EventType{{Type: "status", Where: "data->>'is' = 'waiting'"}}}}
	w := realWorld(t, m)
	task := w.enqueued("a", "t-free", "status = 'running', sandbox_id = 'box'")
	w.event("box", "status", "2026-02-01 10:00Z", `{"is": "waiting"}`)
	w.event("box", "status", "2026-02-01 10:01Z", `{"is": "beat"}`)
	got := w.one("a").Events
	if !got.Heartbeat.Equal(utc("2026-02-01 10:01:00")) || !got.Activity.Equal(utc("2026-02-01 10:00:00")) ||
		!got.Waiting.Equal(got.Activity) {
		t.Errorf("events = %+v", got)
	}
	write := reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason, Refutable: true, Active: true,
		LastSeen: got.Activity}
	w.exec("DELETE FROM sandbox_events WHERE event_data->>'is' = 'waiting'")
	if got := w.write(write); got != reconcile.WriteDone {
		t.Errorf("Write over a heartbeat = %s, want done", got)
	}
}

// TestMark: any change of the mark is seen, and refutes a write that activity would refute.
func TestMark(t *testing.T) {
	m := mapping.Mapping{Columns: map[string]string{"activity_mark": "(row(timeout_seconds, repeat('x', 100000)))", "sandboxes": "max_retries"}}
	w := realWorld(t, m)
	task := w.enqueued("a", "t-free", "status = 'running', sandbox_id = 'box', max_retries = 2147483647")
	if len(task.Mark) != 32 || task.Sandboxes != mostSandboxes {
		t.Errorf("mark %q, %d sandboxes", task.Mark, task.Sandboxes)
	}
	w.exec("UPDATE tasks SET timeout_seconds = 7")
	if again := w.one("a"); again.Mark == task.Mark {
		t.Error("the mark is the same")
	}
	for _, write := range []reconcile.Write{{Refutable: true}, {Refutable: true, Active: true}} {
		write.Step, write.Task, write.Reason, write.Lock, write.LastSeen = reconcile.StepFail, task, reason, true, time.Now()
		if got := w.write(write); got != reconcile.WriteAlive {
			t.Errorf("Write after the mark changed = %s, want alive", got)
		}
		write.Task = w.one("a")
		w.exec("UPDATE tasks SET updated_at = now()")
		if write.Active {
			if got := w.write(write); got != reconcile.WriteDone {
				t.Errorf("Write with the mark as it is = %s, want done", got)
			}
		}
	}
}

// TestNoTime: what programs write for "never" is no deletion and no life sign.
func TestNoTime(t *testing.T) {
	w := newWorld(t, "CREATE TABLE tasks (id int PRIMARY KEY, status text, gone timestamptz, beat timestamptz, note text)", mapping.Mapping{
		Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "deleted_at": "gone", "heartbeat_at": "beat", "error": "note"},
		Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
		Fail:     mapping.RowChange{Status: "off", Set: map[string]string{"note": "@reason"}},
	})
	for _, never := range []string{"0001-01-01 00:00:00Z", "1970-01-01 00:00:00Z", "1970-01-01 14:00:00Z", "-infinity"} {
		w.exec("TRUNCATE tasks")
		w.exec("INSERT INTO tasks VALUES (1, 'on', $1::text::timestamptz, $1::text::timestamptz)", never)
		task := w.one("1")
		if task.State != reconcile.TaskRunning || !task.HeartbeatAt.IsZero() || len(w.live()) != 1 {
			t.Errorf("%s: %+v, want it running and silent", never, task)
		}
		got := w.write(reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: reason, Refutable: true})
		if got != reconcile.WriteDone {
			t.Errorf("%s: Write = %s, want done", never, got)
		}
	}
	w.exec("INSERT INTO tasks VALUES (2, 'on', 'infinity')")
	if task := w.one("2"); task.State != reconcile.TaskStopped || len(w.live()) != 0 {
		t.Errorf("deleted at infinity: %+v", task)
	}
}
