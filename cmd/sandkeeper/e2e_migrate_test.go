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
