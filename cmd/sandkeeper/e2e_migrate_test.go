package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestRunMigrateRefuses: what others could plant something in is not migrated, by the verb or by --migrate; nor is a
// ledger that another login of the tasks would reach.
func TestRunMigrateRefuses(t *testing.T) {
	a := newArena(t, settings{more: quickly})
	a.refusesToMigrate("REVOKE CREATE ON SCHEMA sandkeeper FROM PUBLIC",
		"CREATE SCHEMA sandkeeper; GRANT CREATE ON SCHEMA sandkeeper TO PUBLIC", "DROP SCHEMA sandkeeper")

	login := pgtest.AsRole(t, a.db, "").Config().ConnConfig.User
	dsn, err := url.Parse(a.dsn)
	if err != nil {
		t.Fatal(err)
	}
	dsn.User = url.UserPassword(login, "reader")
	a.configure(settings{more: quickly, tasks: ", database: \"" + dsn.String() + "\""})
	const given = "ALTER DEFAULT PRIVILEGES GRANT INSERT ON TABLES TO $; ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO $"
	taken := strings.NewReplacer("GRANT", "REVOKE", " TO $", " FROM "+login).Replace(given)
	a.refusesToMigrate("the login of tasks.database", strings.ReplaceAll(given, "$", login), taken)
	if code, _, errs := a.run("migrate"); code != 0 {
		t.Errorf("when both were mended: exit code %d, %s", code, errs)
	}
}

// refusesToMigrate while the database is as plant leaves it, until mend.
func (a *arena) refusesToMigrate(want, plant, mend string) {
	a.Helper()
	if _, err := a.db.Exec(a.Context(), plant); err != nil {
		a.Fatal(err)
	}
	for _, args := range [][]string{{"migrate"}, {"once", "--migrate"}, {"run", "--migrate"}} {
		if code, _, errs := a.run(args...); code != 1 || !strings.Contains(errs, want) {
			a.Errorf("%q: exit code %d, %s, want 1 and %q", args, code, errs, want)
		}
	}
	if _, err := a.db.Exec(a.Context(), mend); err != nil {
		a.Fatal(err)
	}
}

// TestMigrateRefusesOneLoginThatActs: one login for tasks and ledger is not migrated where rules write to what somebody
// else's function runs with; with a key, with two logins, or while rules only observe, it is.
func TestMigrateRefusesOneLoginThatActs(t *testing.T) {
	a := newArena(t, settings{})
	login := pgtest.AsRole(t, a.db, `GRANT SELECT ON tasks, sandbox_events, tickets, projects, specs TO %[1]s;
		CREATE FUNCTION nice(x text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
		ALTER FUNCTION nice OWNER TO pg_database_owner; CREATE INDEX nice ON tasks (nice(title))`).Config().ConnConfig.User
	a.sql("GRANT CREATE ON DATABASE " + a.db.Config().ConnConfig.Database + " TO " + login)
	dsn, err := url.Parse(a.dsn)
	if err != nil {
		t.Fatal(err)
	}
	dsn.User = url.UserPassword(login, "reader")
	one := settings{dsn: dsn.String(), more: quickly}
	a.configure(one)
	if code, out, _ := a.run("check"); code != 1 || !strings.Contains(out, "index nice (nice(text) of pg_database_owner)") {
		t.Errorf("check: exit code %d, %s, want 1 and the function by name", code, out)
	}
	a.refusesToMigrate("index nice (nice(text) of pg_database_owner)", "SELECT 1", "SELECT 1")
	a.refusesToMigrate("give operator_key_file", "ALTER TABLE tasks OWNER TO pg_database_owner; DROP INDEX nice", "SELECT 1")
	observing := one
	observing.mode = "observe"
	a.configure(observing)
	if code, _, errs := a.run("migrate"); code != 0 {
		t.Errorf("while all rules observe: exit code %d, %s", code, errs)
	}
	a.operatorKey(one)
	if code, _, errs := a.run("migrate"); code != 0 {
		t.Errorf("with a key: exit code %d, %s", code, errs)
	}
}
