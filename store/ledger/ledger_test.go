package ledger

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/storetest"
)

// TestLedgerPromises empties one database between the promises: to make a new one for each
// costs a hundred times as much.
func TestLedgerPromises(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	migrated(t, pool, nil)
	storetest.Run(t, func(t *testing.T, clock func() time.Time) storetest.Ledger {
		empty(t, pool)
		return migrated(t, pool, clock)
	})
}

// empty deletes every row and sets the lease back.
func empty(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'sandkeeper'
			AND tablename NOT IN ('schema_migrations', 'budgets', 'leases', 'installation', 'timeline_chain')
		LOOP EXECUTE 'DELETE FROM sandkeeper.' || name; END LOOP;
		UPDATE sandkeeper.installation SET watch_since = NULL, known_rules = NULL;
		UPDATE sandkeeper.leases SET holder = '', epoch = 0, taken_at = NULL, expires_at = NULL; END $$`)
	if err != nil {
		t.Fatal(err)
	}
}

// ledgerPool is a pool that is closed at the end of the test.
func ledgerPool(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// migrated is a ledger of installation "test" with its schema.
func migrated(t *testing.T, pool *pgxpool.Pool, clock func() time.Time) *Ledger {
	t.Helper()
	g := NewLedger(pool, Options{Installation: "test", Clock: clock})
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "UPDATE sandkeeper.timeline_chain SET keeps = NULL"); err != nil {
		t.Fatal(err) // the tests' clocks are not the database's
	}
	return g
}
