package ledger

import (
	"context"
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var (
	large     = flag.Int("rows", 0, "with so many lines of history, measure a migration; takes minutes")
	largeFrom = flag.Int("from", 8, "the version of the ledger's schema that it begins with")
)

// history fills the large tables with what is over, a thousandth of @rows at a time.
const history = `
INSERT INTO sandkeeper.timeline (at, subject, kind, what)
SELECT now() - n * interval '1 second', 'task:t-' || n % 5000, 'state', 'running' FROM generate_series(1, @rows::int) AS n;
INSERT INTO sandkeeper.findings (rule, subject, provider, sandbox, task, reason, evidence, opened_at, sightings, due, held_by, resolved_at)
SELECT 'orphan', 'sandbox:daytona/' || gen_random_uuid(), 'daytona', 'sb-' || n, '', 'no task knows it', '[]',
    now() - interval '2 days', 2, true, '{}', now() - interval '1 day' FROM generate_series(1, @rows::int / 10) AS n;
INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, gone_by_us, first_seen, gone_at)
SELECT 'daytona', gen_random_uuid()::text, '', '', '', 'ended', '', false, now() - interval '2 days', now() - interval '1 day'
FROM generate_series(1, @rows::int / 10) AS n`

// TestMigrationOfALargeLedger measures how long a ledger with a long history takes to be migrated, and how long others
// that read it and write to it wait meanwhile. It asserts that it ends well and that nothing is lost.
func TestMigrationOfALargeLedger(t *testing.T) {
	if *large == 0 {
		t.Skip("it takes minutes: make test-migration")
	}
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test"})
	if err := g.migrate(t.Context(), migrations[:*largeFrom]); err != nil {
		t.Fatal(err)
	}
	const parts = 1000
	for range parts {
		_, err := pool.Exec(t.Context(), history, pgx.QueryExecModeSimpleProtocol, pgx.StrictNamedArgs{"rows": max(*large/parts, 10)})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	before := lines(t, pool)
	ctx, stop := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	read, wrote := time.Duration(0), time.Duration(0)
	waits.Go(func() {
		read = longest(ctx, pool, "SELECT number FROM sandkeeper.timeline ORDER BY number DESC LIMIT 1")
	})
	waits.Go(func() {
		wrote = longest(ctx, pool, "INSERT INTO sandkeeper.budgets (name) VALUES ('b') ON CONFLICT (name) DO UPDATE SET name = 'b'")
	})
	began := time.Now()
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	stop()
	waits.Wait()
	t.Logf("%d lines, from version %d to %d: %s in all; a reader waited %s at most, a writer %s", before, *largeFrom,
		len(migrations), took.Round(time.Millisecond), read.Round(time.Millisecond), wrote.Round(time.Millisecond))
	if after := lines(t, pool); after != before {
		t.Errorf("%d lines after %d", after, before)
	}
	if _, err := g.Overview(t.Context(), 10); err != nil {
		t.Error(err)
	}
}

func lines(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM sandkeeper.timeline").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// longest repeats a statement until the context ends, and says how long it took at most.
func longest(ctx context.Context, pool *pgxpool.Pool, sql string) (most time.Duration) {
	for ctx.Err() == nil {
		began := time.Now()
		_, err := pool.Exec(context.WithoutCancel(ctx), sql)
		if err != nil {
			return -1
		}
		most = max(most, time.Since(began))
	}
	return most
}
