package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// The sizes of the fleets whose metrics are measured, and what is wanted of the large one.
const (
	metricsFew, metricsMany = 1_000, 100_000
	metricsBytes            = 200_000
	metricsTime             = 50 * time.Millisecond
)

// BenchmarkMetrics compares the metrics of 100,000 sandboxes with those of a thousand, and with the time that a scrape
// may take. Both alternate in one run, so that what else the machine does weighs on each alike.
func BenchmarkMetrics(b *testing.B) {
	few, many := fleetOf(b, metricsFew), fleetOf(b, metricsMany)
	var ofFew, ofMany []time.Duration
	for b.Loop() {
		for range 15 {
			ofFew = append(ofFew, timed(func() { must(b, few.PrintMetrics(io.Discard)) }))
			ofMany = append(ofMany, timed(func() { must(b, many.PrintMetrics(io.Discard)) }))
		}
	}
	var text bytes.Buffer
	if must(b, many.PrintMetrics(&text)); text.Len() > metricsBytes {
		b.Errorf("the metrics of %s sandboxes are %d bytes, want at most %d", thousands(metricsMany), text.Len(), metricsBytes)
	}
	slices.Sort(ofFew)
	slices.Sort(ofMany)
	small, large := ofFew[len(ofFew)/2], ofMany[len(ofMany)/2]
	fmt.Printf("metrics of %s sandboxes / of %s: %.2f; of the %s that a scrape may take: %.2f\n", thousands(metricsMany),
		thousands(metricsFew), large.Seconds()/small.Seconds(), metricsTime, large.Seconds()/metricsTime.Seconds())
	b.ReportMetric(large.Seconds()/metricsTime.Seconds(), "bar-ratio")
}

// fleetOf is a ledger of so many sandboxes: of each hundred one leaks and one was ended by us within the hour.
func fleetOf(tb testing.TB, sandboxes int) *app.App {
	tb.Helper()
	ctx := context.Background()
	dsn := pgtest.Database(tb)
	c, err := config.Parse("fleet.yaml", fmt.Appendf(nil, `
installation: fleet
mode: enforce
proof: off
database: %q
tasks: {preset: omoios}
providers:
  - {name: daytona, kind: daytona, token: k, owns: {labels: {project: omoios}}, link: {task_label: task_id}, price_per_hour: 0.08}
`, dsn), func(string) (string, bool) { return "", false })
	if err != nil {
		tb.Fatal(err)
	}
	o := &app.Options{Stdio: console.Stdio{Out: io.Discard, Err: io.Discard}}
	a, err := o.OpenLedger(ctx, c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	if err := a.Ledger.Migrate(ctx); err != nil {
		tb.Fatal(err)
	}
	fillFleet(tb, dsn, sandboxes)
	return a
}

func fillFleet(tb testing.TB, dsn string, sandboxes int) {
	tb.Helper()
	db, err := pgx.Connect(tb.Context(), dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close(context.Background())
	for _, statement := range []string{`
		INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, created_at, gone_at, gone_by_us)
		SELECT 'daytona', 'sb-' || i, 'box-' || i, 'task-' || i, 'template-' || i % 20, 'running', 'started',
			now() - interval '2 hours', CASE WHEN i % 100 = 1 THEN now() - interval '1 hour' END, i % 100 = 1
		FROM generate_series(1, @n::int) i`, `
		INSERT INTO sandkeeper.findings (rule, subject, provider, sandbox, task, reason, evidence, opened_at, sightings, due,
			held_by)
		SELECT 'orphan', 'sandbox:daytona/sb-' || i, 'daytona', 'sb-' || i, 'task-' || i, 'why', '[]', now(), 3, true,
			ARRAY['pause: all (drill) by ana']
		FROM generate_series(100, @n::int, 100) i`, `
		INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region, worker, error, signature,
			reason, at, late_us, attempt, enforced, cost, per_hour, over)
		SELECT 'orphan', 'sandbox:daytona/sb-' || i, 'task-' || i, 'daytona', 'sb-' || i, '', '', '', '', '', 'why', now(), 0,
			0, true, 0.1, 0.08, false
		FROM generate_series(1, @n::int) i WHERE i % 100 IN (0, 1)`, `
		INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, ended_at, complete, counts)
		VALUES ('full', 'one', 1, now() - interval '1 second', now(), true, jsonb_build_object('tasks:running', @n::int,
			'sandboxes:daytona:running', @n::int, 'owned:daytona', @n::int, 'foreign:daytona', 0))`,
	} {
		if _, err := db.Exec(tb.Context(), statement, pgx.StrictNamedArgs{"n": sandboxes}); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
	if _, err := db.Exec(tb.Context(), "VACUUM ANALYZE"); err != nil {
		tb.Fatal(err)
	}
}
