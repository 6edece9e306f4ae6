package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// A bench has a database server and a folder.
type bench struct {
	flags
	server *pgtest.Cluster
	dir    string
	worlds int
}

func (b *bench) start(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "sandkeeper-bench-"); err != nil {
		return err
	}
	settings := map[string]string{"shared_buffers": "256MB", "jit": "off",
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": "5000"}
	b.server, err = pgtest.Launch(ctx, pgtest.Options{Settings: settings})
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	return nil
}

func (b *bench) stop() {
	if err := errors.Join(b.server.Stop(), os.RemoveAll(b.dir)); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
	}
}

// A world is a database of the platform, and later a provider and a config.
type world struct{ dsn, config string }

// fewEvents is how many events each task has where nothing else is said.
const fewEvents = 3

// fill makes a platform with so many tasks at work, each with three events.
func (b *bench) fill(ctx context.Context, tasks int) (*world, error) {
	return b.fillWith(ctx, tasks, fewEvents)
}

// fillWith makes a platform with so many tasks at work, each with so many events: it started, used tools, and spoke a
// moment ago. The many are as old as the few.
func (b *bench) fillWith(ctx context.Context, tasks, events int) (*world, error) {
	b.worlds++
	name := fmt.Sprintf("fleet%d", b.worlds)
	if err := sql(ctx, b.server.DSN("postgres"), "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	w := &world{dsn: b.server.DSN(name)}
	err := sql(ctx, w.dsn, pgtest.OmoiOS+pgtest.OmoiOSProgram, fmt.Sprintf(`
		INSERT INTO program.tasks (status, sandbox_id, created_at, updated_at, started_at)
		SELECT 'running', 'omoios-' || i, now() - interval '1 hour', now() - interval '9 minutes',
			now() - interval '9 minutes'
		FROM generate_series(1, %d) i`, tasks), fmt.Sprintf(`
		INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at)
		SELECT 'event-' || i || '-' || k, 'omoios-' || i,
			CASE k WHEN 1 THEN 'agent.started' WHEN %[2]d THEN 'agent.heartbeat' ELSE 'agent.tool_use' END,
			now() - CASE k WHEN 1 THEN interval '9 minutes' WHEN %[2]d THEN interval '0'
				ELSE interval '8 minutes' - interval '7 minutes' * (k - 1) / (%[2]d - 2) END
		FROM generate_series(1, %[2]d) k, generate_series(1, %[1]d) i`, tasks, events), "VACUUM ANALYZE")
	if err != nil {
		return nil, fmt.Errorf("fill a database with %d tasks: %w", tasks, err)
	}
	return w, nil
}

func sql(ctx context.Context, dsn string, statements ...string) error {
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	for _, s := range statements {
		if _, err := db.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// configure writes a config for a world and a provider. Nothing is probed: what is measured are passes.
func (b *bench) configure(w *world, url string, rate int) error {
	w.config = filepath.Join(b.dir, fmt.Sprintf("fleet%d.yaml", b.worlds))
	return os.WriteFile(w.config, fmt.Appendf(nil, `
installation: bench
mode: enforce
proof: off
database: %q
tasks: {preset: omoios}
providers:
  - {name: daytona, kind: daytona, url: "%s/api", token: k, owns: {labels: {project: omoios}, exclusive: true},
     link: {task_label: task_id}, rate: %d/s, probe: off}
rules:
  heartbeat-lost: {after: 24h}
  inactive: {after: 24h}
  finished-lingering: {after: 24h}
  orphan: {sightings: 2, apart: 1s}
limits: {per_pass: 100000, share: 100%%, breaker: 100%%, per_hour: 100000}
log: {level: error}
`, w.dsn, url, rate), 0o600)
}
