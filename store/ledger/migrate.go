package ledger

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are the steps to the schema of this program, in order.
var migrations = loadMigrations()

// A migration brings the schema from the version before to its own. It is never edited
// once it was released.
type migration struct {
	version   int
	name, sql string
}

func loadMigrations() []migration {
	loaded, err := readMigrations(migrationFiles)
	if err != nil {
		panic("embedded migrations: " + err.Error())
	}
	return loaded
}

// readMigrations reads migrations/NNNN_name.sql, numbered from 1 without a hole.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var loaded []migration
	for i, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".sql")
		number, _, _ := strings.Cut(name, "_")
		if version, err := strconv.Atoi(number); err != nil || version != i+1 {
			return nil, fmt.Errorf("%s: its number should be %04d", file, i+1)
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, migration{i + 1, name, string(text)})
	}
	return loaded, nil
}

// schemaTable is made before the first migration: it records the others.
const schemaTable = `CREATE TABLE IF NOT EXISTS sandkeeper.schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL)`

// Migrate brings the schema up to date, all of it or nothing, one process at a time, and
// stamps the ledger with the installation's name. It refuses a ledger that a newer program
// or another installation has made, and one that others could change or plant something in.
func (g *Schema) Migrate(ctx context.Context) error {
	if g.installation == "" {
		return fmt.Errorf("migrate ledger: the installation has no name: set `installation`")
	}
	if err := g.migrate(ctx, migrations); err != nil {
		return fmt.Errorf("migrate ledger: %w", err)
	}
	return nil
}

func (g *Schema) migrate(ctx context.Context, steps []migration) error {
	// Read before the transaction: inside, it would ask the pool for a second connection,
	// and wait for ever once such transactions hold them all.
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	ctx = store.Unhurried(ctx)
	err = pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		// A pool's statement_timeout is for passes; rewriting a table may take longer. Who waits for a lock has all
		// others wait behind it.
		_, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = %d",
			g.migrationWait.Milliseconds()))
		if err != nil {
			return err
		}
		if _, err := exec(ctx, tx, "migration_lock", nil); err != nil {
			return err
		}
		version, err := g.beginSchema(ctx, tx, len(steps))
		if err != nil {
			return err
		}
		if err := g.apply(ctx, tx, steps[version:], now); err != nil {
			return err
		}
		if err := g.unreached(ctx, tx); err != nil {
			return fmt.Errorf("refused, nothing was changed: %w", err)
		}
		return nil
	})
	return g.namesHolder(ctx, err)
}

// namesHolder says of a migration that waited for a lock in vain who holds it.
func (g *Schema) namesHolder(ctx context.Context, err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "55P03" {
		return err
	}
	var holders string
	if one(ctx, g.pool, "migration_holders", nil, &holders) != nil || holders == "" {
		holders = "somebody who has let go of it by now"
	}
	return fmt.Errorf("%w: waited for %s; nothing was changed. The lock is held by %s: end that session "+
		"(pg_terminate_backend), or migrate when it is done", err, g.migrationWait, holders)
}

// beginSchema makes the schema if it is not there, and says which version it has.
func (g *Schema) beginSchema(ctx context.Context, tx pgx.Tx, newest int) (int, error) {
	var there bool
	if err := one(ctx, tx, "schema_named", nil, &there); err != nil {
		return 0, err
	}
	if err := ownSchema(ctx, tx, there); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, schemaTable); err != nil {
		return 0, fmt.Errorf("create table sandkeeper.schema_migrations: %w", err)
	}
	version, err := schemaVersion(ctx, tx)
	if err != nil || version == 0 {
		return 0, err
	}
	if version > newest {
		return 0, newerSchema(version, newest)
	}
	return version, g.mine(ctx, tx)
}

// ownSchema makes the schema, or refuses one that is there and in somebody else's hands.
func ownSchema(ctx context.Context, tx pgx.Tx, there bool) error {
	if !there {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA sandkeeper"); err != nil {
			return fmt.Errorf("create schema sandkeeper: %w", err)
		}
	}
	r, err := reachOf(ctx, tx) // also of a new one: default privileges may have given it away
	if err != nil {
		return err
	}
	return r.refusal()
}

// apply runs the steps that are missing and stamps the ledger.
func (g *Schema) apply(ctx context.Context, tx pgx.Tx, steps []migration, now time.Time) error {
	for _, m := range steps {
		if _, err := tx.Exec(ctx, m.sql); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		_, err := exec(ctx, tx, "schema_applied", pgx.StrictNamedArgs{
			"version": m.version, "name": m.name, "now": now,
		})
		if err != nil {
			return err
		}
	}
	_, err := exec(ctx, tx, "installation_stamp", pgx.StrictNamedArgs{"name": g.installation, "now": now})
	return err
}

// SchemaVersion reads the version of the schema, 0 when it was never migrated, and the
// version that this program needs.
func (g *Schema) SchemaVersion(ctx context.Context) (have, need int, err error) {
	have, err = g.version(ctx, g.pool)
	if err != nil {
		return 0, len(migrations), fmt.Errorf("read ledger's schema version: %w", err)
	}
	return have, len(migrations), nil
}

// version is the schema's version, 0 when there is none. It asks the catalog first, so
// that a role without any grant can tell an empty database.
func (g *base) version(ctx context.Context, q querier) (int, error) {
	var there bool
	if err := one(ctx, q, "schema_exists", nil, &there); err != nil || !there {
		return 0, err
	}
	return schemaVersion(ctx, q)
}

func schemaVersion(ctx context.Context, q querier) (int, error) {
	var version int
	err := one(ctx, q, "schema_version", nil, &version)
	return version, err
}

// errNoSchema means that the ledger was never migrated.
var errNoSchema = errors.New("the ledger has no schema yet: run `sandkeeper migrate`")

// usable refuses a ledger that this program cannot use: of another version, or of another
// installation.
func (g *base) usable(ctx context.Context, q querier) error {
	if g.fit.Load() > 0 {
		return g.still(ctx, q)
	}
	version, err := g.version(ctx, q)
	switch need := len(migrations); {
	case err != nil:
		return err
	case version == 0:
		return errNoSchema
	case version > need:
		return newerSchema(version, need)
	case version < need:
		return fmt.Errorf("the ledger has schema version %d, this program needs %d: run `sandkeeper migrate`",
			version, need)
	}
	if err := g.mine(ctx, q); err != nil {
		return err
	}
	g.fit.Store(time.Now().UnixNano())
	return nil
}

// still is usable of a ledger that was, in one question.
func (g *base) still(ctx context.Context, q querier) error {
	var version int
	var name *string
	err := one(ctx, q, "usable", nil, &version, &name)
	return g.stillFits(ctx, q, version, name, err)
}

// stillFits judges the answer to what usable.sql asks. The name is none once somebody emptied the table.
func (g *base) stillFits(ctx context.Context, q querier, version int, name *string, err error) error {
	var refusal *pgconn.PgError
	switch need := len(migrations); {
	case errors.As(err, &refusal) && missing(refusal):
		return errNoSchema
	case err != nil:
		return err
	case version != need:
		g.fit.Store(0)
		return g.usable(ctx, q)
	case name != nil:
		if err := protocol.CheckInstallation(*name, g.installation); err != nil {
			return err
		}
	}
	g.fit.Store(time.Now().UnixNano())
	return nil
}

// lately is usable, and takes its word for some seconds: a pass that has just taken the
// lease need not ask three things a second time.
func (g *base) lately(ctx context.Context, q querier) error {
	const good = 5 * time.Second
	if ago := time.Since(time.Unix(0, g.fit.Load())); ago >= 0 && ago < good {
		return nil
	}
	return g.usable(ctx, q)
}

func newerSchema(have, need int) error {
	return fmt.Errorf("the ledger has schema version %d, this program knows %d: "+
		"a newer sandkeeper has migrated it, so run that version or a newer one", have, need)
}

// mine refuses the ledger of another installation.
func (g *base) mine(ctx context.Context, q querier) error {
	var name string
	err := one(ctx, q, "installation_name", nil, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // unreachable unless somebody emptied the table: Migrate stamps with the first version
	}
	if err != nil {
		return err
	}
	return protocol.CheckInstallation(name, g.installation)
}
