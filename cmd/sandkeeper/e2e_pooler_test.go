package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestBehindPgBouncer: both databases behind a PgBouncer in transaction mode that the platform uses too, all with its
// settings as they are delivered. What is broken is repaired once, by `once` and by two replicas of `run`, nothing fails
// in between, and the platform finds none of our settings in its own sessions.
func TestBehindPgBouncer(t *testing.T) {
	a := newArena(t, settings{})
	behind := pgtest.Pooled(t, a.dsn)
	a.configure(settings{dsn: behind, more: quickly})
	stop := a.platformGoesOn(behind)
	a.must("migrate")
	if out := a.must("check"); !strings.Contains(out, "a pooler is in between") {
		t.Errorf("check does not tell of the pooler:\n%s", out)
	}
	ws, stale, orphan, stopped := a.damaged()
	a.beat(ws)
	a.watchWrites()
	a.once(0)
	a.later(61*time.Second, ws...)
	a.once(0)
	a.repaired(ws, stale, orphan, stopped)

	replicas := []*daemonChild{a.daemon("run"), a.daemon("run")}
	later := []string{a.stopped(time.Hour).ID, a.stopped(time.Hour).ID, a.stopped(time.Hour).ID}
	for _, id := range later {
		a.reaches("sandbox "+id+" is ended by the daemon", func() bool { return a.ended(id) })
		if n := a.deletes()[id]; n != 1 {
			t.Errorf("the provider was asked %d times to end %s, want once", n, id)
		}
	}
	for _, d := range replicas {
		for _, l := range d.lines() {
			if level := l.text("level"); level == "ERROR" || level == "WARN" {
				t.Errorf("a replica says %v", l)
			}
		}
	}
	a.keeps(ws)
	stop()
}

// platformGoesOn lets the platform ask for its rows by their short names, side by side in several sessions, until it is
// stopped: then none of that has failed, and no session has a time-out or a path that it did not set.
func (a *arena) platformGoesOn(dsn string) (stop func()) {
	a.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		a.Fatal(err)
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	pool, err := pgxpool.NewWithConfig(a.Context(), config)
	if err != nil {
		a.Fatal(err)
	}
	ctx, cancel := context.WithCancel(a.Context())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				var rows int
				var path, timeout string
				err := pool.QueryRow(a.Context(), "SELECT count(*), current_setting('search_path'), "+
					"current_setting('statement_timeout') FROM tasks").Scan(&rows, &path, &timeout)
				if err != nil || path != `"$user", public` || timeout != "0" {
					a.Errorf("the platform reads %d tasks with path %s and time-out %s: %v", rows, path, timeout, err)
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
		pool.Close()
	}
}
