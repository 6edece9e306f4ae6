package tasks

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// codingWorld is the coding-agent template on a server whose own time zone is not UTC.
func codingWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, pgtest.CodingAgent, mapping.Mapping{Preset: "coding-agent"})
	w.exec(pgtest.CodingAgentUser)
	w.exec(`ALTER DATABASE ` + store.Quoted(w.text("SELECT current_database()")) + ` SET timezone TO 'Asia/Kolkata'`)
	w.pool.Reset()
	return w
}

// coding adds a task as the template's API does, which was made and last moved at fixed times
// in UTC, and sets columns.
func (w *world) coding(id, set string) reconcile.Task {
	w.t.Helper()
	w.exec(`INSERT INTO tasks (id, user_id, prompt, logs, progress, max_duration, created_at, updated_at)
		VALUES ($1, 'u', 'fix it', '[]', 0, 300, '2026-02-01 09:00', '2026-02-01 10:00')`, id)
	if set != "" {
		w.exec("UPDATE tasks SET "+set+" WHERE id = $1", id)
	}
	return w.one(id)
}

func TestCodingAgentStates(t *testing.T) {
	cases := map[string]struct {
		set  string
		want reconcile.TaskState
		live bool
	}{
		"new":                              {"", reconcile.TaskPending, true},
		"taken, no sandbox yet":            {"status = 'processing'", reconcile.TaskAssigned, true},
		"taken, an empty sandbox":          {"status = 'processing', sandbox_id = ''", reconcile.TaskAssigned, true},
		"at work":                          {"status = 'processing', sandbox_id = 'sbx_1'", reconcile.TaskRunning, true},
		"done, its sandbox is kept":        {"status = 'completed', sandbox_id = 'sbx_1'", reconcile.TaskCompleted, false},
		"failed":                           {"status = 'error'", reconcile.TaskFailed, false},
		"stopped, its sandbox lives on":    {"status = 'stopped', sandbox_id = 'sbx_1'", reconcile.TaskStopped, false},
		"a word of a fork":                 {"status = 'queued'", reconcile.TaskUnknown, false},
		"deleted by its user, at work":     {"status = 'processing', sandbox_id = 'sbx_1', deleted_at = now()", reconcile.TaskStopped, false},
		"deleted by its user, never taken": {"deleted_at = now()", reconcile.TaskStopped, false},
		"deleted by its user, done":        {"status = 'completed', keep_alive = true, deleted_at = now()", reconcile.TaskStopped, false},
		"deleted, a word of a fork":        {"status = 'queued', deleted_at = now()", reconcile.TaskUnknown, false},
	}
	w := codingWorld(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.exec("TRUNCATE tasks CASCADE")
			task := w.coding("Qx9-_a", c.set)
			if task.State != c.want {
				t.Errorf("state = %q, want %q", task.State, c.want)
			}
			if _, live := w.live()["Qx9-_a"]; live != c.live {
				t.Errorf("read as live: %v, want %v", live, c.live)
			}
			if task.Outside {
				t.Error("outside of where: its sandbox would never be judged")
			}
		})
	}
}

// TestCodingAgentKeptForEver: a time that nothing can be added to does not stop the statement.
func TestCodingAgentKeptForEver(t *testing.T) {
	w := codingWorld(t)
	task := w.coding("a", "status = 'completed', keep_alive = true, updated_at = '294276-12-31 23:00'")
	if !task.KeepAliveUntil.Equal(lastMoment) {
		t.Errorf("kept until %s, want for ever", task.KeepAliveUntil)
	}
}

// TestCodingAgentDeleted: a row that its user deleted counts as stopped since then, says whose
// its sandbox is, and is never written.
func TestCodingAgentDeleted(t *testing.T) {
	w := codingWorld(t)
	task := w.coding("a", "status = 'processing', sandbox_id = 'sbx_1'")
	const why = "sandbox sbx_1 at vercel is gone [sandkeeper a-1]"
	w.exec("UPDATE tasks SET deleted_at = '2026-02-01 11:00'")
	rows, err := w.tasks.BySandbox(t.Context(), []string{"sbx_1", "sbx_2"})
	if err != nil || len(rows.Tasks) != 1 || rows.Tasks[0].ID != "a" || rows.Tasks[0].State != reconcile.TaskStopped {
		t.Fatalf("BySandbox = %+v, %v, want the deleted row, stopped", rows.Tasks, err)
	}
	deleted := rows.Tasks[0]
	if !deleted.UpdatedAt.Equal(utc("2026-02-01 11:00:00")) || deleted.ActivityAt.After(task.UpdatedAt) {
		t.Errorf("updated %s, active %s; want it stopped since it was deleted", deleted.UpdatedAt, deleted.ActivityAt)
	}
	before := w.text("SELECT xmin::text || tasks::text FROM tasks")
	for what, task := range map[string]reconcile.Task{"as it was judged": task, "as it is": deleted} {
		for _, lock := range []bool{false, true} {
			written, _, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: why, Lock: lock})
			if err != nil || written != reconcile.WriteMoved {
				t.Errorf("%s, locked %v: Write = %s, %v, want moved", what, lock, written, err)
			}
		}
	}
	if after := w.text("SELECT xmin::text || tasks::text FROM tasks"); after != before {
		t.Errorf("a deleted row was written: %s", after)
	}
	w.exec("UPDATE tasks SET updated_at = '2026-02-01 12:00'")
	if late := w.one("a"); !late.UpdatedAt.Equal(utc("2026-02-01 12:00:00")) {
		t.Errorf("updated %s, want the later of both", late.UpdatedAt)
	}
}

// TestCodingAgentDeletedAfterOurWrite: neither a restore nor the SQL for victims brings back a
// task that its user deleted after we failed it.
func TestCodingAgentDeletedAfterOurWrite(t *testing.T) {
	w := codingWorld(t)
	w.tasks = w.open(mapping.Mapping{Preset: "coding-agent", Requeue: mapping.RowChange{Status: "pending", Set: map[string]string{"error": "@reason"}}})
	task := w.coding("a", "status = 'processing', sandbox_id = 'sbx_1'")
	const why = "gone [sandkeeper a-1]"
	written, before, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: task, Reason: why})
	if err != nil || written != reconcile.WriteDone {
		t.Fatalf("Write = %s, %v, want done", written, err)
	}
	again := w.tasks.plan.RunAgain([]string{"a"}, "again")
	w.exec("UPDATE tasks SET deleted_at = now()")
	if got, err := w.restore("a", *before); got != reconcile.WriteMoved || err != nil {
		t.Errorf("Restore = %s, %v, want moved", got, err)
	}
	w.exec(again)
	if got := w.text("SELECT status FROM tasks"); got != "error" {
		t.Errorf("run again: %s, want the deleted row left alone", got)
	}
	w.exec("UPDATE tasks SET deleted_at = NULL")
	w.exec(again)
	if got := w.text("SELECT status FROM tasks"); got != "pending" {
		t.Errorf("run again, not deleted: %s, want pending\n%s", got, again)
	}
}

func TestCodingAgentClocks(t *testing.T) {
	nine, ten := utc("2026-02-01 09:00:00"), utc("2026-02-01 10:00:00")
	cases := map[string]struct {
		set       string
		timeout   time.Duration
		keepAlive time.Time
	}{
		"as the template makes it": {"", 300 * time.Minute, time.Time{}},
		"five minutes":             {"max_duration = 5", 5 * time.Minute, time.Time{}},
		"no longest time":          {"max_duration = NULL", 0, time.Time{}},
		"kept alive":               {"keep_alive = true, max_duration = 45", 45 * time.Minute, ten.Add(45 * time.Minute)},
		"kept alive without a longest time": {
			"keep_alive = true, max_duration = NULL", 0, ten.Add(5 * time.Hour),
		},
		"being set up":          {"status = 'processing'", 300 * time.Minute, time.Time{}},
		"at work":               {"status = 'processing', sandbox_id = 'x'", 300 * time.Minute, time.Time{}},
		"a fork without an end": {"max_duration = 2147483647", longest, time.Time{}},
		"kept alive without an end": {
			"keep_alive = true, max_duration = 2147483647", longest, utc("6109-02-24 12:07:00"),
		},
		"keep alive is null":       {"keep_alive = NULL", 300 * time.Minute, time.Time{}},
		"finished and then logged": {"status = 'completed', completed_at = '2026-02-01 09:59:59'", 300 * time.Minute, time.Time{}},
	}
	w := codingWorld(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.exec("TRUNCATE tasks CASCADE")
			task := w.coding("a", c.set)
			if !task.CreatedAt.Equal(nine) || !task.UpdatedAt.Equal(ten) {
				t.Errorf("created %s, updated %s: times without zone are UTC", task.CreatedAt, task.UpdatedAt)
			}
			if task.Timeout != c.timeout || !task.ActivityAt.IsZero() || !task.KeepAliveUntil.Equal(c.keepAlive) {
				t.Errorf("timeout %s, activity %s, kept until %s; want %s, none, %s",
					task.Timeout, task.ActivityAt, task.KeepAliveUntil, c.timeout, c.keepAlive)
			}
			if marked := name == "at work" || name == "being set up"; (task.Mark != "") != marked {
				t.Errorf("mark %q, want one: %v", task.Mark, marked)
			}
		})
	}
}

// TestCodingAgentLife takes one task through all of it: its sandbox answers 410, the fail
// clears what it cannot use again, the user goes on with it, and stops it.
func TestCodingAgentLife(t *testing.T) {
	w := codingWorld(t)
	w.coding("a", `logs = '[{"type": "info", "message": "begun"}]'`)
	const touch = ", updated_at = timezone('UTC', clock_timestamp()) WHERE id = 'a'"
	w.exec("UPDATE tasks SET status = 'processing', progress = 10" + touch)
	w.exec("UPDATE tasks SET sandbox_id = 'sbx_1', sandbox_url = 'https://a.example', agent_session_id = 's-1'" + touch)
	running := w.one("a")
	const why = "sandbox sbx_1 at vercel is gone (410) [sandkeeper a-1]"
	written, before, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: running, Reason: why})
	if err != nil || written != reconcile.WriteDone {
		t.Fatalf("Write = %s, %v, want done", written, err)
	}
	failed := w.one("a")
	if failed.State != reconcile.TaskFailed || failed.Error != why || failed.Sandbox != "" || failed.Session != "" {
		t.Errorf("the failed row is %+v, want the reason, no sandbox and no session", failed)
	}
	if !failed.UpdatedAt.After(running.UpdatedAt) {
		t.Errorf("updated %s: our own write moves updated_at forward", failed.UpdatedAt)
	}
	if now := w.text("SELECT (abs(extract(epoch FROM completed_at - timezone('UTC', now()))) < 60)::text FROM tasks"); now != "true" {
		t.Error("completed_at is not UTC")
	}
	kept := w.text("SELECT progress || ' ' || (logs->0)::text || ' ' || coalesce(sandbox_url, '-') FROM tasks")
	if want := `10 {"type": "info", "message": "begun"} -`; kept != want {
		t.Errorf("the row became %s, want %s", kept, want)
	}
	w.exec("UPDATE tasks SET status = 'processing', progress = 0, completed_at = NULL" + touch) // the user goes on
	if again := w.one("a"); again.State != reconcile.TaskAssigned || again.Mark == "" {
		t.Errorf("continued: %s, mark %q, want assigned, with a mark", again.State, again.Mark)
	}
	if got, err := w.restore("a", *before); got != reconcile.WriteMoved || err != nil {
		t.Errorf("Restore of a task that goes on = %s, %v, want moved", got, err)
	}
	w.exec("UPDATE tasks SET sandbox_id = 'sbx_2'" + touch)
	if again := w.one("a"); again.State != reconcile.TaskRunning || again.Sandbox != "sbx_2" || again.Mark == running.Mark {
		t.Errorf("continued: %s in %q, want running in sbx_2", again.State, again.Sandbox)
	}
	w.exec("UPDATE tasks SET status = 'stopped', completed_at = now()" + touch)
	if got := w.fail(w.one("a"), why); got != reconcile.WriteMoved {
		t.Errorf("a stopped task was failed: %s", got)
	}
}

// TestCodingAgentOfAFork: what the config says of statuses and columns goes into the split.
func TestCodingAgentOfAFork(t *testing.T) {
	w := newWorld(t, `CREATE TYPE "Stage" AS ENUM ('new', 'it''s on', 'resumed', 'ok', 'bad');
		CREATE TABLE "Task" (id text PRIMARY KEY, "Stage" "Stage" NOT NULL, box text, error text, agent_session_id text,
			keep_alive boolean, max_duration integer, created_at timestamp, updated_at timestamp, completed_at timestamp);
		INSERT INTO "Task" (id, "Stage", box) VALUES ('a', 'it''s on', NULL), ('b', 'it''s on', 'x'), ('c', 'resumed', 'y'), ('d', 'ok', 'z')`,
		mapping.Mapping{Preset: "coding-agent", Table: `public."Task"`,
			Columns: map[string]string{"status": "Stage", "sandbox": "(nullif(box, 'none'))", "keep_alive_until": "", "deleted_at": "", "activity_mark": ""},
			Statuses: map[string][]string{"pending": {"new"}, "running": {"it's on", "resumed"}, "completed": {"ok"},
				"failed": {"bad"}, "stopped": {"halted"}},
			Fail: mapping.RowChange{Status: "bad", Set: map[string]string{"sandbox_id": "", "box": "NULL", "sandbox_url": "", "logs": ""}},
		})
	got := map[string]reconcile.TaskState{}
	for id, task := range w.live() {
		got[id] = task.State
	}
	if want := "map[a:assigned b:running c:running]"; fmt.Sprint(got) != want {
		t.Errorf("live = %v, want %s", got, want)
	}
	if written := w.fail(w.one("c"), reason); written != reconcile.WriteDone {
		t.Errorf("Write = %s, want done", written)
	}
}

// TestCodingAgentWithOtherNames: the preset's fail sets the columns by the names that they have,
// and what a fork itself says of them wins.
func TestCodingAgentWithOtherNames(t *testing.T) {
	w := newWorld(t, `CREATE TABLE task_messages (task_id text, role text, content text);
		CREATE TABLE tasks (id text PRIMARY KEY, status text, vm_id text, "last error" text, "Session" text, logs jsonb,
			keep_alive boolean, max_duration integer, created_at timestamp, changed timestamp, completed_at timestamp, gone timestamp);
		INSERT INTO tasks (id, status, vm_id, "Session", keep_alive, max_duration, changed)
			VALUES ('a', 'processing', 'x', 's', true, 60, '2026-02-01 10:00')`, mapping.Mapping{Preset: "coding-agent"})
	m := mapping.Mapping{Preset: "coding-agent", Columns: map[string]string{"sandbox": "vm_id", "error": `"last error"`,
		"session": "Session", "updated_at": "changed", "deleted_at": "gone"},
		Fail: mapping.RowChange{Set: map[string]string{"sandbox_url": ""}}}
	w.tasks = w.open(m)
	for _, line := range w.tasks.Check(t.Context()) {
		if !line.OK {
			t.Errorf("check fails: %+v", line)
		}
	}
	task := w.one("a")
	if until := utc("2026-02-01 11:00:00"); task.Mark == "" || !task.KeepAliveUntil.Equal(until) {
		t.Errorf("mark %q, kept until %s", task.Mark, task.KeepAliveUntil)
	}
	if written := w.fail(task, reason); written != reconcile.WriteDone {
		t.Fatalf("Write = %s, want done", written)
	}
	row := w.text(`SELECT concat_ws('|', status, coalesce(vm_id, '-'), coalesce("Session", '-'), "last error",
		(changed > '2026-02-02')::text) FROM tasks`)
	if want := "error|-|-|" + reason + "|true"; row != want {
		t.Errorf("row = %s, want %s", row, want)
	}
	m.Fail.Set = map[string]string{"last error": "'task: ' || @reason", "vm_id": "vm_id", "Session": "", "sandbox_url": "", "logs": ""}
	got := m.WithPreset().Fail.Set
	want := map[string]string{"last error": "'task: ' || @reason", "vm_id": "vm_id", "completed_at": "@now", "changed": "@now"}
	if !maps.Equal(got, want) {
		t.Errorf("fail sets %v, want %v", got, want)
	}
	renamed := mapping.Mapping{Preset: "omoios", Columns: map[string]string{"attempts": "Tries", "session": "(upper(s))"}}.WithPreset()
	if set := renamed.Requeue.Set; set["Tries"] != `"Tries" + 1` || set["retry_count"] != "" || set["conversation_id"] != "NULL" {
		t.Errorf("requeue sets %v", set)
	}
}

// TestPresetStateOfTheConfigWins: one that is given, and one that is given as "".
func TestPresetStateOfTheConfigWins(t *testing.T) {
	for given, want := range map[string]string{"(lower(status))": "(lower(status))", "": ""} {
		m := mapping.Mapping{Preset: "coding-agent", Columns: map[string]string{"state": given}}.WithPreset()
		if m.Columns["state"] != want || m.Split {
			t.Errorf("state %q became %q, split %v", given, m.Columns["state"], m.Split)
		}
	}
	m := mapping.Mapping{Preset: "coding-agent"}.WithPreset()
	if again := m.WithPreset(); again.Columns["state"] != m.Columns["state"] || !again.Split {
		t.Errorf("the preset twice: %+v", again)
	}
	for what, m := range map[string]mapping.Mapping{
		"no status is running": {Preset: "coding-agent", Statuses: map[string][]string{"running": {}}},
		"no sandbox is mapped": {Preset: "coding-agent", Columns: map[string]string{"sandbox": ""}},
	} {
		if m = m.WithPreset(); m.Split || m.Columns["state"] != "" || m.Columns["activity_mark"] != "" || m.Where != "" {
			t.Errorf("%s: %+v", what, m)
		}
	}
}

// TestCodingAgentUsesTheIndex: the state expression keeps a pass from no index.
func TestCodingAgentUsesTheIndex(t *testing.T) {
	w := codingWorld(t)
	w.exec("CREATE INDEX tasks_status ON tasks (status)")
	w.exec(`INSERT INTO tasks (id, user_id, prompt, status) SELECT n, 'u', repeat('x', 200),
		CASE WHEN n % 1000 = 0 THEN 'processing' ELSE 'completed' END FROM generate_series(1, 20000) AS n`)
	w.exec("ANALYZE")
	if scans := w.explain().scans(); slices.Contains(scans, "Seq Scan on tasks") {
		t.Errorf("scans = %v, want the index", scans)
	}
}

// TestCodingAgentChecks: the template as it ships passes, with advice on indexes alone.
func TestCodingAgentChecks(t *testing.T) {
	w := codingWorld(t)
	w.coding("a", "status = 'processing'")
	var advice []string
	for _, line := range w.tasks.Check(t.Context()) {
		if !line.OK {
			t.Errorf("check fails: %+v", line)
		}
		if line.Fix != "" && line.What != "role" { // the tests are a superuser
			advice = append(advice, line.What+": "+line.Fix)
		}
	}
	want := []string{`index on the status: CREATE INDEX CONCURRENTLY ON "public"."tasks" ("status")`,
		`index on the sandbox: CREATE INDEX CONCURRENTLY ON "public"."tasks" ("sandbox_id")`}
	if !slices.Equal(advice, want) {
		t.Errorf("advice = %q, want %q", advice, want)
	}
}

// TestCodingAgentForkChecks: so does the fork, which has more columns and indexes.
func TestCodingAgentForkChecks(t *testing.T) {
	w := newWorld(t, pgtest.CodingAgentFork+pgtest.CodingAgentUser, mapping.Mapping{Preset: "coding-agent"})
	w.coding("a", "status = 'processing'")
	if wrong := bad(w.tasks.Check(t.Context())); len(wrong) > 0 {
		t.Errorf("check fails: %q", wrong)
	}
	if got := w.fail(w.one("a"), reason); got != reconcile.WriteDone {
		t.Errorf("Write = %s, want done", got)
	}
}

func TestWorkerColumn(t *testing.T) {
	w := omoiosWorld(t)
	w.exec("ALTER TABLE tasks ADD COLUMN image text")
	w.tasks = w.open(mapping.Mapping{Preset: "omoios", Columns: map[string]string{"worker": "(nullif(image, ''))"}})
	task := w.running("1")
	if task.Worker != "" || task.Session != "c" {
		t.Errorf("worker %q, session %q, want none and c", task.Worker, task.Session)
	}
	w.exec("UPDATE tasks SET image = 'agent:1.4.2', error_message = 'oh'")
	if task = w.one(id("1")); task.Worker != "agent:1.4.2" || task.Error != "oh" {
		t.Errorf("worker %q, error %q, want agent:1.4.2 and oh", task.Worker, task.Error)
	}
}
