package ledger

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestLocks: what a query locks, another process waits for, or passes over where the query
// says so. Races would show it only now and then.
func TestLocks(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, time.Now)
	lease := lockWorld(t, g, pool)
	now := time.Now()
	under := pgx.StrictNamedArgs{"holder": lease.Holder, "epoch": lease.Epoch, "now": now}
	takeover := takeoverOf(lease, now)
	lab := pgx.StrictNamedArgs{"provider": "lab"}
	sandboxes := pgx.StrictNamedArgs{"providers": []string{"lab"}, "sandboxes": []string{"sb-1"}}
	notices := pgx.StrictNamedArgs{"now": now.Add(time.Hour), "most": 9, "shortest": time.Second, "longest": time.Minute}
	planned := pgx.StrictNamedArgs{"ids": []string{"a-1"}, "now": now}
	const claimed = "SELECT FROM sandkeeper.actions WHERE id = 'a-1' FOR UPDATE"
	for name, c := range map[string]struct {
		first     string
		args      any
		second    string
		secondArg any
		waits     bool
	}{
		"a takeover waits for who writes under the lease": {
			queries["fence"], under, queries["lease_take"], takeover, true},
		"two claims": {
			queries["budget_lock"], nil, queries["budget_lock"], nil, true},
		"two who plan": {
			queries["plan_lock"], nil, queries["plan_lock"], nil, true},
		"two who reserve probes": {
			queries["probe_budget_lock"], lab, queries["probe_budget_lock"], lab, true},
		"two who save probes of one sandbox": {
			queries["probe_lock"], sandboxes, queries["probe_lock"], sandboxes, true},
		"a notice that another takes is passed over": {
			queries["notices_take"], notices, queries["notices_take"], notices, false},
		"an action that another is at is not withdrawn": {
			claimed, nil, queries["withdraw_actions"], planned, false},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := begun(t, pool), begun(t, pool)
			if err := run(t, first, c.first, c.args); err != nil {
				t.Fatal(err)
			}
			err := run(t, second, c.second, c.secondArg)
			var refused *pgconn.PgError
			if waited := errors.As(err, &refused) && refused.Code == "55P03"; waited != c.waits || err != nil && !waited {
				t.Errorf("the second one waits: %v (%v), want %v", waited, err, c.waits)
			}
		})
	}
}

// takeoverOf takes a lease from who was read to hold it.
func takeoverOf(read reconcile.Lease, now time.Time) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"holder": "r2", "epoch": read.Epoch + 1, "now": now, "until": now.Add(time.Minute),
		"read_holder": read.Holder, "read_epoch": read.Epoch, "read_until": stamp(read.Until)}
}

// TestLeaseAsRead: of two that read that they may take the lease, one takes it.
func TestLeaseAsRead(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, time.Now)
	read, err := g.TakeLease(t.Context(), "r1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	renewed := takeoverOf(read, time.Now())
	renewed["read_until"] = stamp(read.Until.Add(-time.Second))
	for i, try := range []struct {
		args  pgx.StrictNamedArgs
		takes int64
	}{{renewed, 0}, {takeoverOf(read, time.Now()), 1}, {takeoverOf(read, time.Now()), 0}} {
		tag, err := pool.Exec(t.Context(), queries["lease_take"], try.args)
		if err != nil {
			t.Fatal(err)
		}
		if tag.RowsAffected() != try.takes {
			t.Errorf("try %d takes it %d times, want %d", i, tag.RowsAffected(), try.takes)
		}
	}
}

// lockWorld makes one row of each kind to be locked.
func lockWorld(t *testing.T, g *Ledger, pool *pgxpool.Pool) reconcile.Lease {
	t.Helper()
	ctx := t.Context()
	lease, err := g.TakeLease(ctx, "r1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	pass, err := g.BeginPass(ctx, lease, reconcile.Full, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ref := reconcile.Ref{Provider: "lab", ID: "sb-1"}
	err = g.Record(ctx, lease, reconcile.Record{Pass: pass, Kind: reconcile.Full, Complete: true,
		Sandboxes: []reconcile.SandboxSeen{{Ref: ref, State: reconcile.SandboxRunning}},
		Actions: []reconcile.Action{{ID: "a-1", Remedy: "a-1", Pass: pass, Rule: "orphan", Subject: "sandbox:lab/sb-1",
			Provider: "lab", Sandbox: "sb-1", Step: reconcile.StepTerminate, PlannedAt: time.Now()}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.ReserveProbes(ctx, lease, "lab", 1, 9); err != nil {
		t.Fatal(err)
	}
	_, err = pool.Exec(ctx, `INSERT INTO sandkeeper.notices (action, task, provider, sandbox, rule, step, outcome, reason, at, next_at)
		VALUES ('n-1', 't1', 'lab', 'sb-1', 'orphan', 'fail', 'done', 'drill', now(), now())`)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// begun is a transaction that waits for no lock for long, and leaves nothing behind.
func begun(t *testing.T, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	if err := run(t, tx, "SET LOCAL lock_timeout = '200ms'", nil); err != nil {
		t.Fatal(err)
	}
	return tx
}

func run(t *testing.T, tx pgx.Tx, sql string, args any) error {
	t.Helper()
	var err error
	if args == nil {
		_, err = tx.Exec(t.Context(), sql)
	} else {
		_, err = tx.Exec(t.Context(), sql, args)
	}
	return err
}
