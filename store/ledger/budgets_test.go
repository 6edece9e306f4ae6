package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// Two processes are two pools: nothing but the database keeps them apart.
func TestBudgetsHoldOverProcesses(t *testing.T) {
	url := pgtest.Database(t)
	one := migrated(t, ledgerPool(t, url), atNoon)
	two := migrated(t, ledgerPool(t, url), atNoon)
	lease, err := one.TakeLease(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	planOrphans(t, one, lease, 40)
	begun := make(chan string, 80)
	var all sync.WaitGroup
	for i := range 80 {
		g := []*Ledger{one, two}[i%2]
		all.Go(func() {
			id := fmt.Sprint("o-", i/2)
			c := reconcile.Claim{Action: id, Pass: 1, TTL: time.Minute, Total: 9, Shared: 7, Hour: 99}
			_, err := g.Claim(t.Context(), lease, c)
			if err == nil {
				begun <- id
			} else if !errors.Is(err, reconcile.ErrHeld) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(begun) != 7 {
		t.Errorf("%d remedies began, want 7", len(begun))
	}
}

// Counting what is left and taking it is one thing: a claim waits for the one before.
func TestClaimsQueueForTheBudgets(t *testing.T) {
	pool, g, lease, tx := budgetsHeld(t, 1)
	_, err := tx.Exec(t.Context(), "UPDATE sandkeeper.actions SET begun_at = $1, begun_pass = 1", ledgerNoon)
	if err != nil {
		t.Fatal(err)
	}
	other := make(chan error, 1)
	go func() {
		_, err := g.Claim(t.Context(), lease, reconcile.Claim{Action: "o-0", Pass: 1, TTL: time.Minute})
		other <- err
	}()
	waiting(t, pool, "budgets")
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-other; err != nil {
		t.Errorf("claim of a remedy that was begun meanwhile: %v, want it to need no budget", err)
	}
}

// TestClaimsOfAProcessTakeTurns: of the many claims of one process no two wait in the database, where each may wait for a
// lock for only so long.
func TestClaimsOfAProcessTakeTurns(t *testing.T) {
	pool, g, lease, tx := budgetsHeld(t, 5)
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			c := reconcile.Claim{Action: fmt.Sprint("o-", i), Pass: 1, TTL: time.Minute, Total: 9, Shared: 9, Hour: 9}
			if _, err := g.Claim(t.Context(), lease, c); err != nil {
				t.Error(err)
			}
		})
	}
	waiting(t, pool, "budgets")
	for range 20 {
		var n int
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock'`).Scan(&n); err != nil || n > 1 {
			t.Fatalf("%d claims wait in the database, error %v, want one", n, err)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

// budgetsHeld is a ledger with so many orphans planned, and a transaction that holds the lock of the budgets.
func budgetsHeld(t *testing.T, orphans int) (*pgxpool.Pool, *Ledger, reconcile.Lease, pgx.Tx) {
	t.Helper()
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	lease, err := g.TakeLease(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	planOrphans(t, g, lease, orphans)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	if _, err := exec(t.Context(), tx, "budget_lock", nil); err != nil {
		t.Fatal(err)
	}
	return pool, g, lease, tx
}

func planOrphans(t *testing.T, g *Ledger, lease reconcile.Lease, n int) {
	t.Helper()
	pass, err := g.BeginPass(t.Context(), lease, reconcile.Full, ledgerNoon)
	if err != nil {
		t.Fatal(err)
	}
	r := reconcile.Record{Pass: pass, Complete: true}
	for i := range n {
		id := fmt.Sprint("o-", i)
		r.Actions = append(r.Actions, reconcile.Action{
			ID: id, Remedy: id, Rule: "orphan", Subject: "sandbox:daytona/" + id, Provider: "daytona", Sandbox: id,
			Step: reconcile.StepTerminate, PlannedAt: ledgerNoon,
		})
	}
	if err := g.Record(t.Context(), lease, r); err != nil {
		t.Fatal(err)
	}
}
