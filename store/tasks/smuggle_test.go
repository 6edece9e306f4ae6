package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A parser is a server that is asked what it makes of a text, in transactions that write
// nothing.
type parser struct {
	*testing.T
	conn *pgx.Conn
}

func newParser(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(context.Background(), pgtest.OmoiOS); err != nil {
		t.Fatal(err)
	}
	return conn
}

// refusal is what the server has against a statement; nil when it would run it. Nothing is
// run.
func (p parser) refusal(sql string) *pgconn.PgError {
	p.Helper()
	tx, err := p.conn.BeginTx(p.Context(), taskRead)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = tx.Rollback(p.Context()) }()
	_, err = tx.Conn().PgConn().Prepare(p.Context(), "", sql, nil)
	var refused *pgconn.PgError
	if err != nil && !errors.As(err, &refused) {
		p.Fatal(err)
	}
	return refused
}

// FuzzExpressionAtServer holds the scanner against the server's own: whatever it lets
// through ends before the parenthesis that is put behind it, and not earlier.
func FuzzExpressionAtServer(f *testing.F) {
	for _, text := range smuggled {
		f.Add(text)
	}
	conn := newParser(f)
	f.Fuzz(func(t *testing.T, text string) {
		e := sqltext.Scan(text)
		if e.Problem != "" || len(text) > 2000 {
			return
		}
		p := parser{t, conn}
		sql := strings.ReplaceAll(e.SQL(), "@reason::text", "$1::text")
		p.endsThere(sql)
		p.endsNotEarlier(sql)
	})
}

// endsThere puts a sign behind the expression that no statement may have. The server reads
// from left to right: what it complains of is in the expression, or it is that sign, unless
// the expression took the sign in, or has an open end.
func (p parser) endsThere(sql string) {
	p.Helper()
	before := "SELECT 1 FROM tasks WHERE ("
	refused := p.refusal(before + sql + ")]")
	last := len([]rune(before+sql)) + 2 // the place of the sign, from 1
	switch {
	case refused == nil:
		p.Fatalf("%q: the server takes a statement that cannot be one", sql)
	case strings.Contains(refused.Message, "unterminated"), strings.HasSuffix(refused.Message, "at end of input"):
		p.Fatalf("%q swallows what stands behind it: %s", sql, refused.Message)
	case refused.Code == "42601" && int(refused.Position) > last:
		p.Fatalf("%q: the server complains of character %d, behind %d: %s", sql, refused.Position, last, refused.Message)
	}
}

// endsNotEarlier leaves out the parenthesis behind the expression. Only one that closes it
// itself makes that a statement.
func (p parser) endsNotEarlier(sql string) {
	p.Helper()
	if refused := p.refusal("SELECT 1 FROM tasks WHERE (" + sql); refused == nil || refused.Code != "42601" {
		p.Fatalf("%q closes the parenthesis that it stands in: %v", sql, refused)
	}
}

// An attack is a mapping that wants more than to read and mark tasks.
type attack struct {
	change func(*mapping.Mapping)
	stops  string // who refuses it, "" when it does no harm: "compile", "server", "transaction"
	says   string
}

func inWhere(sql string) func(*mapping.Mapping) { return func(m *mapping.Mapping) { m.Where = sql } }

func inColumn(sql string) func(*mapping.Mapping) {
	return func(m *mapping.Mapping) { m.Columns["template"] = sql }
}

func inSet(sql string) func(*mapping.Mapping) {
	return func(m *mapping.Mapping) { m.Fail.Set["sandbox_id"] = sql }
}

func inEvent(sql string) func(*mapping.Mapping) {
	return func(m *mapping.Mapping) { m.Events.Columns["sandbox"] = sql }
}

// attacks are tried on a database where `other` must stay as it is.
var attacks = map[string]attack{
	"a second statement":                  {inWhere("true); DELETE FROM other; SELECT (1"), "compile", "closes with )"},
	"a semicolon inside":                  {inWhere("(SELECT 1; DELETE FROM other)"), "compile", "semicolon"},
	"a semicolon in a string":             {inWhere("task_type <> '; DELETE FROM other; --'"), "", ""},
	"a deleting query in where":           {inWhere("EXISTS (WITH x AS (DELETE FROM other RETURNING 1) SELECT FROM x)"), "server", "top level"},
	"a deleting query in a column":        {inColumn("(WITH x AS (DELETE FROM other RETURNING 1) SELECT 'a' FROM x)"), "server", "top level"},
	"a deleting query in a set":           {inSet("(WITH x AS (DELETE FROM other RETURNING 1) SELECT 'a' FROM x)"), "server", "top level"},
	"a table made in where":               {inWhere("EXISTS (SELECT 1 INTO stolen FROM other)"), "server", "INTO"},
	"a function that writes, in where":    {inWhere("deletes_other()"), "transaction", "read-only transaction"},
	"a function that writes, in a column": {inColumn("(deletes_other()::text)"), "transaction", "read-only transaction"},
	"a sequence moved in where":           {inWhere("nextval('other_id_seq') > 0"), "transaction", "read-only transaction"},
	"a row locked in where":               {inWhere("EXISTS (SELECT FROM other FOR UPDATE)"), "transaction", "read-only transaction"},
	"a transaction made writable":         {inWhere("set_config('transaction_read_only', 'off', true) = 'off' AND deletes_other()"), "transaction", "read-write mode"},
	"a union in the events": {
		inEvent("(sandbox_id) = '' UNION ALL SELECT now(), 'agent.started' FROM other WHERE ('a')"), "server", "syntax error"},
	"two conditions in the events":    {inEvent("(sandbox_id) OR (sandbox_id)"), "server", "must be type boolean"},
	"a second column":                 {inColumn("(task_type), (secret)"), "server", "secret"},
	"a second source":                 {inColumn("(task_type) FROM other WHERE (true)"), "server", "syntax error"},
	"another column set":              {inSet("'a', status = 'completed'"), "", ""},
	"a set that goes on":              {inSet("'a') WHERE (true"), "compile", "closes with )"},
	"rows made more":                  {inColumn("(unnest(ARRAY['a', 'b']))"), "server", "set-returning"},
	"rows made none":                  {inColumn("(generate_series(1, 0)::text)"), "server", "set-returning"},
	"rows made none, in the events":   {inEvent("(regexp_matches(sandbox_id, '^a')::text)"), "server", "set-returning"},
	"rows counted":                    {inColumn("(count(*)::text)"), "server", "must appear in the GROUP BY"},
	"a parameter of ours":             {inWhere("status = @status"), "compile", "@status"},
	"a parameter by number":           {inWhere("status = $1"), "compile", "$"},
	"an escape that ends a string":    {inWhere(`task_type <> E'\'' OR deletes_other() --'`), "compile", "escape string"},
	"a backslash that ends no string": {inWhere(`task_type <> '\'' OR deletes_other() OR task_type = '`), "", ""},
	"a dollar quote":                  {inWhere("task_type <> $x$ ' $x$"), "compile", "$"},
	"a comment over the rest":         {inWhere("true) --"), "compile", "closes with )"},
	"a quote in a name":               {func(m *mapping.Mapping) { m.Columns["template"] = `task_type" FROM other --` }, "compile", "template"},
	"a quoted quote in a name": {
		func(m *mapping.Mapping) { m.Columns["template"] = `"task_type"" FROM other --"` }, "server", "no column"},
	"a table that is two": {func(m *mapping.Mapping) { m.Table = `public.tasks, public.other` }, "compile", "no column name"},
	"a table in quotes":   {func(m *mapping.Mapping) { m.Table = `public."tasks, other"` }, "server", "does not exist"},
	"an attribute of SQL": {func(m *mapping.Mapping) { m.Attrs = []string{`x" FROM other --`} }, "server", "does not exist"},
	"a time zone of SQL":  {func(m *mapping.Mapping) { m.Timezone = "UTC'; DELETE FROM other; --" }, "server", "TimeZone"},
	"a status of SQL": {func(m *mapping.Mapping) {
		m.Statuses["running"] = append(m.Statuses["running"], `x'); DELETE FROM other; --`)
	}, "", ""},
	"a channel of SQL":      {func(m *mapping.Mapping) { m.Notify = `x'; DELETE FROM other; --` }, "", ""},
	"an event type of SQL":  {func(m *mapping.Mapping) { m.Events.Started = mapping.EventTypes(`x'}'); DELETE FROM other; --`) }, "", ""},
	"a column set by trick": {func(m *mapping.Mapping) { m.Fail.Set[`x" = 'a', "status`] = "'completed'" }, "server", "no column"},
}

const targets = `CREATE TABLE other (id serial PRIMARY KEY, secret text);
	INSERT INTO other (secret) VALUES ('a'), ('b');
	CREATE FUNCTION deletes_other() RETURNS boolean LANGUAGE sql AS 'DELETE FROM other; SELECT true';
	INSERT INTO program.tasks (id, status, sandbox_id) VALUES ('00000000-0000-4000-8000-000000000001', 'running', 's1'),
		('00000000-0000-4000-8000-000000000002', 'running', 's2');`

// TestMappingSmugglesNothing tries each attack with all that sandkeeper does with a mapping:
// compile, check, read, write. Whoever refuses it, nothing but the one row changes, and of
// that nothing but what fail sets.
func TestMappingSmugglesNothing(t *testing.T) {
	dsn := pgtest.Database(t)
	joint := map[bool]string{false: "?", true: "&"}[strings.Contains(dsn, "?")]
	pool := open(t, dsn+joint+"standard_conforming_strings=off&backslash_quote=on")
	w := &world{t: t, dsn: dsn, pool: pool}
	w.exec(pgtest.OmoiOS + pgtest.OmoiOSProgram)
	w.exec(targets)
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		a := attacks[name]
		t.Run(name, func(t *testing.T) {
			before := w.fingerprint()
			stops, said := w.tries(t, a)
			if stops != a.stops || !strings.Contains(said, a.says) {
				t.Errorf("stopped by %q, which says %q, want %q and %q", stops, said, a.stops, a.says)
			}
			if diff := cmp.Diff(before, w.fingerprint()); diff != "" {
				t.Errorf("the rest of the database changed (-before +after):\n%s", diff)
			}
		})
	}
}

// tries goes through all that is done with a mapping, and says where it ended and why.
func (w *world) tries(t *testing.T, a attack) (stops, said string) {
	t.Helper()
	m := mapping.Mapping{Preset: "omoios"}.WithPreset()
	a.change(&m)
	c, err := Compile(m)
	if err != nil {
		return "compile", err.Error()
	}
	tasks := NewTasks(w.pool, c, nil)
	var bad []string
	for _, line := range tasks.Check(t.Context()) {
		if !line.OK {
			bad = append(bad, line.Said)
		}
	}
	rows, live := tasks.Live(t.Context())
	task := reconcile.Task{ID: id("1"), Status: "running", Sandbox: "s1"}
	_, _, written := tasks.Write(t.Context(), reconcile.Write{
		Step: reconcile.StepFail, Task: task, Lock: true, Refutable: true, Reason: "a test [sandkeeper k1]"})
	w.exec("UPDATE tasks SET status = 'running', sandbox_id = 's1' WHERE id = $1", id("1"))
	switch {
	case live == nil && written == nil && len(rows.Tasks) != 2:
		return "", fmt.Sprintf("%d rows are read, want 2", len(rows.Tasks))
	case live == nil && written == nil && len(bad) == 0:
		return "", ""
	case live != nil && strings.Contains(live.Error(), "25006"), live != nil && strings.Contains(live.Error(), "25001"):
		return "transaction", live.Error()
	}
	return "server", strings.Join(bad, "\n")
}

// fingerprint is all that no mapping may change: other tables, the second task, and of the
// first what fail does not set.
func (w *world) fingerprint() []string {
	w.t.Helper()
	return []string{
		w.text("SELECT string_agg(o::text, ',' ORDER BY o::text) FROM other AS o"),
		w.text("SELECT last_value::text || is_called FROM other_id_seq"),
		w.text("SELECT t::text FROM tasks AS t WHERE id = '" + id("2") + "'"),
		w.text("SELECT (to_jsonb(t) - 'error_message' - 'completed_at')::text FROM tasks AS t WHERE id = '" + id("1") + "'"),
		w.text("SELECT string_agg(oid::regclass::text, ',' ORDER BY oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"),
	}
}
