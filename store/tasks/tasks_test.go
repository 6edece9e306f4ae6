package tasks

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

func TestClock(t *testing.T) {
	w := omoiosWorld(t)
	c, err := w.tasks.Clock(t.Context())
	if err != nil || !c.Empty || c.Standby || c.Now.IsZero() {
		t.Fatalf("Clock of an empty table = %+v, %v", c, err)
	}
	w.exec("INSERT INTO program.tasks (status) VALUES ('completed')")
	later, err := w.tasks.Clock(t.Context())
	if err != nil || later.Empty || !later.Now.After(c.Now) {
		t.Fatalf("Clock of a table with a row = %+v, %v, want not empty and after %s", later, err, c.Now)
	}
}

func TestLiveReadsARowAsItIs(t *testing.T) {
	w := omoiosWorld(t)
	w.exec(`INSERT INTO program.tasks (id, status, sandbox_id, conversation_id, created_at, updated_at, started_at, retry_count,
		max_retries, timeout_seconds, deadline_at, error_message)
		VALUES ($1, 'running', 'omoios-8c02ffe6-26b9bb', 'c-1', '2026-02-01 09:00Z', '2026-02-01 09:02Z', '2026-02-01 09:01Z',
		0, 3, 90, '2026-02-01 10:00+01', 'so so')`, id("1"))
	w.exec(`INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at) VALUES
		('omoios-8c02ffe6-26b9bb', 'agent.started', '2026-02-01 09:01:01Z'),
		('omoios-8c02ffe6-26b9bb', 'agent.tool_use', '2026-02-01 09:01:02Z'),
		('omoios-8c02ffe6-26b9bb', 'agent.waiting', '2026-02-01 09:01:03Z'),
		('omoios-8c02ffe6-26b9bb', 'agent.heartbeat', '2026-02-01 09:01:09Z'),
		('omoios-8c02ffe6-26b9bb', 'agent.heartbeat', '2026-02-01 09:01:08Z'),
		('omoios-8c02ffe6-26b9bb', 'sandkeeper.failed', '2026-02-01 09:30:00Z'),
		('another', 'agent.completed', '2026-02-01 09:40:00Z')`)
	got := w.live()[id("1")]
	if got.AsOf.IsZero() || got.Version == "" {
		t.Errorf("as of %s, version %q: neither may be empty", got.AsOf, got.Version)
	}
	want := reconcile.Task{
		ID: id("1"), Version: got.Version, Status: "running", State: reconcile.TaskRunning, AsOf: got.AsOf,
		Sandbox: "omoios-8c02ffe6-26b9bb", Session: "c-1", Error: "so so",
		CreatedAt: utc("2026-02-01 09:00:00"), UpdatedAt: utc("2026-02-01 09:02:00"), StartedAt: utc("2026-02-01 09:01:00"),
		Timeout: 90 * time.Second, MaxAttempts: 3, Retries: true, Sandboxes: 1,
		Events: reconcile.Events{
			Started: utc("2026-02-01 09:01:01"), Activity: utc("2026-02-01 09:01:03"),
			Waiting: utc("2026-02-01 09:01:03"), Heartbeat: utc("2026-02-01 09:01:09"),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Live (-want +got):\n%s", diff)
	}
}

// TestLiveBut: a row of which the caller says that it is plain is not kept, and each is asked of once, with all that is
// read of it.
func TestLiveBut(t *testing.T) {
	w := omoiosWorld(t)
	for _, n := range []string{"1", "2", "3"} {
		w.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', $2)", id(n), "omoios-"+n)
	}
	whole, asked := w.live(), map[string]reconcile.Task{}
	rows, err := w.tasks.LiveBut(t.Context(), func(row *reconcile.Task) bool {
		if _, twice := asked[row.ID]; twice {
			t.Errorf("asked of %s again", row.ID)
		}
		asked[row.ID] = *row
		return row.ID == id("2")
	})
	if err != nil || len(rows.Tasks) != 2 || len(asked) != 3 {
		t.Fatalf("LiveBut = %+v, %v; asked of %d rows", rows, err, len(asked))
	}
	for _, row := range rows.Tasks {
		if row.ID == id("2") {
			t.Errorf("%s is kept", row.ID)
		}
		if diff := cmp.Diff(asked[row.ID], row); diff != "" {
			t.Errorf("kept is another row than the one that was asked of (-asked +kept):\n%s", diff)
		}
	}
	for key, row := range whole {
		row.AsOf = asked[key].AsOf
		if diff := cmp.Diff(row, asked[key]); diff != "" {
			t.Errorf("LiveBut asks of another row than Live reads (-Live +asked):\n%s", diff)
		}
	}
	if _, err := w.tasks.LiveBut(t.Context(), func(*reconcile.Task) bool { return true }); err != nil {
		t.Error(err)
	}
}

func TestLiveTakesTheLiveStatusesAndWhere(t *testing.T) {
	w := omoiosWorld(t)
	words := []string{"pending", "assigned", "claiming", "running", "completed", "failed", "cancelled", "odd"}
	for i, status := range words {
		w.exec("INSERT INTO program.tasks (id, status, task_type) VALUES ($1, $2, $3)", id(string(rune('0'+i))), status,
			[]string{"a", "b"}[i%2])
	}
	states := func(rows map[string]reconcile.Task) string {
		var out []string
		for _, t := range rows {
			out = append(out, t.Status+"="+string(t.State))
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	if got, want := states(w.live()), "assigned=assigned claiming=assigned pending=pending running=running"; got != want {
		t.Errorf("Live = %s, want %s", got, want)
	}
	w.tasks = w.open(mapping.Mapping{Preset: "omoios", Where: "task_type = 'a' AND created_at <= @now"})
	if got, want := states(w.live()), "claiming=assigned pending=pending"; got != want {
		t.Errorf("Live where = %s, want %s", got, want)
	}
	rows, err := w.tasks.ByID(t.Context(), []string{id("1"), id("7")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := states(byID(rows)), "assigned=assigned odd="; got != want {
		t.Errorf("ByID, which ignores where, = %s, want %s", got, want)
	}
	rows, err = w.tasks.ByID(t.Context(), []string{id("0"), id("1")})
	if err != nil {
		t.Fatal(err)
	}
	if found := byID(rows); found[id("0")].Outside || !found[id("1")].Outside {
		t.Errorf("ByID: outside where = %t and %t, want false and true", found[id("0")].Outside, found[id("1")].Outside)
	}
}

func TestLiveOfAnEmptyTableHasItsNow(t *testing.T) {
	rows, err := omoiosWorld(t).tasks.Live(t.Context())
	if err != nil || rows.Now.IsZero() || len(rows.Tasks) != 0 {
		t.Errorf("Live = %+v, %v", rows, err)
	}
}

func TestByIDKeepsBadIDsApart(t *testing.T) {
	w, _ := uuidWorld(t)
	const letters = "abcdefab-0000-4000-8000-00000000000a"
	w.exec("INSERT INTO jobs_by_uuid (id, status) VALUES ($1, 'failed'), ($2, 'running')", letters, id("2"))
	upper := strings.ToUpper(letters)
	rows, err := w.tasks.ByID(t.Context(), []string{
		letters, upper, strings.ReplaceAll(letters, "-", ""), id("2"), id("3"), "task-9", "", "x\x00", "\xff", letters + "0"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range rows.Tasks {
		got = append(got, task.ID)
	}
	slices.Sort(got)
	want := []string{id("2"), upper, letters, strings.ReplaceAll(letters, "-", "")}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"task-9", "", "x\x00", "\xff", letters + "0"}, rows.Unparsable); diff != "" {
		t.Errorf("unparsable (-want +got):\n%s", diff)
	}
}

func TestIDTypes(t *testing.T) {
	cases := map[string]struct {
		column     string
		ids        []string
		asked      []string
		found, bad []string
	}{
		"bigint": {"bigint", []string{"1", "9223372036854775807"},
			[]string{"1", "01", "9223372036854775807", "9223372036854775808", "1.0", "2", "one"},
			[]string{"1", "01", "9223372036854775807"}, []string{"9223372036854775808", "1.0", "one"}},
		"integer": {
			"integer",
			[]string{"-7"},
			[]string{"-7", "2147483648", "2147483647"},
			[]string{"-7"},
			[]string{"2147483648"},
		},
		"smallint": {"smallint", []string{"7"}, []string{"7", "32768"}, []string{"7"}, []string{"32768"}},
		"text": {
			"text",
			[]string{"a'b", "ünï", "7"},
			[]string{"a'b", "ünï", "A'B", "07", "7"},
			[]string{"a'b", "ünï", "7"},
			nil,
		},
		"varchar": {"varchar(3)", []string{"abc"}, []string{"abc", "abcd"}, []string{"abc"}, nil},
		"uuid": {
			"uuid",
			[]string{"abcdefab-0000-4000-8000-00000000000a"},
			[]string{"abcdefab-0000-4000-8000-00000000000a", "ABCDEFAB00004000800000000000000A", "task-9"},
			[]string{"abcdefab-0000-4000-8000-00000000000a", "ABCDEFAB00004000800000000000000A"},
			[]string{"task-9"},
		},
		"character": {"char(4)", []string{"abc"}, []string{"abc", "x"}, []string{"abc"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(
				t,
				"CREATE TABLE jobs (id "+c.column+" PRIMARY KEY, status text, box "+c.column+", note text)",
				mapping.Mapping{
					Table: "public.jobs", Columns: map[string]string{"id": "id", "status": "status", "sandbox": "box"},
					Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
					Fail:     mapping.RowChange{Status: "off", Set: map[string]string{"note": "@reason"}},
				},
			)
			for _, id := range c.ids {
				w.exec("INSERT INTO jobs SELECT $1::text::"+c.column+", 'on', $1::text::"+c.column, id)
			}
			for what, read := range map[string]func() (reconcile.Rows, error){
				"ByID":      func() (reconcile.Rows, error) { return w.tasks.ByID(t.Context(), c.asked) },
				"BySandbox": func() (reconcile.Rows, error) { return w.tasks.BySandbox(t.Context(), c.asked) },
			} {
				rows, err := read()
				if err != nil {
					t.Fatal(err)
				}
				want := c.found
				if what == "BySandbox" {
					want = c.ids
				}
				var got []string
				for _, task := range rows.Tasks {
					got = append(got, task.ID)
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) || !slices.Equal(rows.Unparsable, c.bad) {
					t.Errorf("%s = %q and unparsable %q, want %q and %q", what, got, rows.Unparsable, want, c.bad)
				}
			}
			task := w.one(c.ids[0])
			if got := w.fail(task, "gone"); got != reconcile.WriteDone {
				t.Errorf("Write = %s, want done", got)
			}
		})
	}
}

func TestBySandboxFindsEveryStatusWithEvents(t *testing.T) {
	w := omoiosWorld(t)
	w.exec(
		"INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'completed', 'a'), ($2, 'running', 'a'), ($3, 'odd', "+
			"'b'), ($4, 'running', 'c')",
		id("1"),
		id("2"),
		id("3"),
		id("4"),
	)
	w.exec(
		`INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at, event_data)
			VALUES ('a', 'continuous.completed', '2026-02-01 09:00Z', '{"validation_passed": true}')`,
	)
	rows, err := w.tasks.BySandbox(t.Context(), []string{"a", "b", "nobody"})
	if err != nil {
		t.Fatal(err)
	}
	got := byID(rows)
	if len(got) != 3 || got[id("4")].ID != "" {
		t.Fatalf("BySandbox = %v", got)
	}
	for _, n := range []string{"1", "2"} {
		if at := got[id(n)].Events.Finished; !at.Equal(utc("2026-02-01 09:00:00")) {
			t.Errorf("task %s finished at %s", n, at)
		}
	}
}

func TestReadsOfNothing(t *testing.T) {
	w := omoiosWorld(t)
	for name, read := range map[string]func() (reconcile.Rows, error){
		"no ids":      func() (reconcile.Rows, error) { return w.tasks.ByID(t.Context(), nil) },
		"no keys":     func() (reconcile.Rows, error) { return w.tasks.BySandbox(t.Context(), nil) },
		"only no ids": func() (reconcile.Rows, error) { return w.tasks.ByID(t.Context(), []string{"x"}) },
	} {
		rows, err := read()
		if err != nil || rows.Now.IsZero() || len(rows.Tasks) != 0 {
			t.Errorf("%s: %+v, %v", name, rows, err)
		}
	}
}

const oddSchema = `CREATE SCHEMA "My Jobs";
CREATE TABLE "My Jobs"."Task ""Table""" ("order" bigint PRIMARY KEY, "State" text, "data" jsonb,
	"user" text, "a.b" text);
CREATE TABLE "My Jobs"."select" ("from" text, "where" text, "to" timestamp);
INSERT INTO "My Jobs"."Task ""Table""" VALUES (1, 'on', '{"box": "b-1", "beat": "2026-02-01 09:00:00+00"}', 'ana');
INSERT INTO "My Jobs"."select" VALUES ('b-1', 'tick', '2026-02-01 10:00:00')`

func oddMapping() mapping.Mapping {
	return mapping.Mapping{
		Table: `"My Jobs"."Task ""Table"""`, Timezone: "Europe/Berlin",
		Columns: map[string]string{
			"id": "order", "status": "State", "sandbox": "(data->>'box')", "error": `"a.b"`,
			"heartbeat_at": "((data->>'beat')::timestamptz)", "template": "('it''s; --' || \"user\")",
		},
		Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
		Fail:     mapping.RowChange{Status: "off", Set: map[string]string{"a.b": "@reason", "user": "upper(\"user\")"}},
		Attrs:    []string{"user"},
		Events: mapping.EventMapping{
			Table: "My Jobs.select", Columns: map[string]string{"sandbox": "from", "type": "where", "at": "to"},
			Heartbeat: mapping.EventTypes("tick"),
		},
	}
}

func TestOddNamesAndExpressions(t *testing.T) {
	w := newWorld(t, oddSchema, oddMapping())
	got := w.live()["1"]
	if got.Sandbox != "b-1" || got.Template != "it's; --ana" || got.Attrs["user"] != "ana" ||
		!got.HeartbeatAt.Equal(utc("2026-02-01 09:00:00")) || !got.Events.Heartbeat.Equal(utc("2026-02-01 09:00:00")) ||
		!got.Events.Activity.IsZero() {
		t.Errorf("Live = %+v", got)
	}
	write := reconcile.Write{Step: reconcile.StepFail, Task: got, Reason: "r " + reconcile.Mark("x"), Refutable: true,
		LastSeen: got.LastSeen()}
	if got := w.write(write); got != reconcile.WriteDone {
		t.Fatalf("Write = %s, want done", got)
	}
	if got := w.text(`SELECT "State" || '|' || "a.b" || '|' || "user" FROM "My Jobs"."Task ""Table"""`); got != "off|r "+
		"[sandkeeper x]|ANA" {
		t.Errorf("after the write: %s", got)
	}
}

func TestTimesWithoutZone(t *testing.T) {
	w := newWorld(
		t,
		`CREATE TABLE tasks (id int PRIMARY KEY, status text, made timestamp, day date, done timestamp, forever timestamptz,
		at timestamptz, note text, lasts interval);
		INSERT INTO tasks VALUES (1, 'on', '2026-07-01 12:00:00', '2026-07-02', NULL, 'infinity',
			'2026-07-01 10:00:00Z', NULL, '1 day 1 second')`,
		mapping.Mapping{
			Table: "tasks", Timezone: "Europe/Berlin",
			Columns: map[string]string{"id": "id", "status": "status", "created_at": "made", "assigned_at": "day",
				"deadline_at": "forever", "updated_at": "at", "error": "note", "timeout": "lasts"},
			Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
			Fail:     mapping.RowChange{Status: "off", Set: map[string]string{"note": "@reason", "done": "@now", "at": "@now"}},
		},
	)
	got := w.live()["1"]
	want := map[string][2]time.Time{
		"timestamp":                   {got.CreatedAt, utc("2026-07-01 10:00:00")},
		"date":                        {got.AssignedAt, utc("2026-07-01 22:00:00")},
		"infinity, which never comes": {got.DeadlineAt, lastMoment},
		"timestamptz":                 {got.UpdatedAt, utc("2026-07-01 10:00:00")},
		"null":                        {got.StartedAt, {}},
	}
	for name, pair := range want {
		if !pair[0].Equal(pair[1]) {
			t.Errorf("%s = %s, want %s", name, pair[0], pair[1])
		}
	}
	if got.Timeout != 24*time.Hour+time.Second {
		t.Errorf("timeout = %s", got.Timeout)
	}
	w.fail(got, "gone")
	if got := w.text("SELECT ((done AT TIME ZONE 'Europe/Berlin') = at)::text FROM tasks"); got != "true" {
		t.Errorf("@now in a column without time zone is not the moment that it is in one with: %s",
			w.text("SELECT done || ' and ' || at FROM tasks"))
	}
}

// TestTimesOutOfThisWorld: what a duration or a date cannot hold counts as the most that one
// can. It is never taken for none, and never keeps the other rows from being read.
func TestTimesOutOfThisWorld(t *testing.T) {
	w := newWorld(t, `CREATE TABLE tasks (id int PRIMARY KEY, status text, at timestamptz, lasts interval);
		INSERT INTO tasks VALUES (1, 'on', now(), '1 second')`, mapping.Mapping{
		Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "updated_at": "at", "activity_at": "at",
			"deadline_at": "at", "keep_alive_until": "at", "timeout": "lasts"},
		Statuses: map[string][]string{"running": {"on"}, "failed": {"off"}},
	})
	for lasts, want := range map[string]time.Duration{
		"1 second": time.Second, "0": 0, "-1 second": 0, "-178000000 years": 0, "1 microsecond": time.Microsecond,
		"199 years": 199 * 360 * 24 * time.Hour, "250 years": longest, "292 years": longest, "293 years": longest,
		"35791394:07:00": longest, "2147483647 minutes": longest, "178000000 years": longest, "2147483647 days": longest,
		"2562047788 hours": longest, "178000000 years -1 day": longest,
	} {
		w.exec("UPDATE tasks SET lasts = $1::text::interval", lasts)
		if got := w.one("1").Timeout; got != want {
			t.Errorf("a time-out of %s is %s, want %s", lasts, got, want)
		}
	}
	const year = "2006-01-02"
	for at, want := range map[string][2]string{ // a clock, and a limit
		"9999-12-30": {"9999-12-30", "9999-12-30"}, "10000-01-01": {"9999-12-31", "9999-12-31"},
		"294276-12-31": {"9999-12-31", "9999-12-31"}, "infinity": {"", "9999-12-31"}, "-infinity": {"", ""},
		// What programs write for "never".
		"4713-01-01 BC": {"", ""}, "0001-01-01": {"", ""}, "0001-01-03": {"", ""}, "1970-01-01 00:00Z": {"", ""},
		"1970-01-01 14:00Z": {"", ""}, "1970-12-31 23:59:59Z": {"", ""}, "1971-01-01 00:00Z": {"1971-01-01", "1971-01-01"},
	} {
		w.exec("UPDATE tasks SET at = $1::text::timestamptz", at)
		task := w.one("1")
		for what, pair := range map[string][2]any{
			"updated": {task.UpdatedAt, want[0]}, "active": {task.ActivityAt, want[0]},
			"deadline": {task.DeadlineAt, want[1]}, "kept until": {task.KeepAliveUntil, want[1]},
		} {
			got := ""
			if at := pair[0].(time.Time); !at.IsZero() {
				got = at.Format(year)
			}
			if got != pair[1] {
				t.Errorf("%s at %s is %s, want %s", what, at, got, pair[1])
			}
		}
		if _, err := json.Marshal(task); err != nil {
			t.Errorf("%s cannot be recorded: %v", at, err)
		}
	}
}

func TestStateExpressionAndEnumStatus(t *testing.T) {
	schema := `CREATE TYPE "Status" AS ENUM ('queued', 'going', 'done', 'broken');
		CREATE TABLE tasks (id int PRIMARY KEY, status "Status", started timestamptz, note text);
		INSERT INTO tasks VALUES (1, 'queued', NULL), (2, 'going', NULL), (3, 'going', now()), (4, 'broken', NULL)`
	m := mapping.Mapping{
		Table: "tasks", Columns: map[string]string{"id": "id", "status": "status", "error": "note",
			"state": "(CASE WHEN status = 'going' AND started IS NULL THEN 'assigned' WHEN status = 'going' THEN 'running' " +
				"WHEN status = 'queued' THEN 'pending' WHEN status = 'broken' THEN 'failed' ELSE 'completed' END)"},
		Fail: mapping.RowChange{Status: "broken", Set: map[string]string{"note": "@reason"}},
	}
	w := newWorld(t, schema, m)
	got := w.live()
	if len(got) != 3 || got["1"].State != "pending" || got["2"].State != "assigned" || got["3"].State != "running" {
		t.Errorf("Live by the state expression = %+v", got)
	}
	if got := w.fail(got["2"], "r"); got != reconcile.WriteDone {
		t.Errorf("Write = %s, want done", got)
	}
	m.Columns["state"], m.Fail.Status = "", "broken"
	m.Statuses = map[string][]string{"pending": {"queued", "no such label"}, "running": {"going"}, "failed": {"broken"}}
	w.tasks = w.open(m)
	if got := w.live(); len(got) != 2 || got["3"].State != "running" {
		t.Errorf("Live by the enum = %+v", got)
	}
	if got := w.fail(w.live()["3"], "r"); got != reconcile.WriteDone {
		t.Errorf("Write = %s, want done", got)
	}
}

func TestLongErrorsKeepTheirMark(t *testing.T) {
	w := omoiosWorld(t)
	w.exec(
		"INSERT INTO program.tasks (id, status, error_message) VALUES ($1, 'running', repeat('x', 9000) || ' [sandkeeper a-1]')",
		id("1"),
	)
	if got := w.one(id("1")).Error; len(got) > 4000 || !strings.HasSuffix(got, "[sandkeeper a-1]") {
		t.Errorf("error of %d bytes ending in %q", len(got), got[len(got)-30:])
	}
}

func TestCatalogIsReadAgainWhenAColumnChanges(t *testing.T) {
	w := newWorld(t, "CREATE TABLE tasks (id int PRIMARY KEY, status text); INSERT INTO tasks VALUES (1, 'on')", mapping.Mapping{
		Table: "tasks", Columns: map[string]string{"id": "id", "status": "status"},
		Statuses: map[string][]string{"running": {"on"}}})
	w.one("1")
	w.exec("ALTER TABLE tasks ALTER id TYPE uuid USING '" + id("1") + "'::uuid")
	if _, err := w.tasks.ByID(t.Context(), []string{"1"}); err == nil {
		t.Error("a statement for integers ran over uuids")
	}
	if got := w.one(id("1")); got.ID != id("1") {
		t.Errorf("after the change of type: %+v", got)
	}
}
