package queue

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// childEnv makes the test binary a process that only works jobs, on that database.
const childEnv = "SANDKEEPER_TEST_QUEUE_CHILD"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(childEnv); dsn != "" {
		if err := child(dsn); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they mostly wait
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pgtest.Main(m)
}

// each is a schedule in parts of a second, which cron does not have.
type each time.Duration

func (e each) Next(t time.Time) time.Time { return t.Add(time.Duration(e)) }

const never = each(1000 * time.Hour) // but the watch's first pass

// passesDone stands for the ledger's passes: who did which when.
const passesDone = `CREATE TABLE public.passes (
	id bigint GENERATED ALWAYS AS IDENTITY, kind text, who text, began timestamptz DEFAULT clock_timestamp())`

// A book is a ledger of passes.
type book struct {
	pool  *pgxpool.Pool
	who   string
	stuck chan struct{} // not nil: told of each question, whose answer never comes
}

func (b *book) write(ctx context.Context, kind reconcile.PassKind) error {
	_, err := b.pool.Exec(ctx, "INSERT INTO public.passes (kind, who) VALUES ($1, $2)", string(kind), b.who)
	return err
}

func (b *book) LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error) {
	if b.stuck != nil {
		b.stuck <- struct{}{}
		<-ctx.Done()
		return began, now, ctx.Err()
	}
	var last *time.Time
	err = b.pool.QueryRow(ctx, "SELECT max(began), clock_timestamp() FROM public.passes WHERE kind IN ($1, 'full')",
		string(kind)).Scan(&last, &now)
	if last != nil {
		began = *last
	}
	return began, now, err
}

// A duty does what it is told by functions; passes without one are written down.
type duty struct {
	*book
	pass   func(context.Context, reconcile.PassKind) (time.Duration, error)
	pushed func(context.Context, []reconcile.Ref) (time.Duration, error)
	remedy func(context.Context, string) (time.Duration, error)
	probe  func(context.Context, reconcile.Ref) error
	notify func(context.Context) error // nil: nobody is to be told
}

func (d *duty) Pass(ctx context.Context, kind reconcile.PassKind) (time.Duration, error) {
	if d.pass != nil {
		return d.pass(ctx, kind)
	}
	return 0, d.write(ctx, kind)
}

func (d *duty) PassNow(ctx context.Context, kind reconcile.PassKind, pushed ...reconcile.Ref) (time.Duration, error) {
	if d.pushed != nil && pushed != nil {
		return d.pushed(ctx, pushed)
	}
	return 0, d.write(ctx, kind+" now")
}

func (d *duty) Remedy(ctx context.Context, id string) (time.Duration, error) {
	if d.remedy != nil {
		return d.remedy(ctx, id)
	}
	return 0, nil
}

func (d *duty) Probe(ctx context.Context, ref reconcile.Ref) error {
	if d.probe != nil {
		return d.probe(ctx, ref)
	}
	return nil
}

func (d *duty) Notifies() bool { return d.notify != nil }

func (d *duty) Notify(ctx context.Context) error { return d.notify(ctx) }

// A lab is a migrated database with one queue on it.
type lab struct {
	*testing.T
	dsn  string
	pool *pgxpool.Pool
	duty *duty
	log  *journal
	*Queue
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := emptyLab(t, pgtest.Database(t))
	l.must(Migrate(t.Context(), l.pool))
	l.exec(passesDone)
	return l
}

// emptyLab is a lab before it is migrated.
func emptyLab(t *testing.T, dsn string) *lab {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close) // hangs when a connection was not given back
	l := &lab{T: t, dsn: dsn, pool: pool, log: &journal{}}
	l.duty = &duty{book: &book{pool: pool, who: "this"}}
	l.Queue = l.queue(never, never)
	return l
}

func (l *lab) queue(quick, full each) *Queue {
	l.Helper()
	q, err := New(Options{Pool: l.pool, Duty: l.duty, Log: slog.New(slog.NewTextHandler(l.log, nil)),
		Name: "this", Quick: quick, Full: full, Ledger: l.duty.book, Workers: 2})
	l.must(err)
	q.pace.poll = 500 * time.Millisecond
	return q
}

// quietly writes down a full pass of now, so that the watch has nothing to kick.
func (l *lab) quietly() *lab {
	l.must(l.duty.write(l.Context(), reconcile.Full))
	return l
}

// run runs the queue until the test ends or stop is called, which returns what Run did.
func (l *lab) run() (stop func() error) {
	l.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Queue.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	l.Cleanup(func() {
		if err := stop(); err != nil {
			l.Errorf("Run = %v, want nil", err)
		}
	})
	return stop
}

func (l *lab) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *lab) exec(sql string, args ...any) {
	l.Helper()
	_, err := l.pool.Exec(l.Context(), sql, args...)
	l.must(err)
}

// count is the number that a query comes to.
func (l *lab) count(sql string, args ...any) (n int) {
	l.Helper()
	l.must(l.pool.QueryRow(l.Context(), sql, args...).Scan(&n))
	return n
}

// jobs counts the jobs of a kind in a state.
func (l *lab) jobs(kind, state string) int {
	l.Helper()
	return l.count("SELECT count(*) FROM sandkeeper.river_job WHERE kind = $1 AND state::text = $2", kind, state)
}

// patience is how long a busy machine may take; it costs time only when a test fails.
const patience = 5 * time.Minute

// until waits for something to come true.
func (l *lab) until(what string, so func() bool) {
	l.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	patience := time.After(patience)
	for !so() {
		select {
		case <-tick.C:
		case <-patience:
			l.Fatalf("never: %s; the log: %s", what, l.log)
		}
	}
}

// receive waits for a value.
func receive[T any](l *lab, from <-chan T) (v T) {
	l.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		l.Fatalf("nothing came of %T; the log: %s", from, l.log)
	}
	return v
}

// A journal keeps what was logged.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, string(line))
	return len(line), nil
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprint(j.lines)
}

func (j *journal) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.lines)
}

// child works jobs until it is killed, or the test that started it is gone: its input ends.
func child(dsn string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	b := &book{pool: pool, who: "child"}
	q, err := New(Options{Pool: pool, Duty: &duty{book: b}, Name: "child", Ledger: b,
		Quick: each(quickly), Full: never})
	return errors.Join(err, q.Run(ctx))
}
