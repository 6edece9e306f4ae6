package tasks

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// mistakes are the single errors of a compile.
func mistakes(err error) []*mapping.Error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var out []*mapping.Error
	for _, e := range joined.Unwrap() {
		var m *mapping.Error
		if errors.As(e, &m) {
			out = append(out, m)
		}
	}
	return out
}

func TestPresetsCompile(t *testing.T) {
	for _, name := range []string{"omoios", "coding-agent"} {
		if _, err := Compile(mapping.Mapping{Preset: name}.WithPreset()); err != nil {
			t.Errorf("preset %s: %v", name, err)
		}
	}
}

// TestCompileRefuses changes one thing of a good mapping.
func TestCompileRefuses(t *testing.T) {
	cases := map[string]struct {
		change func(*mapping.Mapping)
		key    string
		says   string
	}{
		"an unknown preset":          {func(m *mapping.Mapping) { m.Preset = "omnios" }, "tasks.preset", "omnios"},
		"no table":                   {func(m *mapping.Mapping) { m.Table = "" }, "tasks.table", "is missing"},
		"a table with three parts":   {func(m *mapping.Mapping) { m.Table = "a.b.c" }, "tasks.table", "3 parts"},
		"a table with an empty part": {func(m *mapping.Mapping) { m.Table = "public." }, "tasks.table", "empty"},
		"a table with an open quote": {func(m *mapping.Mapping) { m.Table = `public."tasks` }, "tasks.table", "not closed"},
		"an unknown field": {
			func(m *mapping.Mapping) { m.Columns["start_at"] = "x" },
			"tasks.columns.start_at",
			"did you mean",
		},
		"no id": {func(m *mapping.Mapping) { delete(m.Columns, "id") }, "tasks.columns.id", "is missing"},
		"a status that is an expression": {
			func(m *mapping.Mapping) { m.Columns["status"] = "(lower(status))" },
			"tasks.columns.status",
			"must be a column",
		},
		"an expression without its parens": {
			func(m *mapping.Mapping) { m.Columns["timeout"] = "a * interval '1s'" },
			"tasks.columns.timeout",
			"parentheses",
		},
		"a column with its table": {
			func(m *mapping.Mapping) { m.Columns["error"] = "tasks.error" },
			"tasks.columns.error",
			"2 parts",
		},
		"a second statement": {
			func(m *mapping.Mapping) { m.Columns["error"] = "(a); DROP TABLE x; (b)" },
			"tasks.columns.error",
			"semicolon",
		},
		"a line comment": {
			func(m *mapping.Mapping) { m.Where = "true -- and nothing else" },
			"tasks.where",
			"comment",
		},
		"a block comment":        {func(m *mapping.Mapping) { m.Where = "true /* and */" }, "tasks.where", "comment"},
		"a parenthesis too many": {func(m *mapping.Mapping) { m.Where = "true) OR (true" }, "tasks.where", "did not open"},
		"a parenthesis too few":  {func(m *mapping.Mapping) { m.Where = "(true" }, "tasks.where", "not closed"},
		"an open string":         {func(m *mapping.Mapping) { m.Where = "a = 'x" }, "tasks.where", "not closed"},
		"an escape string":       {func(m *mapping.Mapping) { m.Where = `a = E'\'; --'` }, "tasks.where", "escape string"},
		"a dollar quote":         {func(m *mapping.Mapping) { m.Where = "a = $$x$$" }, "tasks.where", "$"},
		"a numbered parameter":   {func(m *mapping.Mapping) { m.Where = "a = $1" }, "tasks.where", "$"},
		"a zero byte":            {func(m *mapping.Mapping) { m.Where = "a = 'x\x00'" }, "tasks.where", "plain text"},
		"an unknown name":        {func(m *mapping.Mapping) { m.Where = "a = @status" }, "tasks.where", "@status"},
		"a reason where none is": {func(m *mapping.Mapping) { m.Where = "a = @reason" }, "tasks.where", "@reason"},
		"an unknown state": {
			func(m *mapping.Mapping) { m.Statuses["complete"] = []string{"x"} },
			"tasks.statuses.complete",
			"completed",
		},
		"a status in two states": {
			func(m *mapping.Mapping) { m.Statuses["failed"] = []string{"failed", "running"} },
			"tasks.statuses.failed",
			"already means running",
		},
		"an empty status": {
			func(m *mapping.Mapping) { m.Statuses["failed"] = []string{"failed", ""} },
			"tasks.statuses.failed",
			"empty",
		},
		"nothing live": {func(m *mapping.Mapping) {
			m.Statuses, m.Requeue = map[string][]string{"failed": {"failed"}}, mapping.RowChange{}
		}, "tasks.statuses", "no status is pending"},
		"a fail that does not fail": {
			func(m *mapping.Mapping) { m.Fail.Status = "running" },
			"tasks.fail.status",
			"tasks.statuses.failed",
		},
		"a fail to an unknown status": {
			func(m *mapping.Mapping) { m.Fail.Status = "dead" },
			"tasks.fail.status",
			"tasks.statuses.failed",
		},
		"a fail without status": {func(m *mapping.Mapping) { m.Fail.Status = "" }, "tasks.fail.status", "is missing"},
		"a fail without a reason": {
			func(m *mapping.Mapping) { m.Fail.Set = map[string]string{"error": "'dead'"} },
			"tasks.fail.set",
			"@reason",
		},
		"a reason only inside a string": {
			func(m *mapping.Mapping) { m.Fail.Set = map[string]string{"error": "'@reason'"} },
			"tasks.fail.set",
			"@reason",
		},
		"a requeue that does not requeue": {
			func(m *mapping.Mapping) { m.Requeue.Status = "running" },
			"tasks.requeue.status",
			"tasks.statuses.pending",
		},
		"a fail that sets the id": {func(m *mapping.Mapping) { m.Fail.Set["id"] = "1" }, "tasks.fail.set.id", "sets the id"},
		"a fail that sets the status": {
			func(m *mapping.Mapping) { m.Fail.Set["status"] = "'x'" },
			"tasks.fail.set.status",
			"status",
		},
		"a value that is two":      {func(m *mapping.Mapping) { m.Fail.Set["x"] = "1; 2" }, "tasks.fail.set.x", "semicolon"},
		"an empty value of spaces": {func(m *mapping.Mapping) { m.Fail.Set["x"] = " " }, "tasks.fail.set.x", "empty"},
		"events without a type": {
			func(m *mapping.Mapping) { delete(m.Events.Columns, "type") },
			"events.columns.type",
			"is missing",
		},
		"events without a table": {func(m *mapping.Mapping) { m.Events.Table = "" }, "events.table", "is missing"},
		"events of an unknown field": {
			func(m *mapping.Mapping) { m.Events.Columns["kind"] = "x" },
			"events.columns.kind",
			"no such field",
		},
		"events written to an expression": {
			func(m *mapping.Mapping) { m.Events.Write, m.Events.Columns["at"] = true, "(now())" },
			"events.columns.at",
			"needs a column",
		},
		"events without a sandbox column": {
			func(m *mapping.Mapping) { delete(m.Columns, "sandbox") },
			"tasks.columns.sandbox",
			"events are found by it",
		},
		"a heartbeat that is an end": {
			func(m *mapping.Mapping) { m.Events.Finished = mapping.EventTypes("agent.heartbeat") },
			"events.finished",
			"also a heartbeat",
		},
		"an event type without a name": {
			func(m *mapping.Mapping) { m.Events.Started = mapping.EventTypes("a", "") },
			"events.started[1]",
			"no type of event",
		},
		"a condition on an event that is two": {
			func(m *mapping.Mapping) { m.Events.Finished[0].Where = "true) OR (true" },
			"events.finished[0].where",
			"did not open",
		},
		"a heartbeat that is an end under a condition": {
			func(m *mapping.Mapping) {
				m.Events.Finished = []mapping.EventType{{Type: "agent.heartbeat", Where: "true"}}
			},
			"events.finished",
			"also a heartbeat",
		},
		"an event's column that sandkeeper sets": {
			func(m *mapping.Mapping) { m.Events.Set["event_type"] = "'x'" },
			"events.set.event_type",
			"events.columns.type",
		},
		"an event's column set to two values": {
			func(m *mapping.Mapping) { m.Events.Set["source"] = "'x', 'y'; 'z'" },
			"events.set.source",
			"semicolon",
		},
		"an explaining table without a key": {
			func(m *mapping.Mapping) { m.ExplainedBy[0].Key = "" },
			"tasks.explained_by[0].key",
			"is missing",
		},
		"an explaining key that is an expression": {
			func(m *mapping.Mapping) { m.ExplainedBy[0].Key = "(id::text)" },
			"tasks.explained_by[0].key",
			"must be a column",
		},
		"an explaining table with three parts": {
			func(m *mapping.Mapping) { m.ExplainedBy[0].Table = "a.b.c" },
			"tasks.explained_by[0].table",
			"3 parts",
		},
		"an explaining condition that is two": {
			func(m *mapping.Mapping) { m.ExplainedBy[0].Where = "a; b" },
			"tasks.explained_by[0].where",
			"semicolon",
		},
		"an explaining table by a label and by the name": {
			func(m *mapping.Mapping) { m.ExplainedBy[0].Name = true },
			"tasks.explained_by[0]",
			"either label, or name",
		},
		"an explaining table by nothing": {
			func(m *mapping.Mapping) { m.ExplainedBy[0].Label = "" },
			"tasks.explained_by[0]",
			"either label, or name",
		},
		"a channel that is too long": {
			func(m *mapping.Mapping) { m.Notify = strings.Repeat("n", 64) },
			"tasks.notify",
			"63 bytes",
		},
		"a time zone that is none": {func(m *mapping.Mapping) { m.Timezone = "a\nb" }, "tasks.timezone", "no time zone"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := mapping.Mapping{Preset: "omoios"}.WithPreset()
			c.change(&m)
			_, err := Compile(m)
			found := mistakes(err)
			if len(found) != 1 || found[0].Key != c.key || !strings.Contains(found[0].Error(), c.says) {
				t.Errorf("Compile = %v, want one mistake at %s that says %q", err, c.key, c.says)
			}
		})
	}
}

func TestCompileReportsAllMistakesTogether(t *testing.T) {
	_, err := Compile(
		mapping.Mapping{
			Preset:  "omoios",
			Table:   "a.b.c",
			Where:   "a; b",
			Columns: map[string]string{"id": "", "started_at": "now()"},
		}.WithPreset(),
	)
	var keys []string
	for _, m := range mistakes(err) {
		keys = append(keys, m.Key)
	}
	want := []string{"tasks.table", "tasks.where", "tasks.columns.started_at", "tasks.columns.id"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestConfigWinsOverThePresetKeyByKey(t *testing.T) {
	m := mapping.Mapping{
		Preset: "omoios", Table: "jobs.t", Columns: map[string]string{"session": "", "error": "err"},
		Statuses: map[string][]string{"stopped": {"cancelled", "killed"}},
		Fail:     mapping.RowChange{Set: map[string]string{"completed_at": "", "err": "@reason", "error_message": ""}},
		Events:   mapping.EventMapping{Waiting: []mapping.EventType{}, Finished: mapping.EventTypes("done")},
	}.WithPreset()
	if m.Table != "jobs.t" || m.Timezone != "UTC" || m.Columns["error"] != "err" || m.Columns["id"] != "id" {
		t.Errorf("mapping = %+v", m)
	}
	if _, mapped := m.Columns["session"]; mapped {
		t.Error(`an explicit "" did not unmap the session`)
	}
	if !slices.Equal(m.Statuses["stopped"], []string{"cancelled", "killed"}) ||
		!slices.Equal(m.Statuses["running"], append([]string{"running"}, mapping.OmoiosValidating...)) {
		t.Errorf("statuses = %v", m.Statuses)
	}
	if diff := cmp.Diff(map[string]string{"err": "@reason"}, m.Fail.Set); diff != "" || m.Fail.Status != "failed" {
		t.Errorf("fail to %s (-want +got):\n%s", m.Fail.Status, diff)
	}
	if len(m.Events.Waiting) != 0 || !slices.Equal(m.Events.Finished, mapping.EventTypes("done")) ||
		!slices.Equal(m.Events.Heartbeat, mapping.EventTypes("agent.heartbeat")) {
		t.Errorf("events = %+v", m.Events)
	}
	if e := (mapping.Mapping{Preset: "omoios", Events: mapping.EventMapping{Table: "none"}}).WithPreset().Events; e.Table != "" ||
		e.Columns != nil {
		t.Errorf("events: none = %+v", e)
	}
	if two := mapping.Preset("omoios"); len(two.Columns) < 10 || two.Fail.Set["err"] != "" {
		t.Errorf("the preset itself was changed: %+v", two)
	}
}

func TestExpressionsKeepWhatIsQuoted(t *testing.T) {
	cases := map[string]string{
		"a = 'it''s; -- @now $1 ('":    "a = 'it''s; -- @now $1 ('",
		`"odd;-- @now" = @now`:         `"odd;-- @now" = statement_timestamp()`,
		"data @> '{}' AND a$b = 'x'":   "data @> '{}' AND a$b = 'x'",
		"left(@reason, 10) || @reason": "left(@reason::text, 10) || @reason::text",
		"ünïcode = 'e' || 'x'":         "ünïcode = 'e' || 'x'",
	}
	for text, want := range cases {
		e := sqltext.Scan(text)
		if e.Problem != "" || e.SQL() != want {
			t.Errorf("scanExpression(%q) = %q, %q, want %q", text, e.SQL(), e.Problem, want)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	cases := map[string]string{
		"tasks": `"tasks"`, "public.tasks": `"public"."tasks"`, "Task Table": `"Task Table"`, `"a.b"."c""d"`: `"a.b"."c""d"`,
		`public."order"`: `"public"."order"`, "createdAt": `"createdAt"`,
	}
	for text, want := range cases {
		if parts, problem := sqltext.Identifier(text); problem != "" || parts.Sanitize() != want {
			t.Errorf("identifier(%q) = %s, %q, want %s", text, parts.Sanitize(), problem, want)
		}
	}
	for _, text := range []string{"", ".", "a.", ".a", `"a`, `"a"b`, `""`, "a;b", "f(x)", "a::text", `a"b`} {
		if parts, problem := sqltext.Identifier(text); problem == "" {
			t.Errorf("identifier(%q) = %s, want a problem", text, parts.Sanitize())
		}
	}
}

// TestStatementsOfARepair: a statement that could reach out of its transaction, or that names what is not known, is
// refused when the config is read.
func TestStatementsOfARepair(t *testing.T) {
	const good = "INSERT INTO public.log (task, why, at) VALUES (@id::uuid, @reason, @now)"
	for name, c := range map[string]struct {
		change mapping.RowChange
		want   string
	}{
		"a row and a statement":               {mapping.RowChange{Status: "failed", Set: map[string]string{"error_message": "@reason"}, SQL: []string{good}}, ""},
		"a statement alone":                   {mapping.RowChange{SQL: []string{good}}, ""},
		"the statement says why":              {mapping.RowChange{Status: "failed", SQL: []string{good}}, ""},
		"nobody says why":                     {mapping.RowChange{SQL: []string{"UPDATE public.tasks SET status = 'failed' WHERE id = @id::uuid"}}, "no column is set to @reason"},
		"two in one":                          {mapping.RowChange{SQL: []string{good + "; COMMIT"}}, "contains a semicolon"},
		"the end of the transaction":          {mapping.RowChange{SQL: []string{"COMMIT", good}}, "tasks.fail.sql[0]: the statement is no statement that changes rows"},
		"a table that goes":                   {mapping.RowChange{SQL: []string{good, "DROP TABLE public.tasks"}}, "tasks.fail.sql[1]"},
		"a name that is not known":            {mapping.RowChange{SQL: []string{good + " RETURNING @task"}}, "names @task"},
		"a comment":                           {mapping.RowChange{SQL: []string{good + " -- and more"}}, "contains a comment"},
		"no status, and nothing but a column": {mapping.RowChange{Set: map[string]string{"error_message": "@reason"}}, "tasks.fail.status: is missing"},
		"the id in a column's value":          {mapping.RowChange{Status: "failed", Set: map[string]string{"error_message": "@reason || @id"}}, "names @id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(mapping.Mapping{Table: "public.tasks", Columns: map[string]string{"id": "id", "status": "status"},
				Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}}, Fail: c.change}.WithPreset())
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Compile: %v, want %q", err, c.want)
			}
		})
	}
}

// TestUsualSandboxes: what the row says of its sandboxes wins over what the config says of all.
func TestUsualSandboxes(t *testing.T) {
	for said, want := range map[int64][2]int{0: {0, mostSandboxes}, -3: {0, mostSandboxes}, 2: {2, 2}, 1 << 40: {mostSandboxes, mostSandboxes}} {
		for many, want := range map[bool]int{false: want[0], true: want[1]} {
			if got := (&Compiled{mapping: mapping.Mapping{Many: many}}).usual(said); got != want {
				t.Errorf("usual(%d), many: %v = %d, want %d", said, many, got, want)
			}
		}
	}
}
