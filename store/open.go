package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// OpenOptions say how a database is opened. Zero values are good defaults.
type OpenOptions struct {
	Name             string        // which database it is, for errors: "tasks" or "ledger"
	MaxConns         int32         // default 8
	ConnectTimeout   time.Duration // default 10s
	LockTimeout      time.Duration // default 3s
	StatementTimeout time.Duration // default 30s

	// Own says that all that is asked for is named with its schema: what others may have made in the path of the
	// role, as a function of a name that the server's own has, is never called.
	Own bool
}

func (o OpenOptions) filled() OpenOptions {
	o.Name = First(o.Name, "sandkeeper")
	if o.MaxConns <= 0 {
		o.MaxConns = 8
	}
	o.ConnectTimeout = positive(o.ConnectTimeout, 10*time.Second)
	o.LockTimeout = positive(o.LockTimeout, 3*time.Second)
	o.StatementTimeout = positive(o.StatementTimeout, 30*time.Second)
	return o
}

func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Open connects to a database and looks that it answers, itself or through a pooler, see [Pooled]. No error of it
// shows the password.
func Open(ctx context.Context, url string, o OpenOptions) (*pgxpool.Pool, error) {
	o = o.filled()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The cause is left out: it may quote a part of the URL, which has the password.
		return nil, fmt.Errorf("read the connection URL of the %s database: it cannot be parsed; it has the form "+
			"postgres://user:password@host:5432/database, with characters like # / ? @ %% in the password "+
			"percent-encoded", o.Name)
	}
	o.apply(config)
	if err := o.look(ctx, config); err != nil {
		return nil, unreachable(o.Name, config.ConnConfig.Config, err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, unreachable(o.Name, config.ConnConfig.Config, err)
	}
	return pool, nil
}

// apply bounds the pool and every session. What the URL itself says about a session wins.
func (o OpenOptions) apply(config *pgxpool.Config) {
	describe(config)
	config.MaxConns, config.MinConns = o.MaxConns, 0
	config.MaxConnIdleTime, config.MaxConnLifetime = 5*time.Minute, 30*time.Minute
	config.MaxConnLifetimeJitter = 5 * time.Minute
	config.ConnConfig.ConnectTimeout = o.ConnectTimeout
	// A connection that was used a moment ago is not asked whether it lives, as it would be
	// after a second: a daemon at rest would ask more than it works.
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool {
		return p.IdleDuration > 10*time.Second
	}
	// One after the other is asked until one lives. After the way to the server was cut
	// without a word, none of them does, and whoever wants one waits for all of that.
	config.PingTimeout = 2 * time.Second
	for name, value := range o.session() {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	if o.Own {
		config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "SET search_path = pg_catalog, pg_temp")
			return err
		}
	}
	config.ConnConfig.Tracer = timeoutFor(config.ConnConfig.RuntimeParams["statement_timeout"])
}

// session is what each session is asked to be.
func (o OpenOptions) session() map[string]string {
	millis := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	return map[string]string{
		"application_name":  "sandkeeper",
		"lock_timeout":      millis(o.LockTimeout),
		"statement_timeout": millis(o.StatementTimeout),
		// No statement is so long that compiling it would pay; one that reads much at once may seem so.
		"jit": "off",
		// A process that hangs inside a transaction must not keep rows locked: a task's, or
		// those that each pass of the others writes. None waits there for anything outside.
		"idle_in_transaction_session_timeout": millis(min(o.StatementTimeout, 5*time.Second)),
	}
}

// An unreachableError says which database does not answer, without the password.
type unreachableError struct {
	said  string
	cause error
}

func (e *unreachableError) Error() string { return e.said }

func (e *unreachableError) Unwrap() error { return e.cause }

func unreachable(name string, c pgconn.Config, err error) error {
	said := fmt.Sprintf("reach the %s database %q at %s as %s: %s", name, c.Database, hostOf(c), c.User, OneLine(err))
	if fix := openFix(c, err); fix != "" {
		said += "; " + fix
	}
	if c.Password != "" {
		said = strings.ReplaceAll(said, c.Password, "xxxxx")
	}
	return &unreachableError{said: said, cause: err}
}

// hostOf names the server, or all of those that an address names.
func hostOf(c pgconn.Config) string {
	hosts := []string{place(c.Host, c.Port)}
	for _, f := range c.Fallbacks {
		if at := place(f.Host, f.Port); !slices.Contains(hosts, at) {
			hosts = append(hosts, at)
		}
	}
	return strings.Join(hosts, ", ")
}

func place(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// OneLine is the last cause, which is the one that says something new.
func OneLine(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Message
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// openFix is what fixes the usual causes.
func openFix(c pgconn.Config, err error) string {
	var pg *pgconn.PgError
	var dns *net.DNSError
	switch {
	case errors.As(err, &pg):
		return serverFix(c, pg)
	case errors.As(err, &dns):
		return "is the host name right, and does it resolve from here?"
	case errors.Is(err, context.DeadlineExceeded):
		return "is the address right, and does a firewall or network policy let this machine through?"
	case errors.Is(err, context.Canceled):
		return ""
	}
	return "does the server run there, and does it listen on that address?"
}

func serverFix(c pgconn.Config, e *pgconn.PgError) string {
	switch {
	case e.Code == "28P01" || e.Code == "28000":
		return "check the user and the password, and the server's pg_hba.conf"
	case e.Code == "3D000":
		return "CREATE DATABASE " + Quoted(c.Database) + ", or correct the URL"
	case e.Code == "42501":
		return "GRANT CONNECT ON DATABASE " + Quoted(c.Database) + " TO " + Quoted(c.User)
	case e.Code == "53300":
		return "the server has no connection left: raise max_connections or lower what else connects"
	case e.Code == "57P03":
		return "the server is starting up or shutting down: try again"
	case refusesParameters(e):
		return "leave it out of the URL, name it in PgBouncer's ignore_startup_parameters, or connect to PostgreSQL itself"
	}
	return ""
}

// First is the first text that says something.
func First(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Quoted is a name as an SQL identifier.
func Quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// Literal is a text as an SQL constant.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
