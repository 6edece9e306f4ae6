package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { Main(m) }

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatalf("connect to %s: %v", dsn, err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestDatabasesAreFreshAndApart(t *testing.T) {
	one, two := connect(t, Database(t)), connect(t, Database(t))
	if _, err := one.Exec(t.Context(), OmoiOS); err != nil {
		t.Fatalf("load the omoios schema: %v", err)
	}
	var found bool
	err := two.QueryRow(t.Context(), "SELECT to_regclass('public.tasks') IS NOT NULL").Scan(&found)
	if err != nil || found {
		t.Fatalf("the second database has the first one's tables: %v, %v", found, err)
	}
}

func TestDatabaseIsDroppedWithItsTest(t *testing.T) {
	server, name := Start(t), ""
	t.Run("inner", func(t *testing.T) {
		conn := connect(t, server.Database(t))
		if err := conn.QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
			t.Fatal(err)
		}
	})
	var left int
	err := connect(t, server.dsn).QueryRow(t.Context(),
		"SELECT count(*) FROM pg_database WHERE datname = $1", name).Scan(&left)
	if err != nil || name == "" || left != 0 {
		t.Fatalf("database %q is still there: %d, %v", name, left, err)
	}
}

func TestClusterSurvivesKillAndLeavesNothing(t *testing.T) {
	c, err := Launch(t.Context(), Options{TCP: true, Fsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	if err := c.CreateDatabase(t.Context(), "odd name"); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, c.DSN("odd name"))
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 1 AS n"); err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), c.DSN("odd name")); err == nil {
		t.Fatal("a killed server still answers")
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := connect(t, c.DSN("odd name")).QueryRow(t.Context(), "SELECT n FROM kept").Scan(&n); err != nil || n != 1 {
		t.Fatalf("after recovery: %d, %v", n, err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Fatalf("the cluster's directory is still there: %v", err)
	}
}

func TestStandbyTakesOver(t *testing.T) {
	primary, err := Launch(t.Context(), Options{TCP: true, Fsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Stop() })
	standby, err := primary.Standby(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	var follows, follower bool
	sends := connect(t, primary.DSN("postgres"))
	for until := time.Now().Add(readyWithin); !follows; { // the stand-by says so a moment before the primary does
		err := sends.QueryRow(t.Context(), "SELECT pg_sleep(0.02) IS NULL OR EXISTS "+
			"(SELECT FROM pg_stat_replication WHERE state = 'streaming')").Scan(&follows)
		if err != nil || time.Now().After(until) {
			t.Fatalf("the stand-by streams: %t, %v", follows, err)
		}
	}
	if err := primary.End(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, standby.DSN("postgres"))
	if err := conn.QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&follower); err != nil || follower {
		t.Fatalf("it still follows after it was promoted: %t, %v", follower, err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE written AS SELECT 1 AS n"); err != nil {
		t.Fatal(err)
	}
}

func TestLaunchSaysWhyPostgresDidNotStart(t *testing.T) {
	_, err := Launch(t.Context(), Options{Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Fatalf("Launch with a nonsense setting = %v, want the server's own words", err)
	}
}

func TestWithDatabaseKeepsTheRest(t *testing.T) {
	cases := map[string]string{
		"postgres://u:p@h:1/a?sslmode=disable": "postgres://u:p@h:1/b?sslmode=disable",
		"host=h user=u dbname=a":               "host=h user=u dbname=a dbname=b",
	}
	for dsn, want := range cases {
		if got := withDatabase(dsn, "b"); got != want {
			t.Errorf("withDatabase(%q) = %q, want %q", dsn, got, want)
		}
	}
}

func TestVersionInPath(t *testing.T) {
	cases := map[string]int{"/usr/lib/postgresql/15/bin": 15, "/usr/pgsql-9.6/bin": 9, "/usr/bin": 0, "": 0}
	for path, want := range cases {
		if got := versionIn(path); got != want {
			t.Errorf("versionIn(%q) = %d, want %d", path, got, want)
		}
	}
}

func TestSweepRemovesOnlyWhatIsOldAndNotServed(t *testing.T) {
	now, self := time.Now(), strconv.Itoa(os.Getpid())+"\n"
	cases := map[string]struct {
		name, pid string
		age       time.Duration
		left      bool
	}{
		"old, its server ended in order": {"sandkeeper-pg-1", "", abandoned + time.Minute, false},
		"old, its server was killed":     {"sandkeeper-pg-2", "2147483646\n/data", abandoned + time.Minute, false},
		"old, its server runs":           {"sandkeeper-pg-3", self, abandoned + time.Minute, true},
		"old, with an unreadable pid":    {"sandkeeper-pg-4", "?", abandoned + time.Minute, true},
		"young":                          {"sandkeeper-pg-5", "", abandoned - time.Minute, true},
		"something else":                 {"sandkeeper-other", "", abandoned + time.Minute, true},
	}
	base := t.TempDir()
	for _, c := range cases {
		data := filepath.Join(base, c.name, "data")
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.pid != "" {
			if err := os.WriteFile(filepath.Join(data, "postmaster.pid"), []byte(c.pid), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(filepath.Join(base, c.name), now, now.Add(-c.age)); err != nil {
			t.Fatal(err)
		}
	}
	sweep(base, now)
	for name, c := range cases {
		if _, err := os.Stat(filepath.Join(base, c.name)); (err == nil) != c.left {
			t.Errorf("%s: left %v, want %v", name, err == nil, c.left)
		}
	}
}
