package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// spares are databases that tests hand on to each other: making one takes longer than most
// tests, emptying one takes no time.
var spares = &spareDatabases{}

type spareDatabases struct {
	mu    sync.Mutex
	free  []string
	drops []func()
}

func (s *spareDatabases) take(t *testing.T) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		dsn := s.free[n-1]
		s.free = s.free[:n-1]
		return dsn
	}
	return pgtest.Database(outliving{t, s})
}

// give empties a database for the next test. One that cannot be emptied is not handed on.
func (s *spareDatabases) give(t *testing.T, dsn string, pool *pgxpool.Pool) {
	t.Helper()
	_, err := pool.Exec(
		context.Background(),
		"DROP SCHEMA IF EXISTS sandkeeper, program CASCADE; DROP SCHEMA public CASCADE; "+
			"CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC",
	)
	if err != nil {
		t.Errorf("empty the test's database: %v", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, dsn)
}

// outliving keeps a database beyond the test that made it. Its cleanups run at the end of
// all tests, under the lock that take holds.
type outliving struct {
	*testing.T
	spares *spareDatabases
}

func (l outliving) Cleanup(f func()) { l.spares.drops = append(l.spares.drops, f) }

func (l outliving) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (l outliving) Context() context.Context { return context.Background() }

// withSpares runs the tests and then drops the databases.
type withSpares struct{ m *testing.M }

func (w withSpares) Run() int {
	code := w.m.Run()
	for _, drop := range spares.drops {
		drop()
	}
	return code
}
