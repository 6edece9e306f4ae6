package store

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/test/ports"
)

func TestOpenSetsTheSession(t *testing.T) {
	pool, err := Open(t.Context(), pgtest.Database(t), OpenOptions{Name: "tasks", LockTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	want := map[string]string{
		"application_name": "sandkeeper", "lock_timeout": "1s", "statement_timeout": "30s",
		"idle_in_transaction_session_timeout": "5s", "jit": "off",
	}
	for name, value := range want {
		var got string
		if err := pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got); err != nil || got != value {
			t.Errorf("%s = %q, %v, want %q", name, got, err, value)
		}
	}
	if got := pool.Config(); got.MaxConns != 8 || got.PingTimeout <= 0 {
		t.Errorf("pool of %d connections, which are asked for %s whether they live, want 8, and a bound",
			got.MaxConns, got.PingTimeout)
	}
}

// Behind a pooler nothing is asked of a session, and no statement is prepared under a name.
func TestOpenBehindAPooler(t *testing.T) {
	direct := pgtest.Database(t)
	behind := pgtest.Pooled(t, direct)
	for url, want := range map[string]bool{direct: false, behind: true, behind + "&default_query_exec_mode=exec": true,
		behind + "&default_query_exec_mode=simple_protocol": true} {
		pool, err := Open(t.Context(), url, OpenOptions{Own: true})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if got := Pooled(pool); got != want {
			t.Errorf("Pooled at %s = %t, want %t", url, got, want)
		}
		var path string
		for range 3 {
			if err := pool.QueryRow(t.Context(), "SELECT current_setting($1)", "search_path").Scan(&path); err != nil {
				t.Errorf("ask at %s: %v", url, err)
			}
		}
		if mode := pool.Config().ConnConfig.DefaultQueryExecMode; want && mode != pgx.QueryExecModeCacheDescribe {
			t.Errorf("at %s statements are sent by %s: not all of them can be", url, mode)
		}
		if alone := path == "pg_catalog, pg_temp"; alone == want {
			t.Errorf("at %s the path is %s", url, path)
		}
	}
	_, err := Open(t.Context(), behind+"&work_mem=8MB", OpenOptions{})
	if err == nil || !strings.Contains(err.Error(), "leave it out of the URL") {
		t.Errorf("with a setting that a pooler does not pass on: %v", err)
	}
}

// A function that somebody made in the path, and that fits better than the server's own, is not called.
func TestOpenOwnCallsNobodysFunctions(t *testing.T) {
	url := pgtest.Database(t)
	for own, want := range map[bool]string{true: "2", false: "theirs"} {
		pool, err := Open(t.Context(), url, OpenOptions{Own: own})
		if err != nil {
			t.Fatal(err)
		}
		_, err = pool.Exec(t.Context(), `CREATE OR REPLACE FUNCTION public.concat(text) RETURNS text
			LANGUAGE sql AS $$ SELECT 'theirs' $$`)
		var got string
		if err == nil {
			err = pool.QueryRow(t.Context(), "SELECT concat('2'::text)").Scan(&got)
		}
		if pool.Close(); err != nil || got != want {
			t.Errorf("own %t: concat = %q, %v, want %q", own, got, err, want)
		}
	}
}

func TestOpenLeavesWhatTheURLSays(t *testing.T) {
	pool, err := Open(t.Context(), pgtest.Database(t)+"&statement_timeout=7s", OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var got string
	if err := pool.QueryRow(t.Context(), "SHOW statement_timeout").Scan(&got); err != nil || got != "7s" {
		t.Errorf("statement_timeout = %q, %v, want 7s", got, err)
	}
}

func TestOpenErrorsNameTheDatabaseAndHideThePassword(t *testing.T) {
	closed := closedPort(t)
	cases := map[string]struct {
		url  string
		want []string
	}{
		"a # in the password that is not encoded": {
			"postgres://u:pa#s3cret@no-such-host.invalid/db",
			[]string{"tasks database"},
		},
		"a % in the password that is not encoded": {
			"postgres://u:s3cret%zz@h/db",
			[]string{"tasks database", "percent-encoded"},
		},
		"keywords that are cut off": {"host=h password='s3cret", []string{"tasks database"}},
		"nothing listens": {"postgres://ana:s3cret@127.0.0.1:" + closed + "/jobs",
			[]string{"tasks database", `"jobs"`, "127.0.0.1:" + closed, "as ana", "refused", "listen"}},
		"a host that does not exist": {"postgres://ana:s3cret@no-such-host.invalid/jobs",
			[]string{"no-such-host.invalid", "does it resolve"}},
		"a database that does not exist": {strings.Replace(pgtest.Database(t), "/sandkeeper_test_", "/absent_", 1),
			[]string{"tasks database", "does not exist", "CREATE DATABASE"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), c.url, OpenOptions{Name: "tasks", ConnectTimeout: time.Minute})
			if err == nil {
				t.Fatal("it opened")
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("Open(%q) shows the password: %v", c.url, err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Open(%q) = %v, want it to say %q", c.url, err, part)
				}
			}
		})
	}
}

func TestOpenGivesUpOnAServerThatDoesNotAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Open(t.Context(), "postgres://u@"+l.Addr().String()+"/db", OpenOptions{ConnectTimeout: 50 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("Open of a silent server = %v, want no answer in time", err)
	}
}

// closedPort is a port on which nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	port, err := ports.Free(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}
