package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// The size of the history that backtest is measured on, and what it is held to: ten million events in ten minutes on
// two cores, below 256 MB. SANDKEEPER_BENCH_PAST makes it smaller.
const (
	benchPast       = 1_000_000
	benchPastEvents = 10 // of each task
)

// BenchmarkBacktest reads and plays a long history, all of the time and as gently as the verb does it by itself.
func BenchmarkBacktest(b *testing.B) {
	tasks := benchPast
	if n, err := strconv.Atoi(os.Getenv("SANDKEEPER_BENCH_PAST")); err == nil {
		tasks = n
	}
	collectSeldom()
	o := newBenchPast(b, tasks)
	for _, share := range []int{100, 50} {
		began := time.Now()
		most := watchHeap()
		p, err := readPast(context.Background(), o, &pastFlags{since: 30 * verb.Day, share: share})
		heap := most()
		must(b, err)
		took := time.Since(began)
		fmt.Printf("backtest of %s finished tasks and %s events, --share %d: %s, peak heap %d MB, %.0f events a second\n",
			thousands(p.Tasks), thousands(p.Events), share, took.Round(time.Second), heap>>20, float64(p.Events)/took.Seconds())
		b.ReportMetric(float64(p.Events)/took.Seconds(), fmt.Sprintf("events/s-%d", share))
	}
}

// newBenchPast is a config of a platform with a history: a task every 2.5 s, each with heartbeats, of which one in 50 is
// late.
func newBenchPast(b *testing.B, tasks int) *app.Options {
	b.Helper()
	ctx := context.Background()
	dsn := pgtest.Database(b)
	db, err := pgx.Connect(ctx, dsn)
	must(b, err)
	b.Cleanup(func() { db.Close(ctx) })
	exec(b, db, pgtest.OmoiOS+pgtest.OmoiOSProgram)
	exec(b, db, `INSERT INTO program.tasks (id, status, sandbox_id, created_at, started_at, completed_at, updated_at)
		SELECT md5(n::text), CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'completed' END, 'box-' || n, at, at + interval '1 minute',
			at + interval '340 seconds', at + interval '8 minutes'
		FROM (SELECT n, now() - n * (interval '29 days' / $1::int) - interval '10 minutes' AS at FROM generate_series(1, $1::int) n) AS t`, tasks)
	exec(b, db, `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		SELECT sandbox_id, CASE k WHEN 0 THEN 'agent.started' WHEN 3 THEN 'agent.tool_use' ELSE 'agent.heartbeat' END,
			started_at + k * interval '30 seconds' + CASE WHEN hashtext(id) % 50 = 0 AND k > 5 THEN interval '2 minutes' ELSE '0' END
		FROM tasks, generate_series(0, $1::int - 1) AS k`, benchPastEvents)
	exec(b, db, "VACUUM ANALYZE")
	file := filepath.Join(b.TempDir(), "sandkeeper.yaml")
	text := fmt.Sprintf("installation: bench\ndatabase: %q\ntasks: {preset: omoios}\nproviders: "+
		"[{name: daytona, kind: daytona, token: key, owns: {labels: {project: omoios}}, link: {task_label: task_id}}]\n", dsn)
	must(b, os.WriteFile(file, []byte(text), 0o600))
	return &app.Options{Stdio: console.Stdio{Out: io.Discard, Err: io.Discard}, ConfigFile: file}
}

// watchHeap looks at the heap again and again, until it is asked for the most.
func watchHeap() (most func() uint64) {
	stop, told := make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				told <- peak
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-told
	}
}
