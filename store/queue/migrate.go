package queue

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/sandkeeper/sandkeeper/store"
)

// Migrate brings the tables of the job queue up to date, one process at a time.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	ctx = store.Unhurried(ctx)
	if err := withMigrationLock(ctx, pool, func() error { return migrate(ctx, pool) }); err != nil {
		return fmt.Errorf("migrate job queue: %w", err)
	}
	return nil
}

// withMigrationLock runs do while no other process does. The lock has a connection of its own: one of
// the pool's might be the last.
func withMigrationLock(ctx context.Context, pool *pgxpool.Pool, do func() error) error {
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// It waits for the others and then idles while it holds the lock.
		_, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '1min'; "+
			"SET LOCAL idle_in_transaction_session_timeout = 0")
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, queries["migration_lock"]); err != nil {
			return err
		}
		return do()
	})
}

func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	have, err := version(ctx, pool)
	if err != nil {
		return err
	}
	m, err := migrator(pool)
	if err != nil {
		return err
	}
	if have >= newest(m) {
		return nil // also when a newer program was here: River's migrations suit the version before
	}
	if err := makeSchema(ctx, pool); err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// makeSchema makes the schema when it is not there; who may not make one can be given it.
func makeSchema(ctx context.Context, pool *pgxpool.Pool) error {
	var there bool
	if err := pool.QueryRow(ctx, queries["schema_named"]).Scan(&there); err != nil || there {
		return err
	}
	if _, err := pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return fmt.Errorf("create schema %s: %w", schema, err)
	}
	return nil
}

// Current reports whether the tables of the job queue are those that this program needs,
// or newer. It only reads.
func Current(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	have, err := version(ctx, pool)
	if err != nil {
		return false, fmt.Errorf("read the job queue's schema version: %w", err)
	}
	m, err := migrator(pool)
	if err != nil {
		return false, fmt.Errorf("read the job queue's migrations: %w", err)
	}
	return have >= newest(m), nil
}

func migrator(pool *pgxpool.Pool) (*rivermigrate.Migrator[pgx.Tx], error) {
	return rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{
		Schema: schema, Logger: slog.New(slog.DiscardHandler), // it tells of each step; errors come back
	})
}

// newest is the version that this program needs.
func newest(m *rivermigrate.Migrator[pgx.Tx]) int {
	all := m.AllVersions()
	return all[len(all)-1].Version
}

// version is the schema's version, 0 when it was never migrated.
func version(ctx context.Context, pool *pgxpool.Pool) (int, error) {
	var there bool
	if err := pool.QueryRow(ctx, queries["version_table"]).Scan(&there); err != nil || !there {
		return 0, err
	}
	var have int
	err := pool.QueryRow(ctx, queries["version"]).Scan(&have)
	return have, err
}
