package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// No call is ever early: call n of all processes comes at the earliest n gaps after the
// first could have come. A slow machine makes them late, which this allows.
func TestRateOverProcesses(t *testing.T) {
	const perSecond, processes, callers, each = 400, 4, 5, 15
	url := pgtest.Database(t)
	migrated(t, ledgerPool(t, url), nil)
	var rates []*Rate
	for range processes {
		pool := ledgerPool(t, url)
		if err := pool.Ping(t.Context()); err != nil { // connecting would be time in hand
			t.Fatal(err)
		}
		rates = append(rates, NewRate(pool, "daytona", perSecond))
	}
	began := time.Now()
	var mu sync.Mutex
	var calls []time.Time
	var all sync.WaitGroup
	for _, rate := range rates {
		for range callers {
			all.Go(func() {
				for range each {
					if err := rate.Wait(t.Context()); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					calls = append(calls, time.Now())
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	slices.SortFunc(calls, time.Time.Compare)
	if len(calls) != processes*callers*each {
		t.Errorf("%d calls, want %d", len(calls), processes*callers*each)
	}
	for n, at := range calls {
		// The database rounds to microseconds.
		if earliest := began.Add(time.Duration(n)*protocol.Gap(perSecond) - time.Millisecond); at.Before(earliest) {
			t.Fatalf("call %d came %s too early", n, earliest.Sub(at))
		}
	}
}

// rated is a pool with a ledger, and a rate over it that has used its first place.
func rated(t *testing.T, perSecond float64) (*pgxpool.Pool, *Rate) {
	t.Helper()
	pool := ledgerPool(t, pgtest.Database(t))
	migrated(t, pool, nil)
	rate := NewRate(pool, "daytona", perSecond)
	if err := rate.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pool, rate
}

// soon is a context with a deadline that no second call at a slow rate fits, which a slow machine keeps all the same.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestRateRefusesAtOnceWhatCannotFit(t *testing.T) {
	pool, rate := rated(t, 0.01)
	for name, r := range map[string]*Rate{
		"the same process":          rate,
		"another process":           NewRate(pool, "daytona", 0.01),
		"one with another figure":   NewRate(pool, "daytona", 0.02),
		"without a deadline at all": NewRate(pool, "daytona", 0.01),
	} {
		ctx := soon(t)
		if name == "without a deadline at all" {
			ctx = t.Context()
		}
		err := r.Wait(ctx)
		if !errors.Is(err, reconcile.ErrThrottled) || !strings.Contains(err.Error(), "wait for the rate of daytona") {
			t.Errorf("%s: error = %v, want throttled", name, err)
		}
		if ctx.Err() != nil {
			t.Errorf("%s: waited until %v", name, ctx.Err())
		}
	}
	if err := NewRate(pool, "e2b", 0.01).Wait(soon(t)); err != nil {
		t.Errorf("another provider: error = %v, want its own line", err)
	}
}

func TestRateRefusalTakesNoPlace(t *testing.T) {
	pool, rate := rated(t, 0.04)
	before := nextAt(t, pool)
	for range 3 {
		if err := rate.Wait(soon(t)); !errors.Is(err, reconcile.ErrThrottled) {
			t.Fatalf("error = %v, want throttled", err)
		}
	}
	if after := nextAt(t, pool); !after.Equal(before) {
		t.Errorf("the line moved by %s", after.Sub(before))
	}
}

func nextAt(t *testing.T, pool *pgxpool.Pool) time.Time {
	t.Helper()
	var at time.Time
	if err := pool.QueryRow(t.Context(), "SELECT next_at FROM sandkeeper.rates").Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

// A caller that gives up leaves its place, and those behind it learn at once that they
// cannot be in time.
func TestRateOfACallerThatGivesUp(t *testing.T) {
	pool, rate := rated(t, 0.04)
	before := nextAt(t, pool)
	ctx, cancel := context.WithCancelCause(t.Context())
	gave, quit := make(chan error, 1), errors.New("shutting down")
	go func() { gave <- rate.Wait(ctx) }()
	limit := soon(t)
	for nextAt(t, pool).Equal(before) { // until it has its place, the second of two
		if limit.Err() != nil {
			t.Fatal("no place was reserved")
		}
	}
	if err := rate.Wait(soon(t)); !errors.Is(err, reconcile.ErrThrottled) {
		t.Errorf("behind one that waits 25s: error = %v, want throttled", err)
	}
	before = nextAt(t, pool)
	cancel(quit)
	if err := <-gave; !errors.Is(err, quit) || errors.Is(err, reconcile.ErrThrottled) {
		t.Errorf("who gives up: error = %v, want its own", err)
	}
	if err := rate.Wait(soon(t)); !errors.Is(err, reconcile.ErrThrottled) {
		t.Errorf("after one gave up: error = %v, want throttled", err)
	}
	if after := nextAt(t, pool); !after.Equal(before) {
		t.Errorf("the line moved by %s, want the place that was left", after.Sub(before))
	}
	if err := rate.Wait(ctx); !errors.Is(err, quit) {
		t.Errorf("with a context that is over: error = %v, want its own", err)
	}
}

func TestRateAfterAReload(t *testing.T) {
	pool, _ := rated(t, 1)
	faster := NewRate(pool, "daytona", 1000)
	first := nextAt(t, pool)
	if err := faster.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if wait := nextAt(t, pool).Sub(first); wait < time.Millisecond {
		t.Errorf("the line moved by %s, want a place behind the one before", wait)
	}
}

func TestRateWhenTheDatabasesClockRanBack(t *testing.T) {
	pool, rate := rated(t, 100)
	if _, err := pool.Exec(t.Context(), "UPDATE sandkeeper.rates SET next_at = now() + interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	if err := rate.Wait(soon(t)); err != nil {
		t.Errorf("error = %v, want the line to begin anew", err)
	}
}

// TestOverviewTellsTheRate: how far ahead a provider's places are given out, and that there is room where they are over.
func TestOverviewTellsTheRate(t *testing.T) {
	pool, _ := rated(t, 100)
	if _, err := pool.Exec(t.Context(), `UPDATE sandkeeper.rates SET next_at = clock_timestamp() + interval '1 hour';
		INSERT INTO sandkeeper.rates VALUES ('e2b', clock_timestamp() - interval '1 hour')`); err != nil {
		t.Fatal(err)
	}
	o, err := NewLedger(pool, Options{Installation: "test"}).Overview(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	free, known := o.CallsAhead["e2b"]
	if used := o.CallsAhead["daytona"]; len(o.CallsAhead) != 2 || !known || free != 0 || used <= 0 || used > time.Hour {
		t.Errorf("places are given out ahead: %v", o.CallsAhead)
	}
}

func TestRateWithoutLimitAsksNobody(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t)) // never migrated
	for range 3 {
		if err := NewRate(pool, "daytona", 0).Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
	err := NewRate(pool, "daytona", 1).Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), "run `sandkeeper migrate`") {
		t.Errorf("with a limit: error = %v, want one that asks for migrate", err)
	}
}

// TestRateGoesOnWhereItEnded: the time that a question to the database takes is not lost to the rate, and what an idle
// provider did not use is not saved up. A machine that stands still in between loses it, so that one try of many counts.
func TestRateGoesOnWhereItEnded(t *testing.T) {
	pool, _ := rated(t, 100)
	from := func(ended string) (moved time.Duration) {
		if _, err := pool.Exec(t.Context(),
			"UPDATE sandkeeper.rates SET next_at = clock_timestamp() - $1::interval", ended); err != nil {
			t.Fatal(err)
		}
		before := nextAt(t, pool)
		if err := NewRate(pool, "daytona", 100).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		return nextAt(t, pool).Sub(before)
	}
	goesOn := false
	for range 100 {
		goesOn = goesOn || from("1ms") == protocol.Gap(100)
	}
	if !goesOn {
		t.Error("a line that has just ended never goes on where it ended")
	}
	if moved := from("1h"); moved < time.Hour {
		t.Errorf("a line that ended an hour ago moved by %s, want it to begin anew", moved)
	}
}
