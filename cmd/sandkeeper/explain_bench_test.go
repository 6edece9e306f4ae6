package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// The size of the world that explain is measured on.
const (
	explainTasks = 2_000
	explainPast  = 1_000_000 // lines of timeline; findings, actions, probes and verdicts are a tenth each
)

// BenchmarkExplain asks for one live task on a fresh ledger and on one with a long history, as
// the verb does it and as a whole call of the program, and compares it with a bare SELECT of
// the same task from the same databases in the same run.
func BenchmarkExplain(b *testing.B) {
	w := newExplained(b)
	fresh := w.measure(b, "fresh ledger")
	w.fill(b)
	events := thousands(w.events(b)) + " events" // as many as are there, whatever was meant
	full := w.measure(b, "with "+events)
	fmt.Printf("explain of one of %s live tasks with %s / without: %.2f\n", thousands(explainTasks), events,
		full.Seconds()/fresh.Seconds())
	b.ReportMetric(full.Seconds()/fresh.Seconds(), "history-ratio")
}

// An explainedWorld is one of which one task is asked for again and again.
type explainedWorld struct {
	db     *pgx.Conn
	world  *app.App
	config string
	id     string
}

func newExplained(b *testing.B) *explainedWorld {
	b.Helper()
	ctx := context.Background()
	dsn := pgtest.Database(b)
	db, err := pgx.Connect(ctx, dsn)
	must(b, err)
	b.Cleanup(func() { db.Close(ctx) })
	exec(b, db, pgtest.OmoiOS+pgtest.OmoiOSProgram)
	exec(b, db, `INSERT INTO program.tasks (status, sandbox_id, created_at, updated_at, started_at)
		SELECT 'running', 'omoios-' || i, now() - interval '1 hour', now() - interval '9 minutes', now() - interval '9 minutes'
		FROM generate_series(1, $1) i`, explainTasks)
	exec(b, db, `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		SELECT 'omoios-' || i, (ARRAY['agent.started', 'agent.tool_use', 'agent.heartbeat'])[k],
		now() + interval '1 hour' - interval '1 minute' * (3 - k)
		FROM generate_series(1, $1) i, generate_series(1, 3) k`, explainTasks)
	exec(b, db, "ANALYZE")
	w := &explainedWorld{db: db}
	rows, err := db.Query(ctx, "SELECT id::text FROM tasks ORDER BY id")
	must(b, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(b, err)
	w.id = ids[len(ids)/2]
	w.open(b, dsn, cloudFor(b, ids))
	return w
}

// cloudFor is a simulated Daytona with a sandbox for each task.
func cloudFor(b *testing.B, ids []string) string {
	b.Helper()
	cloud := simulated.New(simulated.Options{})
	cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	for _, id := range ids {
		cloud.Put(simulated.Sandbox{Template: "ai-agent-dev-light", CreatedAt: time.Now().Add(-9 * time.Minute),
			Labels: map[string]string{"project": "omoios", "task_id": id}})
	}
	server := httptest.NewServer(daytonatest.New(cloud, daytonatest.Options{TaskLabel: "task_id"}))
	b.Cleanup(server.Close)
	return server.URL
}

// open writes the config, and lets one pass fill the ledger.
func (w *explainedWorld) open(b *testing.B, dsn, url string) {
	b.Helper()
	w.config = filepath.Join(b.TempDir(), "sandkeeper.yaml")
	must(b, os.WriteFile(w.config, []byte(fmt.Sprintf(`
installation: bench
mode: observe
database: %q
tasks: {preset: omoios}
schedule: {full: "@every 30m"}
providers:
  - {name: daytona, kind: daytona, url: "%s/api", token: key, owns: {labels: {project: omoios}}, link: {task_label: task_id},
     rate: 100000/s, probe: off}
rules: {heartbeat-lost: {after: 24h}, inactive: {after: 24h}, orphan: {after: 1h}, assigned-stale: {after: 1h}}
`, dsn, url)), 0o600))
	ctx := context.Background()
	var errs bytes.Buffer
	if code := execute(ctx, []string{"once", "--migrate", "-c", w.config}, console.Stdio{Out: io.Discard, Err: &errs}); code != 0 {
		b.Fatalf("once: exit code %d: %s", code, errs.String())
	}
	world, err := (&app.Options{Stdio: console.Stdio{Out: io.Discard, Err: io.Discard}, ConfigFile: w.config}).Open(ctx)
	must(b, err)
	b.Cleanup(world.Close)
	w.world = world
}

// fill makes the ledger's history as large as a busy month leaves it: most of it is others',
// some of it is of the task that is asked for.
func (w *explainedWorld) fill(b *testing.B) {
	b.Helper()
	const of = "CASE WHEN i % 20000 = 0 THEN $1 ELSE md5((i % 50000)::text) END"
	few := explainPast / 10
	for _, table := range []string{"actions", "verdicts"} { // what is filled in is old
		exec(b, w.db, "ALTER TABLE sandkeeper."+table+" DISABLE TRIGGER USER")
		defer exec(b, w.db, "ALTER TABLE sandkeeper."+table+" ENABLE TRIGGER USER")
	}
	for _, sql := range []string{
		`INSERT INTO sandkeeper.timeline (at, subject, kind, what)
		 SELECT now() - interval '1 second' * (3600 + i * 2), 'task:' || ` + of + `, 'state', 'assigned to running'
		 FROM generate_series(1, $2::int * 10) i`,
		`INSERT INTO sandkeeper.findings (rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
		   sighted_at, sightings, due, held_by, opened_at, resolved_at)
		 SELECT 'heartbeat-lost', 'task:' || t, 'daytona', 'old-' || i, t, 'no heartbeat', '[]', at, at, at, 1, true, '{}', at, at
		 FROM (SELECT i, ` + of + ` AS t, now() - interval '1 minute' * i AS at FROM generate_series(1, $2::int) i) x`,
		`INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
		   row_only, outcome, detail, attempts, planned_at, claimed_at, acted_at, closed_at)
		 SELECT 'old-' || i, 'old-' || i, 0, 1, 'heartbeat-lost', 'task:' || t, 'daytona', 'old-' || i, t, 'terminate', 'r', '[]',
		   false, 'confirmed', '', 1, at, at, at, at
		 FROM (SELECT i, ` + of + ` AS t, now() - interval '1 minute' * i AS at FROM generate_series(1, $2::int) i) x`,
		`INSERT INTO sandkeeper.probes (provider, sandbox, outcome, detail, at, took_us)
		 SELECT 'daytona', 'old-' || (i % 30000), 'answered', $1, now() - interval '1 minute' * i, 1000
		 FROM generate_series(1, $2::int) i`,
		`INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region, worker, error, signature,
		   reason, at, late_us, attempt, enforced, cost, per_hour)
		 SELECT 'heartbeat-lost', 'task:' || t, t, 'daytona', 'old-' || i, '', '', '', '', 's' || i % 100, 'r',
		   now() - interval '1 minute' * i, 0, 0, true, 0, 0
		 FROM (SELECT i, ` + of + ` AS t FROM generate_series(1, $2::int) i) x`,
	} {
		exec(b, w.db, sql, w.id, few)
	}
	exec(b, w.db, "VACUUM ANALYZE")
}

// events counts the lines of the ledger's timeline.
func (w *explainedWorld) events(b *testing.B) (n int) {
	b.Helper()
	must(b, w.db.QueryRow(context.Background(), "SELECT count(*) FROM sandkeeper.timeline").Scan(&n))
	return n
}

// measure alternates the bare read, explain on open connections, and the whole program.
func (w *explainedWorld) measure(b *testing.B, what string) time.Duration {
	b.Helper()
	const rounds = 25
	var bare, asked, whole []time.Duration
	w.explain(b) // the first one warms the caches of the catalog
	for range rounds {
		bare = append(bare, timed(func() { w.bare(b) }))
		asked = append(asked, timed(func() { w.explain(b) }))
		whole = append(whole, timed(func() { w.program(b) }))
	}
	one, ask, all := median(bare), median(asked), median(whole)
	p95 := asked[len(asked)*95/100] // median has sorted them
	fmt.Printf("%s: bare SELECT %s, explain %s (p95 %s, bar 100 ms), the whole program %s; explain / bare %.1f\n", what,
		one.Round(10*time.Microsecond), ask.Round(100*time.Microsecond), p95.Round(100*time.Microsecond),
		all.Round(100*time.Microsecond), ask.Seconds()/one.Seconds())
	b.ReportMetric(ask.Seconds()*1000, "ms/explain")
	return ask
}

func (w *explainedWorld) explain(b *testing.B) {
	b.Helper()
	e, err := explain(context.Background(), w.world, nil, w.id)
	must(b, err)
	if e.Whole || e.Task == nil || len(e.Sandboxes) != 1 || !e.Sandboxes[0].Here {
		b.Fatalf("explain looked at everything, or did not find the task: %+v", e)
	}
}

func (w *explainedWorld) program(b *testing.B) {
	b.Helper()
	var errs bytes.Buffer
	if code := execute(context.Background(), []string{"explain", w.id, "-c", w.config}, console.Stdio{Out: io.Discard, Err: &errs}); code != 0 {
		b.Fatalf("explain: exit code %d: %s", code, errs.String())
	}
}

// bare reads what is stored of the task with the statements that anybody would write.
func (w *explainedWorld) bare(b *testing.B) {
	b.Helper()
	n := 0
	for _, sql := range []string{
		"SELECT * FROM tasks WHERE id = $1",
		"SELECT e.* FROM sandbox_events e JOIN tasks t USING (sandbox_id) WHERE t.id = $1",
		"SELECT * FROM sandkeeper.timeline WHERE subject = 'task:' || $1::text ORDER BY at DESC LIMIT 500",
	} {
		rows, err := w.db.Query(context.Background(), sql, w.id)
		must(b, err)
		for rows.Next() {
			n++
		}
		must(b, rows.Err())
	}
	if n < 2 {
		b.Fatalf("bare read got %d rows", n)
	}
}
