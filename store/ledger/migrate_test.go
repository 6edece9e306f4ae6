package ledger

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

func TestMigrationsAreReadInOrderWithoutAHole(t *testing.T) {
	files := func(names ...string) fstest.MapFS {
		found := fstest.MapFS{}
		for _, name := range names {
			found["migrations/"+name] = &fstest.MapFile{Data: []byte("SELECT 1")}
		}
		return found
	}
	for name, tc := range map[string]struct {
		files fstest.MapFS
		want  string // part of the error, "" for none
	}{
		"in order":        {files("0001_a.sql", "0002_b.sql"), ""},
		"a hole":          {files("0001_a.sql", "0003_b.sql"), "should be 0002"},
		"a number twice":  {files("0001_a.sql", "0001_b.sql"), "should be 0002"},
		"not from one":    {files("0002_a.sql"), "should be 0001"},
		"without number":  {files("ledger.sql"), "should be 0001"},
		"no files at all": {files(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readMigrations(tc.files)
			if tc.want == "" && (err != nil || len(got) != len(tc.files)) {
				t.Errorf("read %d migrations, error %v, want %d", len(got), err, len(tc.files))
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error = %v, want one that says %q", err, tc.want)
			}
		})
	}
}

func TestSchemaVersion(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test"})
	if have, need, err := g.SchemaVersion(t.Context()); have != 0 || need != len(migrations) || err != nil {
		t.Errorf("before: version %d of %d, error %v, want 0 of %d", have, need, err, len(migrations))
	}
	for range 2 { // the second changes nothing
		if err := g.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if have, _, err := g.SchemaVersion(t.Context()); have != len(migrations) || err != nil {
		t.Errorf("after: version %d, error %v, want %d", have, err, len(migrations))
	}
	if _, err := pool.Exec(t.Context(), "DROP SCHEMA sandkeeper CASCADE"); err != nil {
		t.Fatal(err)
	}
	if have, _, err := g.SchemaVersion(t.Context()); have != 0 || err != nil {
		t.Errorf("once it was dropped: version %d, error %v, want 0", have, err)
	}
}

func TestManyMayMigrateAtOnce(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := NewLedger(pool, Options{Installation: "test"}).Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A migration does not wait for ever, with everybody else behind it: it gives up, names who holds the lock, and
// changes nothing.
func TestMigrationThatWaitsNamesTheHolder(t *testing.T) {
	url := pgtest.Database(t)
	pool := ledgerPool(t, url)
	migrated(t, pool, atNoon)
	steps := append(slices.Clone(migrations), migration{len(migrations) + 1, "more", "ALTER TABLE sandkeeper.actions ADD more int; CREATE TABLE sandkeeper.more (x int)"})
	g := NewLedger(pool, Options{Installation: "test", MigrationWait: 100 * time.Millisecond})
	for name, hold := range map[string]string{
		"a table":           "LOCK TABLE sandkeeper.actions IN ACCESS SHARE MODE",
		"a name":            "CREATE TABLE sandkeeper.more (x int)",
		"another migration": "SELECT pg_advisory_xact_lock(7310589412025511)",
	} {
		holder, err := pgx.Connect(t.Context(), url+"&application_name=report-job")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := holder.Exec(t.Context(), "BEGIN; "+hold); err != nil {
			t.Fatal(err)
		}
		err = g.migrate(t.Context(), steps)
		for _, want := range []string{fmt.Sprintf("session %d ", holder.PgConn().PID()), "report-job", "idle in transaction", "100ms"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s is locked: %v, want %q in it", name, err, want)
			}
		}
		if err := holder.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if have, _, err := g.SchemaVersion(t.Context()); err != nil || have != len(migrations) {
		t.Errorf("version %d, %v, want %d", have, err, len(migrations))
	}
	if err := g.migrate(t.Context(), steps); err != nil {
		t.Errorf("when nobody holds the lock: %v", err)
	}
}

// Each migration is tried on a copy of the schema before it, with rows in it.
func TestUpgradeFromEachVersionKeepsTheRows(t *testing.T) {
	next := migration{len(migrations) + 1, "next", "ALTER TABLE sandkeeper.task_states ADD extra text NOT NULL DEFAULT ''"}
	steps := append(append([]migration{}, migrations...), next)
	for from := 1; from < len(steps); from++ {
		pool := ledgerPool(t, pgtest.Database(t))
		g := NewLedger(pool, Options{Installation: "test", Clock: atNoon})
		if err := g.migrate(t.Context(), steps[:from]); err != nil {
			t.Fatal(err)
		}
		_, err := pool.Exec(t.Context(), `INSERT INTO sandkeeper.task_states
			(id, status, state, sandbox, entry_sum, error_sum, error_changed, live, changed_at)
			VALUES ('t', 'running', 'running', '', 0, 0, false, true, now())`)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.migrate(t.Context(), steps[:from+1]); err != nil {
			t.Errorf("upgrade from %d: %v", from, err)
		}
		var version, rows int
		err = pool.QueryRow(t.Context(), `SELECT (SELECT max(version) FROM sandkeeper.schema_migrations),
			(SELECT count(*) FROM sandkeeper.task_states)`).Scan(&version, &rows)
		if err != nil || version != from+1 || rows != 1 {
			t.Errorf("after the upgrade from %d: version %d, %d rows, error %v", from, version, rows, err)
		}
	}
}

func TestMigrationThatFailsLeavesTheVersionBefore(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	good := migration{len(migrations) + 1, "good", "CREATE TABLE sandkeeper.good (id int)"}
	bad := migration{len(migrations) + 2, "bad", "CREATE TABLE sandkeeper.bad (id int); SELECT 1/0"}
	err := g.migrate(t.Context(), append(append([]migration{}, migrations...), good, bad))
	if err == nil || !strings.Contains(err.Error(), "migration bad") {
		t.Errorf("error = %v, want one of migration bad", err)
	}
	var tables int
	err = pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_tables
		WHERE schemaname = 'sandkeeper' AND tablename IN ('good', 'bad')`).Scan(&tables)
	if have, _, verr := g.SchemaVersion(t.Context()); err != nil || verr != nil || tables != 0 || have != len(migrations) {
		t.Errorf("version %d with %d new tables, want %d and none (%v, %v)", have, tables, len(migrations), err, verr)
	}
}

func TestLedgerOfAnotherInstallationIsRefused(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	migrated(t, pool, atNoon)
	other := NewLedger(pool, Options{Installation: "staging", Clock: atNoon})
	for verb, err := range everyEntry(t, other) {
		said := `the ledger belongs to installation "test", this is "staging": give each installation its own database`
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: error = %v, want one that says %q", verb, err, said)
		}
	}
	nameless := NewLedger(pool, Options{})
	if err := nameless.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("migrate without a name: error = %v", err)
	}
}

func TestLedgerOfANewerProgramIsRefused(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	_, err := pool.Exec(t.Context(), "INSERT INTO sandkeeper.schema_migrations VALUES (99, 'future', now())")
	if err != nil {
		t.Fatal(err)
	}
	for verb, err := range everyEntry(t, g) {
		if err == nil || !strings.Contains(err.Error(), "the ledger has schema version 99") {
			t.Errorf("%s: error = %v, want one that names version 99", verb, err)
		}
	}
}

// everyEntry is what the calls by which a program comes to a ledger say.
func everyEntry(t *testing.T, g *Ledger) map[string]error {
	t.Helper()
	_, recall := g.Recall(t.Context())
	_, take := g.TakeLease(t.Context(), "one", time.Minute)
	_, subject := g.Subject(t.Context(), "t")
	_, purge := g.Purge(t.Context(), ledgerNoon, 10)
	by := reconcile.Attribution{Author: "ana", Reason: "drill"}
	return map[string]error{
		"migrate": g.Migrate(t.Context()), "recall": recall, "take lease": take, "subject": subject, "purge": purge,
		"set mode": g.SetMode(t.Context(), "orphan", reconcile.Off, by),
	}
}

func TestLedgerOfAnOlderProgramAsksForMigrate(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	if _, err := pool.Exec(t.Context(), "UPDATE sandkeeper.schema_migrations SET version = version - 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "INSERT INTO sandkeeper.schema_migrations VALUES (-1, 'x', now())"); err != nil {
		t.Fatal(err)
	}
	_, err := g.TakeLease(t.Context(), "one", time.Minute)
	if err == nil || !strings.Contains(err.Error(), "run `sandkeeper migrate`") {
		t.Errorf("error = %v, want one that asks for migrate", err)
	}
}

// TestALedgerThatChangesIsRefused: also by who has used it before.
func TestALedgerThatChangesIsRefused(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test"})
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT", ""},
		{"INSERT INTO sandkeeper.schema_migrations (version, name, applied_at) VALUES (9999, 'later', now())", "a newer sandkeeper"},
		{"DELETE FROM sandkeeper.schema_migrations WHERE version = 9999", ""},
		{"UPDATE sandkeeper.installation SET name = 'other'", `"other"`},
		{"UPDATE sandkeeper.installation SET name = 'test'", ""},
		{"DROP SCHEMA sandkeeper CASCADE", "no schema yet"},
		{"SELECT", "no schema yet"},
	} {
		if _, err := pool.Exec(t.Context(), c.sql); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		err := g.usable(t.Context(), pool)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("after %s: %v, want %q", c.sql, err, c.want)
		}
	}
}
