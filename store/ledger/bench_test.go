package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// fleet is a ledger with n live tasks in n probed sandboxes, and a history ten times as large.
func fleet(tb testing.TB, n int) (*Ledger, reconcile.Lease) {
	tb.Helper()
	pool, err := pgxpool.New(tb.Context(), pgtest.Database(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	g := NewLedger(pool, Options{Installation: "test"})
	if err := g.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	_, err = pool.Exec(tb.Context(), fmt.Sprintf(`
		INSERT INTO sandkeeper.task_states
		SELECT 'task-' || i, 'running', CASE WHEN i <= %[1]d THEN 'running' ELSE 'completed' END, 'sb-' || i,
		       now() - interval '1 hour', now() - interval '1 hour', now(), now(), NULL, NULL, NULL, 0, i, false, i <= %[1]d,
		       CASE WHEN i <= %[1]d THEN now() ELSE now() - interval '3 days' END
		FROM generate_series(1, %[2]d) i;
		INSERT INTO sandkeeper.sandboxes
		SELECT 'daytona', 'sb-' || i, 'box-' || i, 'task-' || i, 'dev-light',
		       CASE WHEN i <= %[1]d THEN 'running' ELSE 'ended' END,
		       'started', now(), now(), now(), NULL, now(), CASE WHEN i > %[1]d THEN now() - interval '3 days' END, false,
		       'answered', '', now(), 1000, now(), NULL
		FROM generate_series(1, %[2]d) i;
		INSERT INTO sandkeeper.probes (provider, sandbox, outcome, detail, at, took_us)
		SELECT 'daytona', 'sb-' || i, 'answered', '', now(), 1000 FROM generate_series(1, %[2]d) i;
		ANALYZE`, n, 11*n))
	if err != nil {
		tb.Fatal(err)
	}
	lease, err := g.TakeLease(tb.Context(), "bench", time.Hour)
	if err != nil {
		tb.Fatal(err)
	}
	return g, lease
}

func BenchmarkRecall(b *testing.B) {
	g, _ := fleet(b, 10_000)
	for b.Loop() {
		m, err := g.Recall(b.Context())
		if err != nil || m.Tasks.Len() != 10_000 || len(m.Probes) != 10_000 {
			b.Fatalf("%d tasks, %d probes, error %v", m.Tasks.Len(), len(m.Probes), err)
		}
	}
}

// BenchmarkRecord writes every task and sandbox anew: the worst pass.
func BenchmarkRecord(b *testing.B) {
	g, lease := fleet(b, 10_000)
	m, err := g.Recall(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	r := reconcile.Record{Complete: true}
	for _, t := range m.Tasks.All() {
		r.Tasks = append(r.Tasks, t)
	}
	for _, s := range m.Sandboxes.All() {
		r.Sandboxes = append(r.Sandboxes, s)
	}
	for b.Loop() {
		if r.Pass, err = g.BeginPass(b.Context(), lease, reconcile.Full, m.Now); err != nil {
			b.Fatal(err)
		}
		if err := g.Record(b.Context(), lease, r); err != nil {
			b.Fatal(err)
		}
	}
}
