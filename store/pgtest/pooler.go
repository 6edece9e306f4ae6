package pgtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/test/ports"
)

// pooling is the config of a PgBouncer that gives a connection of the server to each transaction anew.
const pooling = `[databases]
* = host=%s port=%d user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
logfile = %s
`

// Pooled returns the connection URL of the same database behind a PgBouncer in transaction mode, as its package is
// delivered: what a session sets, prepares or listens to is gone, or somebody else's, with the next statement.
func Pooled(tb TB, dsn string) string {
	tb.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			tb.Fatalf("this test needs PgBouncer: install it (Debian, Ubuntu, Homebrew: pgbouncer)")
		}
	}
	to, err := pgx.ParseConfig(dsn)
	if err != nil {
		tb.Fatalf("read the connection URL: %v", err)
	}
	at, err := startPooler(tb, path, to)
	if err != nil {
		tb.Fatalf("start PgBouncer: %v", err)
	}
	u := url.URL{Scheme: "postgres", User: url.User(to.User), Host: at, Path: "/" + to.Database}
	return u.String() + "?sslmode=disable"
}

func startPooler(tb TB, path string, to *pgx.ConnConfig) (address string, err error) {
	port, err := ports.Free(tb.Context())
	if err != nil {
		return "", err
	}
	user, err := credential()
	if err != nil {
		return "", err
	}
	dir, err := makeDir(base(false), user)
	if err != nil {
		return "", err
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) }) // the next run sweeps what is left
	log, config := filepath.Join(dir, "pooler.log"), filepath.Join(dir, "pooler.ini")
	text := fmt.Sprintf(pooling, to.Host, to.Port, to.User, port, log)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return "", err
	}
	// The context ends the start, not the pooler.
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), path, "-q", config)
	cmd.SysProcAttr, cmd.Dir = attributes(user), dir
	if err := cmd.Start(); err != nil {
		return "", err
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // it has nothing to put in order
		_ = cmd.Wait()
	})
	address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return address, answers(tb.Context(), address, log)
}

// answers waits until somebody listens there.
func answers(ctx context.Context, address, log string) error {
	const again = 100 * time.Millisecond
	for range readyWithin / again {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		time.Sleep(again)
	}
	said, _ := os.ReadFile(log) // without it the address says enough
	return fmt.Errorf("nobody answers at %s: %s", address, said)
}
