package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/storetest"
)

var ledgerNoon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return ledgerNoon }

// waiting waits until another connection waits for a lock, and returns its process.
func waiting(t *testing.T, pool *pgxpool.Pool, query string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ; ctx.Err() == nil; _ = reconcile.Sleep(ctx, 10*time.Millisecond) {
		var pid int
		err := pool.QueryRow(ctx, `SELECT pid FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`, query).Scan(&pid)
		if err == nil {
			return pid
		}
		if !errors.Is(err, pgx.ErrNoRows) && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("nobody waits for a lock with %q", query)
	return 0
}

// blocked is a ledger with an open pass and a lock on its timeline, the last table that a
// record writes, until the returned function is called.
func blocked(t *testing.T) (*Ledger, reconcile.Lease, reconcile.Record, func()) {
	t.Helper()
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	lease, err := g.TakeLease(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	pass, err := g.BeginPass(t.Context(), lease, reconcile.Full, ledgerNoon)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE sandkeeper.timeline IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	return g, lease, reconcile.Record{
		Pass: pass, Complete: true, WatchSince: ledgerNoon,
		Tasks:    []reconcile.TaskSeen{{ID: "t", Live: true}},
		Findings: []reconcile.Finding{{Rule: "orphan", Subject: "task:t"}},
		Events:   []reconcile.TimelineEvent{{At: ledgerNoon, Subject: "task:t", Kind: "seen", What: "seen"}},
	}, func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }
}

func TestRecordOfAKilledConnectionLeavesNothing(t *testing.T) {
	g, lease, record, release := blocked(t)
	defer release()
	before := recalled(t, g)
	failed := make(chan error, 1)
	go func() { failed <- g.Record(t.Context(), lease, record) }()
	pid := waiting(t, g.pool, "timeline")
	if _, err := g.pool.Exec(t.Context(), "SELECT pg_terminate_backend($1)", pid); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "record pass") {
		t.Errorf("record over a killed connection: error = %v, want one", err)
	}
	if diff := cmp.Diff(before, recalled(t, g), cmpopts.EquateEmpty(), storetest.Remembers); diff != "" {
		t.Errorf("memories differ after a killed record (-before +after):\n%s", diff)
	}
	release()
	if err := g.Record(t.Context(), lease, record); err != nil {
		t.Errorf("the same record again: %v", err)
	}
}

func TestTakeoverWaitsForARecordUnderWay(t *testing.T) {
	g, lease, record, release := blocked(t)
	defer release()
	done := make(chan error, 2)
	go func() { done <- g.Record(t.Context(), lease, record) }()
	waiting(t, g.pool, "timeline")

	anHourLater := func() time.Time { return ledgerNoon.Add(time.Hour) }
	later := NewLedger(g.pool, Options{Installation: "test", Clock: anHourLater})
	if err := g.RenewLease(t.Context(), lease, time.Minute); err != nil {
		t.Errorf("renewing beside a record: %v", err)
	}
	go func() {
		_, err := later.TakeLease(t.Context(), "two", time.Minute)
		done <- err
	}()
	waiting(t, g.pool, "FOR UPDATE")
	release()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if m := recalled(t, g); m.Tasks.Len() != 1 {
		t.Errorf("%d tasks, want the record that was under way", m.Tasks.Len())
	}
	if err := g.RenewLease(t.Context(), lease, time.Minute); !errors.Is(err, reconcile.ErrFenced) {
		t.Errorf("renewing a lease that was taken over: error = %v, want fenced", err)
	}
}

func recalled(t *testing.T, g *Ledger) reconcile.Memory {
	t.Helper()
	m, err := g.Recall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}
