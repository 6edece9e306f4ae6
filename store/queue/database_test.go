package queue

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

func (l *lab) current(pool *pgxpool.Pool) bool {
	l.Helper()
	ok, err := Current(l.Context(), pool)
	l.must(err)
	return ok
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	l := emptyLab(t, pgtest.Database(t))
	if l.current(l.pool) {
		t.Fatal("an empty database is current")
	}
	// Each its own process with few connections, and all at once.
	var all sync.WaitGroup
	for range 6 {
		pool := l.other("pool_max_conns=1")
		all.Go(func() {
			if err := Migrate(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	l.must(Migrate(t.Context(), l.pool))
	if !l.current(l.pool) {
		t.Error("a migrated database is not current")
	}
	if n := l.count("SELECT count(*) FROM pg_class WHERE relname = 'river_job' AND relnamespace = 'sandkeeper'::regnamespace"); n != 1 {
		t.Errorf("%d tables of jobs in the schema sandkeeper, want 1", n)
	}
	l.exec("DELETE FROM sandkeeper.river_migration WHERE version = (SELECT max(version) FROM sandkeeper.river_migration)")
	if l.current(l.pool) {
		t.Error("a database that lacks a migration is current")
	}
	l.exec("INSERT INTO sandkeeper.river_migration (line, version) VALUES ('main', 9999)")
	if !l.current(l.pool) {
		t.Error("a database that a newer program migrated is not current")
	}
	l.must(Migrate(t.Context(), l.pool))
}

// other is another pool on the same database.
func (l *lab) other(settings string) *pgxpool.Pool {
	l.Helper()
	with := "?"
	if strings.Contains(l.dsn, "?") {
		with = "&"
	}
	pool, err := pgxpool.New(l.Context(), l.dsn+with+settings)
	l.must(err)
	l.Cleanup(pool.Close)
	return pool
}

func TestCurrentOnlyReads(t *testing.T) {
	t.Parallel()
	l := emptyLab(t, pgtest.Database(t))
	reader := l.other("default_transaction_read_only=on")
	if l.current(reader) {
		t.Error("an empty database is current")
	}
	l.must(Migrate(t.Context(), l.pool))
	if !l.current(reader) {
		t.Error("a migrated database is not current for who may only read")
	}
}

func TestQueueBeforeItsMigration(t *testing.T) {
	t.Parallel()
	l := emptyLab(t, pgtest.Database(t))
	err := l.KickPass(t.Context(), reconcile.Full)
	if err == nil || !strings.Contains(err.Error(), "full pass") {
		t.Errorf("KickPass without tables = %v, want an error that names the pass", err)
	}
	err = l.Kick(t.Context(), reconcile.Work{Probes: []reconcile.Ref{{Provider: "p", ID: "s"}}})
	if err == nil || !strings.Contains(err.Error(), "1 probes") {
		t.Errorf("Kick without tables = %v, want an error that says of what", err)
	}
	l.exec(passesDone)
	l.run()
	l.logged("job queue cannot start yet")
	l.must(Migrate(t.Context(), l.pool))
	l.until("passes come", func() bool { return l.count("SELECT count(*) FROM public.passes") > 0 })
}

func TestStopBeforeTheStart(t *testing.T) {
	t.Parallel()
	l := emptyLab(t, pgtest.Database(t))
	stop := l.run()
	l.logged("job queue cannot start yet")
	l.must(stop())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.must(l.Queue.Run(ctx))
}

func TestDatabaseComesBack(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Launch(t.Context(), pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	l := emptyLab(t, cluster.DSN("postgres"))
	l.must(Migrate(t.Context(), l.pool))
	l.exec(passesDone)
	l.Queue = l.queue(each(quickly), never)
	l.run()
	passes := func() int { return l.count("SELECT count(*) FROM public.passes") }
	l.until("passes come", func() bool { return passes() > 2 })
	killed := time.Now()
	l.must(cluster.Kill())
	l.logged("passes cannot be watched")
	l.logged("job queue in trouble")
	l.must(cluster.Start(t.Context()))
	for _, c := range l.pool.AcquireAllIdle(t.Context()) {
		_ = c.Ping(t.Context()) // the test's own questions are not to find out which connections broke
		c.Release()
	}
	before := passes()
	l.until("passes come again", func() bool { return passes() > before+2 })
	l.must(l.Kick(t.Context(), remedies("after")))
	l.until("remedies are worked again", func() bool { return l.jobs("remedy", "completed") == 1 })
	if n := strings.Count(l.log.String(), "in trouble"); n > 2+int(time.Since(killed)/every) {
		t.Errorf("told %d times that the queue is in trouble: %s", n, l.log)
	}
}

func TestCutConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	did := make(chan string, 9)
	l.duty.remedy = func(_ context.Context, id string) (time.Duration, error) { did <- id; return 0, nil }
	l.run()
	l.must(l.Kick(t.Context(), remedies("before")))
	receive(l, did)
	l.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	l.until("it can be kicked", func() bool { return l.Kick(t.Context(), remedies("after")) == nil })
	if id := receive(l, did); id != "after" {
		t.Errorf("worked at %q, want what was kicked after the cut", id)
	}
}

func TestNewSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	l := emptyLab(t, pgtest.Database(t))
	if _, err := New(Options{Pool: l.pool}); err == nil {
		t.Error("New without a duty = nil, want an error")
	}
	o := l.o
	o.Name = strings.Repeat("x", 101)
	if _, err := New(o); err == nil {
		t.Error("New with a name that no job can hold = nil, want an error")
	}
	o.Name, o.Log, o.Workers = "", nil, 0
	if _, err := New(o); err != nil {
		t.Errorf("New without what may be left out = %v", err)
	}
}
