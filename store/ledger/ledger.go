package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// A Ledger keeps what sandkeeper saw, came to and did in the PostgreSQL schema
// sandkeeper. It is a [reconcile.Ledger]; any number of processes may share one. It is made of
// parts, by who needs them: who only reads takes a [Reader].
type Ledger struct {
	*base
	Keeper
	Operators
	Proofs
	Outbox
	Canaries
	Reader
	Schema
}

// A Keeper is what passes and workers read and write: the lease, what is remembered, passes, actions and probes.
type Keeper struct{ *base }

// Operators is what people ask for: modes, pauses, holds, arms, releases, tokens, and steps by name.
type Operators struct{ *base }

// Proofs are what proves a rule: proofs, curves, thresholds that were learned, and whose turn it is to make them.
type Proofs struct{ *base }

// An Outbox is what is to be sent: notices to the platform, notifications to people.
type Outbox struct{ *base }

// A Reader is what pages, programs, verbs and metrics read. It changes nothing.
type Reader struct{ *base }

// A Schema is the ledger as tables: made, checked, verified and purged.
type Schema struct {
	*base
	tasksLogin    string        // see [Options]
	migrationWait time.Duration // for one lock
}

// base is what all parts of a ledger share.
type base struct {
	pool         *pgxpool.Pool
	installation string
	clock        func() time.Time // nil: the database's
	drift        drift

	seals atomic.Pointer[protocol.Seals]
	fit   atomic.Int64 // when the schema was last seen to be this program's, in nanoseconds; 0: never

	turns   atomic.Int64            // of [Keeper.RecallAgain]
	recalls atomic.Pointer[recalls] // see [Keeper.RecallAgain]; nil before the first, after a failure, and while it reads

	claims chan struct{} // the turn to claim, see [Keeper.Claim]
}

var _ reconcile.Ledger = (*Ledger)(nil)

// Options are a ledger's settings.
type Options struct {
	Installation  string           // the name that the ledger is stamped with
	TasksLogin    string           // another login, on the same server, that must not reach the ledger; "" for none
	MigrationWait time.Duration    // how long a migration waits for a lock that somebody holds; default 1m
	Clock         func() time.Time // the ledger's clock; nil: the database's, shared by all replicas
	Keys          [][]byte         // of the operators; the first signs what they ask for, see [protocol.Seals]
}

// NewLedger makes a ledger over a pool. It touches the database only when it is used.
func NewLedger(pool *pgxpool.Pool, o Options) *Ledger {
	g := &base{pool: pool, installation: o.Installation, clock: o.Clock, claims: make(chan struct{}, 1)}
	g.Seal(o.Keys)
	schema := Schema{base: g, tasksLogin: o.TasksLogin, migrationWait: time.Minute}
	if o.MigrationWait > 0 {
		schema.migrationWait = o.MigrationWait
	}
	return &Ledger{
		base: g, Keeper: Keeper{g}, Operators: Operators{g}, Proofs: Proofs{g}, Outbox: Outbox{g},
		Canaries: Canaries{g}, Reader: Reader{g},
		Schema: schema,
	}
}

// Seal puts other keys of the operators in force, from the next reading on.
func (g *base) Seal(keys [][]byte) {
	g.seals.Store(&protocol.Seals{Installation: g.installation, Keys: keys})
}

// fenced runs do in a transaction that begins by making sure that the lease stands, and
// that keeps anybody from taking it over until the transaction ends.
func (g *base) fenced(ctx context.Context, l reconcile.Lease, do func(tx pgx.Tx, now time.Time) error) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		args := pgx.StrictNamedArgs{"holder": l.Holder, "epoch": l.Epoch, "now": now}
		if err := fence(ctx, tx, "fence", l, args); err != nil {
			return err
		}
		return do(tx, now)
	})
}

// working is fenced for what a worker may do as well: that one needs no lease, because
// each of its writes is guarded by its claim, or by a row lock of its own.
func (g *base) working(ctx context.Context, l reconcile.Lease, do func(tx pgx.Tx, now time.Time) error) error {
	if !l.Worker() {
		return g.fenced(ctx, l, do)
	}
	if err := protocol.CheckWorker(l); err != nil {
		return err
	}
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error { return do(tx, now) })
}

// fence makes sure that the lease stands, by one of the two fencing queries.
func fence(ctx context.Context, tx pgx.Tx, query string, l reconcile.Lease, args pgx.StrictNamedArgs) error {
	tag, err := exec(ctx, tx, query, args)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return protocol.Fenced(l)
	}
	return nil
}

// querier is what a pool, a connection and a transaction have in common.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// exec runs the query of this name.
func exec(ctx context.Context, q querier, name string, args pgx.StrictNamedArgs) (pgconn.CommandTag, error) {
	tag, err := q.Exec(ctx, queries[name], args)
	if err != nil {
		return tag, failed(name, err)
	}
	return tag, nil
}

// one runs the query of this name and scans its first row. No row is [pgx.ErrNoRows].
func one(ctx context.Context, q querier, name string, args pgx.StrictNamedArgs, into ...any) error {
	if err := q.QueryRow(ctx, queries[name], args).Scan(into...); err != nil {
		return failed(name, err)
	}
	return nil
}

// all runs the query of this name and scans every row.
func all[T any](ctx context.Context, q querier, name string, args pgx.StrictNamedArgs,
	scan func(pgx.Rows) (T, error)) ([]T, error) {
	rows, err := q.Query(ctx, queries[name], args)
	if err != nil {
		return nil, failed(name, err)
	}
	found, err := drain(rows, scan)
	if err != nil {
		return nil, failed(name, err)
	}
	return found, nil
}

// missing reports whether a table, or its whole schema, is not there.
func missing(e *pgconn.PgError) bool { return e.Code == "42P01" || e.Code == "3F000" }

// failed names the query that failed, and the fix where there is one.
func failed(name string, err error) error {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return fmt.Errorf("query %s: %w", name, store.Outage("ledger", err))
	}
	switch {
	case missing(refusal):
		return fmt.Errorf("query %s: the ledger has no schema or lacks a table: run `sandkeeper migrate`: %w", name, err)
	case refusal.Code == "42501": // insufficient privilege
		return fmt.Errorf("query %s: grant the role the tables of the schema sandkeeper: %w", name, err)
	}
	return fmt.Errorf("query %s: %w", name, store.Outage("ledger", err))
}

// drain scans and closes rows.
func drain[T any](rows pgx.Rows, scan func(pgx.Rows) (T, error)) ([]T, error) {
	defer rows.Close()
	var found []T
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// counted runs the query of this name, which must change exactly one row, and returns
// otherwise when it changed none.
func counted(ctx context.Context, q querier, name string, args pgx.StrictNamedArgs, otherwise error) error {
	tag, err := exec(ctx, q, name, args)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return otherwise
	}
	return nil
}
