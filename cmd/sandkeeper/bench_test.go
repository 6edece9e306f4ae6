package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/test/scale/bare"
)

// The size of the world that a pass is measured on. What the benchmark prints and what
// docs/performance.md says of it is held against these numbers by TestFiguresOfDocs.
const (
	benchTasks    = 10_000
	benchFinished = 1_000_000
	benchPage     = 200
)

// BenchmarkPass compares a full pass over live tasks and as many sandboxes with the bare reads
// of the same rows by pgx and of the same pages by HTTP and JSON, and with a pass in a second
// world whose task table has many finished rows besides. All of it alternates in one run, so
// that what else the machine does weighs on each alike.
func BenchmarkPass(b *testing.B) {
	const rounds = 15
	collectSeldom() // as the program does
	small := newBenchWorld(b)
	small.settle(b)
	heap := small.heap(b)
	large := newBenchWorld(b)
	took := timed(func() { large.finish(b) })
	large.settle(b)
	for range rounds {
		small.round(b)
		large.round(b)
	}
	live, finished := thousands(len(small.ids))+" live tasks", thousands(large.finished(b))+" finished rows"
	fmt.Printf("%s were inserted in %s\n", finished, took.Round(time.Second))
	without := small.tell(b, live)
	with := large.tell(b, live+" and "+finished)
	fmt.Printf("pass with %s / without: %.2f (bar 1.10); peak heap %d MB\n", finished, with.Seconds()/without.Seconds(), heap)
	b.ReportMetric(with.Seconds()/without.Seconds(), "history-ratio")
}

type benchWorld struct {
	db                  *pgx.Conn
	keeper              *run.Reconciler
	url                 string
	ids                 []string
	rows, pages, passes []time.Duration
}

func newBenchWorld(b *testing.B) *benchWorld {
	b.Helper()
	ctx := context.Background()
	dsn := pgtest.Database(b)
	db, err := pgx.Connect(ctx, dsn)
	must(b, err)
	b.Cleanup(func() { db.Close(ctx) })
	w := &benchWorld{db: db}
	exec(b, db, pgtest.OmoiOS+pgtest.OmoiOSProgram)
	exec(b, db, `INSERT INTO program.tasks (status, sandbox_id, created_at, updated_at, started_at)
		SELECT 'running', 'omoios-' || i, now() - interval '1 hour', now() - interval '9 minutes', now() - interval '9 minutes'
		FROM generate_series(1, $1) i`, benchTasks)
	exec(b, db, `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		SELECT 'omoios-' || i, (ARRAY['agent.started', 'agent.tool_use', 'agent.heartbeat'])[k],
			now() - (ARRAY['9 minutes', '1 minute', '0'])[k]::interval
		FROM generate_series(1, $1) i, generate_series(1, 3) k`, benchTasks)
	exec(b, db, "ANALYZE")
	rows, err := db.Query(ctx, "SELECT id::text FROM tasks ORDER BY id")
	must(b, err)
	w.ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
	must(b, err)
	server := httptest.NewServer(benchPages(w.ids))
	b.Cleanup(server.Close)
	w.url = server.URL
	w.open(b, dsn)
	return w
}

func (w *benchWorld) open(b *testing.B, dsn string) {
	b.Helper()
	c, err := config.Parse("bench.yaml", []byte(fmt.Sprintf(`
installation: bench
mode: enforce
proof: off
database: %q
tasks: {preset: omoios}
providers:
  - {name: daytona, kind: daytona, url: "%s/api", token: k, owns: {labels: {project: omoios}}, link: {task_label: task_id},
     rate: 100000/s, probe: off}
rules: {heartbeat-lost: {after: 24h}}
`, dsn, w.url)), func(string) (string, bool) { return "", false })
	must(b, err)
	o := &app.Options{Stdio: console.Stdio{Out: io.Discard, Err: io.Discard}}
	ctx := context.Background()
	world, err := o.OpenLedger(ctx, c)
	must(b, err)
	b.Cleanup(world.Close)
	world.Log = slog.New(slog.DiscardHandler)
	must(b, world.OpenTasks(ctx))
	must(b, world.OpenProviders())
	must(b, world.Ledger.Migrate(ctx))
	w.keeper = world.Keeper(nil)
}

// finish adds tasks that are over, each with an event, as years of work leave them.
func (w *benchWorld) finish(b *testing.B) {
	b.Helper()
	exec(b, w.db, `INSERT INTO program.tasks (status, sandbox_id, created_at, updated_at, started_at)
		SELECT (ARRAY['completed', 'failed', 'cancelled'])[1 + i % 3], 'omoios-old-' || i, now() - interval '30 days',
		now() - interval '29 days', now() - interval '29 days' FROM generate_series(1, $1) i`, benchFinished)
	exec(b, w.db, `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		SELECT 'omoios-old-' || i, 'agent.completed', now() - interval '29 days' FROM generate_series(1, $1) i`, benchFinished)
	exec(b, w.db, "VACUUM ANALYZE")
}

// finished counts the rows of tasks that are over.
func (w *benchWorld) finished(b *testing.B) (n int) {
	b.Helper()
	must(b, w.db.QueryRow(context.Background(), "SELECT count(*) FROM tasks WHERE status <> 'running'").Scan(&n))
	return n
}

// thousands is a number as people read it: 1,000,000.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// settle makes the passes that are not like the others: the first one fills the ledger.
func (w *benchWorld) settle(b *testing.B) {
	b.Helper()
	w.pass(b)
	w.pass(b)
}

// round measures the bare reads and the pass once, one after the other.
func (w *benchWorld) round(b *testing.B) {
	b.Helper()
	w.rows = append(w.rows, timed(func() { w.bareRows(b) }))
	w.pages = append(w.pages, timed(func() { w.barePages(b) }))
	w.passes = append(w.passes, timed(func() { w.pass(b) }))
}

// tell compares the medians, and returns that of the pass.
func (w *benchWorld) tell(b *testing.B, what string) time.Duration {
	b.Helper()
	row, page, pass := median(w.rows), median(w.pages), median(w.passes)
	ratio := pass.Seconds() / (row + page).Seconds()
	fmt.Printf("%s: bare rows %s + bare pages %s = %s, pass %s, ratio %.2f (bar 1.5)\n", what,
		row.Round(time.Millisecond), page.Round(time.Millisecond), (row + page).Round(time.Millisecond),
		pass.Round(time.Millisecond), ratio)
	b.ReportMetric(ratio, "pass/bare")
	return pass
}

func timed(do func()) time.Duration {
	runtime.GC()
	began := time.Now()
	do()
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func (w *benchWorld) pass(b *testing.B) {
	b.Helper()
	r, err := w.keeper.Once(context.Background(), reconcile.Full, time.Second)
	must(b, err)
	if len(r.Plan.Steps) > 0 || !r.Complete || r.Plan.Kept != benchTasks {
		b.Fatalf("pass over a healthy world: %d steps, complete %t, %d kept", len(r.Plan.Steps), r.Complete, r.Plan.Kept)
	}
}

// heap is the largest heap that one pass needs, garbage included, seen while it runs.
func (w *benchWorld) heap(b *testing.B) uint64 {
	b.Helper()
	runtime.GC()
	done := make(chan struct{})
	go func() {
		w.pass(b)
		close(done)
	}()
	var peak uint64
	for {
		select {
		case <-done:
			return peak >> 20
		case <-time.After(time.Millisecond):
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse+m.StackInuse)
		}
	}
}

// bareRows reads the same rows and keeps nothing.
func (w *benchWorld) bareRows(b *testing.B) {
	b.Helper()
	n, err := bare.Rows(context.Background(), w.db)
	must(b, err)
	if n != benchTasks {
		b.Fatalf("bare read got %d rows", n)
	}
}

func (w *benchWorld) barePages(b *testing.B) {
	b.Helper()
	n, err := bare.Pages(context.Background(), w.url)
	must(b, err)
	if n != benchTasks {
		b.Fatalf("bare listing got %d sandboxes", n)
	}
}

// benchPages serves the listing as bytes made beforehand: a provider without any cost.
func benchPages(ids []string) http.Handler {
	pages := map[string][]byte{}
	for from := 0; from < len(ids); from += benchPage {
		pages[cursorAt(from)] = benchPageOf(ids, from)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Query().Get("cursor")]
		if r.URL.Path != "/api/sandbox" || !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(page) // a client that left needs no answer
	})
}

func cursorAt(from int) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprint("c", from)
}

func benchPageOf(ids []string, from int) []byte {
	var items []map[string]any
	for i := from; i < min(from+benchPage, len(ids)); i++ {
		items = append(items, map[string]any{
			"id": fmt.Sprintf("0c5a%04d-77f2-4a3b-9c1d-%012d", i, i), "organizationId": "org", "name": fmt.Sprintf("sandbox-%d", i),
			"target": "us", "user": "daytona", "public": false, "networkBlockAll": false, "cpu": 2, "gpu": 0, "memory": 4, "disk": 8,
			"labels":          map[string]string{"project": "omoios", "task_id": ids[i], "agent_id": "agent-1", "phase_id": "phase-2"},
			"toolboxProxyUrl": "http://127.0.0.1:1/toolbox", "state": "started", "desiredState": "started",
			"snapshot": "ai-agent-dev-light", "autoStopInterval": 15, "backupState": "None",
			"createdAt": "2026-11-20T09:00:00.000Z", "updatedAt": "2026-11-20T09:01:00.000Z", "lastActivityAt": "2026-11-20T09:30:00.000Z",
		})
	}
	page := map[string]any{"items": items, "nextCursor": nil}
	if from+benchPage < len(ids) {
		page["nextCursor"] = cursorAt(from + benchPage)
	}
	text, err := json.Marshal(page)
	if err != nil {
		panic("page of the benchmark: " + err.Error())
	}
	return text
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func exec(tb testing.TB, db *pgx.Conn, sql string, args ...any) {
	tb.Helper()
	_, err := db.Exec(context.Background(), sql, args...)
	must(tb, err)
}
