package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env names the variable that points tests at a running server instead of a private one.
// Its user must be allowed to create databases and roles.
const Env = "SANDKEEPER_TEST_DATABASE_URL"

// TB is what this package needs of testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
}

// A Server is the PostgreSQL that the tests of one binary share.
type Server struct {
	dsn string // of its maintenance database
}

// shared is the one cluster of a test binary. It is the one piece of state that a package
// keeps here: a test binary has no other place that outlives a test.
var shared struct {
	mu      sync.Mutex
	server  *Server
	cluster *Cluster
}

// Start returns the server that the tests of this binary share, starting it first when
// needed. A test without PostgreSQL fails; it never skips.
func Start(tb TB) *Server {
	tb.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server != nil {
		return shared.server
	}
	if dsn := os.Getenv(Env); dsn != "" {
		shared.server = &Server{dsn: dsn}
		return shared.server
	}
	for _, durable := range []bool{false, true} {
		sweep(base(durable), time.Now())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*readyWithin) // initdb takes about as long
	defer cancel()
	cluster, err := Launch(ctx, Options{})
	if err != nil {
		tb.Fatalf("these tests need a PostgreSQL (or %s set to one): %v", Env, err)
	}
	shared.cluster, shared.server = cluster, &Server{dsn: cluster.DSN("postgres")}
	return shared.server
}

// Database returns the connection URL of a fresh, empty database, which is dropped at the
// end of the test.
func Database(tb TB) string {
	tb.Helper()
	return Start(tb).Database(tb)
}

// Database returns the connection URL of a fresh, empty database on the server, which is
// dropped at the end of the test.
func (s *Server) Database(tb TB) string {
	tb.Helper()
	name := "sandkeeper_test_" + strings.ToLower(rand.Text()[:12])
	if err := createDatabase(tb.Context(), s.dsn, name); err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), readyWithin)
		defer cancel()
		if err := dropDatabase(ctx, s.dsn, name); err != nil {
			tb.Fatalf("%v", err)
		}
	})
	return withDatabase(s.dsn, name)
}

// Main runs the tests, stops the shared cluster and exits.
func Main(m interface{ Run() int }) {
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster != nil {
		if err := shared.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// withDatabase is the same connection string for another database, in either form.
func withDatabase(dsn, name string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return dsn + " dbname=" + name // the last one counts
	}
	u.Path = "/" + name
	return u.String()
}

func createDatabase(ctx context.Context, dsn, name string) error {
	if err := exec1(ctx, dsn, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE template0"); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

func dropDatabase(ctx context.Context, dsn, name string) error {
	if err := exec1(ctx, dsn, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

func exec1(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, sql)
	return err
}
