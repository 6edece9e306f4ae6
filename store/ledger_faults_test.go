package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var ledgerNoon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return ledgerNoon }

// waiting waits until another connection waits for a lock, and returns its process.
func waiting(t *testing.T, pool *pgxpool.Pool, query string) int {
	t.Helper()
	for t.Context().Err() == nil {
		var pid int
		err := pool.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`, query).Scan(&pid)
		if err == nil {
			return pid
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			t.Fatal(err)
		}
	}
	t.Fatal("nobody waits for a lock")
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
	if diff := cmp.Diff(before, recalled(t, g), cmpopts.EquateEmpty()); diff != "" {
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
	later := NewLedger(g.pool, LedgerOptions{Installation: "test", Clock: anHourLater})
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
	if m := recalled(t, g); len(m.Tasks) != 1 {
		t.Errorf("%d tasks, want the record that was under way", len(m.Tasks))
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

func TestRecallCostsWhatIsAliveNotTheHistory(t *testing.T) {
	g, _ := fleet(t, 2000)
	for _, name := range []string{"ledger_recall_tasks", "ledger_recall_sandboxes"} {
		args := pgx.StrictNamedArgs{"recent": time.Now().Add(-time.Hour)}
		rows, err := g.pool.Query(t.Context(), "EXPLAIN "+queries[name], args)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := drain(rows, scanText)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
			t.Errorf("%s reads a whole table:\n%s", name, text)
		}
	}
	if m := recalled(t, g); len(m.Tasks) != 2000 || len(m.Sandboxes) != 2000 || len(m.Probes) != 2000 {
		t.Errorf("%d tasks, %d sandboxes, %d probes, want 2000 each", len(m.Tasks), len(m.Sandboxes), len(m.Probes))
	}
}

func TestDatabaseClockIsCarriedForwardByTheLocalOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drift
		if _, ok := d.now(); ok {
			t.Error("a clock that was never measured has a now")
		}
		before := time.Now()
		d.measured(before, before.Add(2*time.Second), ledgerNoon)
		time.Sleep(10 * time.Second)
		if got, _ := d.now(); !got.Equal(ledgerNoon.Add(9 * time.Second)) {
			t.Errorf("now = %s, want 9s after noon: it was noon halfway through the measurement", got)
		}
	})
}

func TestLedgerNowIsTheDatabases(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, LedgerOptions{Installation: "test"})
	now := func(read func(context.Context) (time.Time, error)) time.Time {
		at, err := read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	database := func(ctx context.Context) (at time.Time, err error) {
		return at, pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
	}
	before := now(database)
	first := now(g.Now)
	after := now(database)
	// The measurement is wrong by at most half its round trip, which lies between the two.
	slack := after.Sub(before)
	if first.Before(before.Add(-slack)) || first.After(after.Add(slack)) {
		t.Errorf("ledger's now = %s, database's between %s and %s", first, before, after)
	}
	// An hour's difference between the two clocks shows whose is taken.
	g.drift.measured(time.Now(), time.Now(), before.Add(-time.Hour))
	if at := now(g.Now); !at.Before(before) {
		t.Errorf("now = %s, want an hour ago by the last measurement", at)
	}
	if m := recalled(t, g); m.Now.Before(before) {
		t.Errorf("now = %s after a recall, want it measured again", m.Now)
	}
}
