package tasks

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

const granted = `GRANT SELECT ON tasks, sandbox_events, tickets, projects, specs TO %[1]s;
	GRANT UPDATE (status, error_message, completed_at, sandbox_id, conversation_id, retry_count) ON tasks TO %[1]s;`

const guardOfTasks = `CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
	CREATE TRIGGER sandkeeper_guard BEFORE UPDATE ON tasks FOR EACH ROW
	WHEN ((OLD.status IN (STATUSES)) IS NOT TRUE) EXECUTE FUNCTION refuses();`

// TestCheckOfTheRole: what the role may do beyond need, and what keeps it from tasks that are
// over. Neither makes a check fail.
func TestCheckOfTheRole(t *testing.T) {
	keeps := "'pending', 'assigned', 'claiming', 'running', 'failed', '" + strings.Join(mapping.OmoiosValidating, "', '") + "'"
	trigger := func(statuses string) string { return strings.ReplaceAll(guardOfTasks, "STATUSES", statuses) }
	for name, c := range map[string]struct{ grants, sql, role, terminal string }{
		"what it needs": {granted, "", "nothing else", "of our own statement alone"},
		"too much": {
			granted + "GRANT DELETE, UPDATE (task_type) ON tasks TO %[1]s", "",
			"more with \"public\".\"tasks\" than it needs: DELETE; UPDATE of task_type", "alone",
		},
		"an owner":              {"ALTER TABLE tasks OWNER TO %[1]s; GRANT SELECT ON sandbox_events, tickets, projects, specs TO %[1]s", "", "is an owner", "alone"},
		"a trigger":             {granted, trigger(keeps), "nothing else", "the database refuses"},
		"a trigger that is off": {granted, trigger(keeps) + "ALTER TABLE tasks DISABLE TRIGGER sandkeeper_guard", "nothing else", "alone"},
		"a trigger too narrow":  {granted, trigger("'pending', 'failed', 'running'"), "nothing else", `does not know "assigned"`},
		"a trigger too wide":    {granted, trigger(keeps + ", 'cancelled'"), "nothing else", `takes "cancelled" for a live status`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pgtest.OmoiOS+c.sql, mapping.Mapping{Preset: "omoios"})
			w.pool = pgtest.AsRole(t, w.pool, c.grants)
			got := map[string]string{}
			for _, line := range w.open(mapping.Mapping{Preset: "omoios"}).Check(t.Context()) {
				if !line.OK {
					t.Errorf("%s fails: %s", line.What, line.Said)
				}
				got[line.What] = line.Said
			}
			if !strings.Contains(got["role"], c.role) || !strings.Contains(got["terminal rows"], c.terminal) {
				t.Errorf("role: %s\nterminal rows: %s\nwant %q and %q", got["role"], got["terminal rows"], c.role, c.terminal)
			}
		})
	}
	w := omoiosWorld(t)
	for _, line := range w.tasks.Check(t.Context()) {
		if line.What == "role" && (!strings.Contains(line.Said, "superuser") || line.Fix == "") {
			t.Errorf("a superuser's role: %+v", line)
		}
	}
}

// TestCheckOfTheWayToTheLedger: who owns the task table may plant a trigger that our own write runs in our name.
func TestCheckOfTheWayToTheLedger(t *testing.T) {
	const ledger = "CREATE SCHEMA sandkeeper; CREATE TABLE sandkeeper.actions (id text);" + `
		CREATE FUNCTION nice() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER nice BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION nice();`
	const reaches = granted + "GRANT USAGE ON SCHEMA sandkeeper TO %[1]s; GRANT INSERT ON sandkeeper.actions TO %[1]s"
	const owned = "; ALTER TABLE tasks OWNER TO pg_database_owner"
	for name, c := range map[string]struct{ sql, grants, says, fix string }{
		"a stranger's table, signed": {ledger + owned, reaches, "whoever owns", "another login"},
		"another database":           {"", granted, "does not reach", ""},
		"another login":              {ledger, granted, "does not reach", ""},
		"one login for both":         {ledger, reaches, "by a trigger that our writes run", "another login"},
		"a role that writes, which it may become": {strings.ReplaceAll(ledger, "actions", "lifts"), granted +
			"ALTER ROLE %[1]s NOINHERIT; GRANT pg_write_all_data TO %[1]s", "by a trigger that our writes run", "another login"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pgtest.OmoiOS+c.sql, mapping.Mapping{Preset: "omoios"})
			w.pool = pgtest.AsRole(t, w.pool, c.grants)
			for _, line := range w.open(mapping.Mapping{Preset: "omoios"}).Check(t.Context()) {
				if line.What == "ledger" && (!line.OK || !strings.Contains(line.Said, c.says) || !strings.Contains(line.Fix, c.fix) ||
					(c.fix == "") != (line.Fix == "")) {
					t.Errorf("ledger: %+v", line)
				}
			}
		})
	}
}

// TestCheckRefusesOneLoginThatActs: one login for tasks and ledger is refused where rules write to a stranger's table and
// nothing is signed. Where the login itself or a superuser owns the table, as on the first day, it is a warning.
func TestCheckRefusesOneLoginThatActs(t *testing.T) {
	const ledger = "CREATE SCHEMA sandkeeper; CREATE TABLE sandkeeper.actions (id text);"
	const reaches = granted + "GRANT USAGE ON SCHEMA sandkeeper TO %[1]s; GRANT INSERT ON sandkeeper.actions TO %[1]s;"
	const stranger = "ALTER TABLE tasks OWNER TO pg_database_owner;"
	for name, c := range map[string]struct {
		sql, grants      string
		unsigned, passes bool
	}{
		"a stranger's table":              {ledger + stranger, reaches, true, false},
		"signed, or nothing is written":   {ledger + stranger, reaches, false, true},
		"a superuser's":                   {ledger, reaches, true, true},
		"its own":                         {ledger, reaches + "ALTER TABLE tasks OWNER TO %[1]s;", true, true},
		"another login, for the ledger's": {ledger + stranger, granted, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pgtest.OmoiOS+c.sql, mapping.Mapping{Preset: "omoios"})
			w.pool = pgtest.AsRole(t, w.pool, c.grants)
			tasks := w.open(mapping.Mapping{Preset: "omoios"})
			if c.unsigned {
				tasks.Beside(LedgerBeside{Unsigned: true})
			}
			for _, line := range tasks.Check(t.Context()) {
				said := strings.Contains(line.Said, "owned by pg_database_owner")
				if line.What == "ledger" && (line.OK != c.passes || said == c.passes) {
					t.Errorf("ledger: %+v", line)
				}
			}
			if err := tasks.RefusePlanted(t.Context()); (err == nil) != c.passes {
				t.Errorf("migrate: %v", err)
			}
		})
	}
}

// TestWhatOthersPlantIsNamed: whatever way a stranger's function runs with what we read and write is named, and refused
// as his table is; what a superuser or this login made is not. A login that does not reach the ledger is told of it, too.
func TestWhatOthersPlantIsNamed(t *testing.T) {
	const functions = `CREATE FUNCTION nice(x text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
		CREATE FUNCTION alike(x text, y text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
		CREATE FUNCTION nice() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		ALTER FUNCTION nice(text) OWNER TO pg_database_owner; ALTER FUNCTION alike OWNER TO pg_database_owner; ALTER FUNCTION nice() OWNER TO pg_database_owner;`
	for name, c := range map[string]struct{ sql, says string }{
		"a trigger":           {"CREATE TRIGGER t BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION nice()", "trigger t on table tasks (nice() of "},
		"a rule":              {"CREATE RULE r AS ON UPDATE TO tasks DO ALSO SELECT nice('x')", "rule r on table tasks (nice(text) of "},
		"a policy":            {"CREATE POLICY p ON tasks USING (nice(status::text))", "policy p on table tasks (nice(text) of "},
		"a check":             {"ALTER TABLE tasks ADD CONSTRAINT c CHECK (nice(status::text))", "constraint c on table tasks (nice(text) of "},
		"a generated column":  {"ALTER TABLE tasks ADD g boolean GENERATED ALWAYS AS (nice(title)) STORED", "column g of table tasks (nice(text) of "},
		"an index":            {"CREATE INDEX i ON tasks (nice(title))", "index i (nice(text) of "},
		"a domain":            {"CREATE DOMAIN d AS text CHECK (nice(VALUE)); ALTER TABLE tasks ADD n d", "constraint d_check (nice(text) of "},
		"an operator":         {"CREATE OPERATOR ### (LEFTARG = text, RIGHTARG = text, FUNCTION = alike); CREATE INDEX i ON tasks ((title ### 'x'))", "index i (alike(text,text) of "},
		"a view in a policy":  {"CREATE VIEW v AS SELECT 1 AS one WHERE nice('x'); CREATE POLICY p ON tasks USING (EXISTS (SELECT FROM v))", "rule _RETURN on view v (nice(text) of "},
		"one that is nowhere": {"", ""},
		"one with its owner's rights": {"ALTER FUNCTION nice() SECURITY DEFINER; " +
			"CREATE TRIGGER t BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION nice()", ""},
		"a superuser's": {"ALTER FUNCTION nice() OWNER TO CURRENT_USER; " +
			"CREATE TRIGGER t BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION nice()", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pgtest.OmoiOS, mapping.Mapping{Preset: "omoios"})
			w.pool = pgtest.AsRole(t, w.pool, granted+functions+c.sql)
			tasks := w.open(mapping.Mapping{Preset: "omoios"})
			for _, line := range tasks.Check(t.Context()) {
				told := c.says != "" && strings.Contains(line.Said, c.says)
				if line.What == "ledger" && (!line.OK || told != strings.Contains(line.Said, "what of others runs")) {
					t.Errorf("without a way to the ledger: %+v, want %q in it", line, c.says)
				}
			}
			tasks.Beside(LedgerBeside{Unsigned: true, Own: true})
			err := tasks.RefusePlanted(t.Context())
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("migrate: %v, want %q in it", err, c.says)
			}
		})
	}
}

// TestRestoreUnderTheTrigger: the trigger of deploy/terminal_rows.sql lets the keeper's role
// fail a row, and set it back, as a quarantine that a person takes back does.
func TestRestoreUnderTheTrigger(t *testing.T) {
	text, err := os.ReadFile("../../deploy/terminal_rows.sql")
	if err != nil {
		t.Fatal(err)
	}
	w := omoiosWorld(t)
	admin := w.pool
	w.pool = pgtest.AsRole(t, admin, granted)
	w.tasks = w.open(mapping.Mapping{Preset: "omoios"})
	role := w.pool.Config().ConnConfig.User
	if _, err := admin.Exec(t.Context(), strings.ReplaceAll(string(text), "sandkeeper_keeper", role)); err != nil {
		t.Fatal(err)
	}
	sql := "INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', 'box')"
	if _, err := admin.Exec(t.Context(), sql, id("1")); err != nil {
		t.Fatal(err)
	}
	written, before, err := w.tasks.Write(t.Context(), reconcile.Write{
		Step: reconcile.StepFail, Task: w.one(id("1")), Reason: "gone [sandkeeper k1]"})
	if err != nil || written != reconcile.WriteDone {
		t.Fatalf("fail = %s, %v", written, err)
	}
	if written, err := w.tasks.Restore(t.Context(), id("1"), *before); err != nil || written != reconcile.WriteDone {
		t.Fatalf("restore = %s, %v", written, err)
	}
	if got := w.one(id("1")); got.State != reconcile.TaskRunning {
		t.Errorf("restored row = %+v, want it running", got)
	}
}

// TestCheckOfThePath: who else may create where the login would look names up is named, and nothing is looked up there.
func TestCheckOfThePath(t *testing.T) {
	w := newWorld(t, pgtest.OmoiOS+pgtest.OmoiOSProgram, mapping.Mapping{Preset: "omoios"})
	said := func() string {
		for _, line := range w.tasks.Check(t.Context()) {
			if line.What == "search path" {
				return line.Said
			}
		}
		return ""
	}
	if got := said(); !strings.Contains(got, "nobody else") {
		t.Errorf("of a database as it is made: %q", got)
	}
	w.exec("GRANT CREATE ON SCHEMA public TO PUBLIC")
	if got := said(); !strings.Contains(got, "everybody in public") {
		t.Errorf("of a schema for everybody: %q", got)
	}
	_, err := w.open(mapping.Mapping{Preset: "omoios", Table: "tasks"}).Live(t.Context())
	if err == nil || !strings.Contains(err.Error(), "not looked up: everybody in public; name it with its schema") {
		t.Errorf("read of a table without its schema: %v, want who may create there and the fix", err)
	}
	w.pool.Close()
	w.pool = open(t, w.dsn+"&search_path=pg_catalog")
	w.tasks = w.open(mapping.Mapping{Preset: "omoios", Table: "public.tasks", Events: mapping.EventMapping{Table: "public.sandbox_events"}})
	if got := said(); !strings.Contains(got, "nobody else") {
		t.Errorf("of a login that does not look there: %q", got)
	}
}

// TestNothingOfOthersIsCalled: an operator that somebody else planted in a schema of the login's path, whose arguments
// fit better than those of the server's own, is not called by what we or the config say.
func TestNothingOfOthersIsCalled(t *testing.T) {
	for _, c := range []struct{ name, creators, path string }{
		{"everybody may create", "GRANT CREATE ON SCHEMA public TO PUBLIC", ""},
		{"the schema is somebody's own", "ALTER SCHEMA other OWNER TO %[1]s", "&search_path=other,public"},
		{"the table's name is there twice", "ALTER SCHEMA other OWNER TO %[1]s; ALTER TABLE other.jobs OWNER TO %[1]s",
			"&search_path=other,public"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mapping.Mapping{Table: "public.jobs", Where: "(worker = status) IS NOT NULL",
				Columns:  map[string]string{"id": "id", "status": "status", "error": "note"},
				Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}},
				Fail:     mapping.RowChange{Status: "failed", Set: map[string]string{"note": "@reason"}}}
			w := newWorld(t, `CREATE TABLE jobs (id varchar PRIMARY KEY, status varchar, note text, worker varchar);
				INSERT INTO jobs VALUES ('a', 'running', '', 'x'); CREATE SCHEMA other`, m)
			mallory := pgtest.AsRole(t, w.pool, "GRANT SELECT ON jobs TO %[1]s")
			name := pgx.Identifier{mallory.Config().ConnConfig.User}.Sanitize()
			if strings.Contains(c.creators, "other.jobs") {
				w.exec("CREATE TABLE other.jobs (LIKE public.jobs)")
			}
			w.exec(strings.ReplaceAll(c.creators, "%[1]s", name))
			schema := "public"
			if c.path != "" {
				schema = "other"
			}
			for _, sql := range []string{
				"CREATE FUNCTION " + schema + `.same(varchar, varchar) RETURNS boolean LANGUAGE plpgsql
					AS $$ BEGIN RAISE 'called as %', current_user; END $$`,
				"CREATE OPERATOR " + schema + ".= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = " + schema + ".same)",
			} {
				if _, err := mallory.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			w.pool = open(t, w.dsn+c.path)
			w.tasks = w.open(m)
			if live := w.live(); len(live) != 1 || live["a"].State != reconcile.TaskRunning {
				t.Errorf("live = %+v, want the one row, whole", live)
			}
		})
	}
}
