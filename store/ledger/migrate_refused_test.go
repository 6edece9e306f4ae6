package ledger

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

const plantedFunction = `CREATE FUNCTION public.planted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';`

// TestMigrateRefusesWhatOthersReach: it changes nothing, names the thing and the SQL that mends it; when that was done it
// migrates.
func TestMigrateRefusesWhatOthersReach(t *testing.T) {
	for name, c := range map[string]struct {
		first bool   // before the first migration
		role  string // what the platform's role is given or does
		says  []string
		mend  string
	}{
		"a schema that everybody may create in": {true, "CREATE SCHEMA sandkeeper; GRANT CREATE ON SCHEMA sandkeeper TO PUBLIC",
			[]string{"everybody may create in the schema sandkeeper", "REVOKE CREATE ON SCHEMA sandkeeper FROM PUBLIC"},
			"REVOKE CREATE ON SCHEMA sandkeeper FROM PUBLIC"},
		"a schema that the platform may create in": {false, "GRANT CREATE ON SCHEMA sandkeeper TO %[1]s",
			[]string{"_reader may create in", "REVOKE CREATE ON SCHEMA sandkeeper FROM "},
			"REVOKE CREATE ON SCHEMA sandkeeper FROM %[1]s"},
		"a planted trigger": {false, plantedFunction + `
			CREATE TRIGGER nice AFTER INSERT ON sandkeeper.actions EXECUTE FUNCTION public.planted()`,
			[]string{"trigger nice on sandkeeper.actions", "DROP trigger nice on sandkeeper.actions"},
			"DROP TRIGGER nice ON sandkeeper.actions"},
		"a planted rule": {false, "CREATE RULE nice AS ON INSERT TO sandkeeper.holds DO ALSO SELECT 1",
			[]string{"DROP rule nice on sandkeeper.holds"}, "DROP RULE nice ON sandkeeper.holds"},
		"a table of somebody else": {true, "CREATE SCHEMA sandkeeper; CREATE TABLE sandkeeper.schema_migrations (version integer PRIMARY KEY, " +
			"name text NOT NULL, applied_at timestamptz NOT NULL); ALTER TABLE sandkeeper.schema_migrations OWNER TO %[1]s",
			[]string{"table sandkeeper.schema_migrations of ", "DROP table sandkeeper.schema_migrations"},
			"DROP TABLE sandkeeper.schema_migrations"},
		"a routine of somebody else": {false, "ALTER FUNCTION sandkeeper.stays() OWNER TO %[1]s",
			[]string{"routine sandkeeper.stays() of ", "ALTER routine sandkeeper.stays() OWNER TO "},
			"ALTER ROUTINE sandkeeper.stays() OWNER TO CURRENT_USER"},
		"a tasks login that writes to the ledger": {false, "GRANT USAGE ON SCHEMA sandkeeper TO %[1]s; " +
			"GRANT INSERT ON sandkeeper.actions TO %[1]s",
			[]string{"can write to the ledger", "REVOKE ALL ON ALL TABLES IN SCHEMA sandkeeper FROM "},
			"REVOKE ALL ON ALL TABLES IN SCHEMA sandkeeper FROM %[1]s"},
	} {
		t.Run(name, func(t *testing.T) {
			pool := ledgerPool(t, pgtest.Database(t))
			if !c.first {
				half := NewLedger(pool, Options{Installation: "test"})
				if err := half.migrate(t.Context(), migrations[:len(migrations)-1]); err != nil {
					t.Fatal(err)
				}
			}
			login := pgtest.AsRole(t, pool, c.role).Config().ConnConfig.User
			g := NewLedger(pool, Options{Installation: "test", TasksLogin: login})
			before := ledgerObjects(t, pool)
			err := g.Migrate(t.Context())
			for _, want := range append(c.says, "nothing was changed") {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			if after := ledgerObjects(t, pool); after != before {
				t.Errorf("the schema has %s, had %s", after, before)
			}
			if _, err := pool.Exec(t.Context(), strings.ReplaceAll(c.mend, "%[1]s", login)); err != nil {
				t.Fatal(err)
			}
			if err := g.Migrate(t.Context()); err != nil {
				t.Errorf("after it was mended: %v", err)
			}
		})
	}
}

// TestMigrateRefusesAForeignSchema: who made the schema could change all in it; its owner, and a login that has the
// database to itself, migrate.
func TestMigrateRefusesAForeignSchema(t *testing.T) {
	admin := ledgerPool(t, pgtest.Database(t))
	keeper := pgtest.AsRole(t, admin, "CREATE SCHEMA sandkeeper; GRANT ALL ON SCHEMA sandkeeper TO %[1]s")
	g := NewLedger(keeper, Options{Installation: "test"})
	err := g.Migrate(t.Context())
	if err == nil || !strings.Contains(err.Error(), "ALTER SCHEMA sandkeeper OWNER TO ") {
		t.Errorf("error = %v, want one that names the owner", err)
	}
	if got := ledgerObjects(t, admin); got != "" {
		t.Errorf("the schema has %s, want nothing", got)
	}
	login := keeper.Config().ConnConfig.User
	if _, err := admin.Exec(t.Context(), "ALTER SCHEMA sandkeeper OWNER TO "+login); err != nil {
		t.Fatal(err)
	}
	if err := g.Migrate(t.Context()); err != nil {
		t.Errorf("as its owner: %v", err)
	}
}

// ledgerObjects are the tables of the ledger with their columns counted.
func ledgerObjects(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	var said string
	err := pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(relname || ':' || relnatts, ' ' ORDER BY relname), '')
		FROM pg_class WHERE relnamespace = to_regnamespace('sandkeeper')`).Scan(&said)
	if err != nil {
		t.Fatal(err)
	}
	return said
}
