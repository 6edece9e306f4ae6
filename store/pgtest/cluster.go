package pgtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/test/ports"
)

// Options say how a cluster is started. The zero value is good for tests.
type Options struct {
	Binaries Binaries          // default: [Find]
	Dir      string            // the directory below which the cluster's own is made; default: in memory, or /tmp
	TCP      bool              // also listen on a free port of 127.0.0.1; default: a unix socket only
	Fsync    bool              // survive a crash of the machine; default: as fast as possible
	Settings map[string]string // further server settings
	Initdb   []string          // further arguments of initdb
}

// A Cluster is a private PostgreSQL server with the superuser postgres, without password.
type Cluster struct {
	options Options
	user    *syscall.Credential
	dir     string
	port    int

	mu   sync.Mutex
	proc *process // nil when it does not run
}

// A process is one run of the server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// Launch makes a cluster and starts it. It ends with [Cluster.Stop], and on Linux also
// with the program.
func Launch(ctx context.Context, o Options) (*Cluster, error) {
	c, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := c.initdb(ctx); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	if err := c.Start(ctx); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

func prepare(ctx context.Context, o Options) (*Cluster, error) {
	var err error
	if o.Binaries == (Binaries{}) {
		if o.Binaries, err = Find(); err != nil {
			return nil, err
		}
	}
	if o.Dir == "" {
		o.Dir = base(o.Fsync)
	}
	c := &Cluster{options: o, port: 5432}
	if o.TCP {
		if c.port, err = ports.Free(ctx); err != nil {
			return nil, err
		}
	}
	if c.user, err = credential(); err != nil {
		return nil, err
	}
	if c.dir, err = makeDir(o.Dir, c.user); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cluster) initdb(ctx context.Context) error {
	args := []string{"-D", c.data(), "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C"}
	cmd := exec.CommandContext(ctx, c.options.Binaries.Initdb, append(args, c.options.Initdb...)...)
	cmd.SysProcAttr, cmd.Dir = attributes(c.user), c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run initdb: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (c *Cluster) data() string    { return filepath.Join(c.dir, "data") }
func (c *Cluster) logFile() string { return filepath.Join(c.dir, "log") }

// Start runs the server and waits until it answers. It does nothing when it runs.
func (c *Cluster) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc != nil {
		return nil
	}
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open PostgreSQL's log: %w", err)
	}
	defer log.Close()
	// The context ends the start, not the server.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.options.Binaries.Postgres, c.arguments()...)
	cmd.SysProcAttr, cmd.Dir, cmd.Stdout, cmd.Stderr = attributes(c.user), c.dir, log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	c.proc = &process{cmd: cmd, ended: make(chan struct{})}
	go c.proc.wait()
	if err := c.ready(ctx); err != nil {
		return errors.Join(err, c.end(syscall.SIGQUIT))
	}
	return nil
}

// wait reaps the server. Its exit code says nothing that its log does not say better.
func (p *process) wait() {
	_ = p.cmd.Wait()
	close(p.ended)
}

func (c *Cluster) arguments() []string {
	args := []string{"-D", c.data(), "-k", c.dir, "-p", strconv.Itoa(c.port)}
	settings := map[string]string{"listen_addresses": "", "max_connections": "200", "timezone": "UTC"}
	if c.options.TCP {
		settings["listen_addresses"] = "127.0.0.1"
	}
	if !c.options.Fsync {
		settings["fsync"], settings["synchronous_commit"], settings["full_page_writes"] = "off", "off", "off"
		settings["max_wal_size"] = "256MB" // it may be in memory
	}
	for name, value := range c.options.Settings {
		settings[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// Command is what a person types to run the server of a cluster that was ended.
func (c *Cluster) Command() string {
	words := append([]string{c.options.Binaries.Postgres}, c.arguments()...)
	for i, w := range words {
		if strings.ContainsFunc(w, special) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	as := ""
	if c.user != nil {
		as = fmt.Sprintf("setpriv --reuid=%d --regid=%d --clear-groups ", c.user.Uid, c.user.Gid)
	}
	return as + strings.Join(words, " ")
}

// special reports whether a shell takes a letter for something else.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-=,:+", r)
}

// readyWithin is how long a server may take until it answers; one that never does must not hang a test.
const readyWithin = 5 * time.Minute

func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errors.New("not within "+readyWithin.String()))
	defer cancel()
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.DSN("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for PostgreSQL to answer: %w: %w", context.Cause(ctx), err)
		case <-c.proc.ended:
			return fmt.Errorf("PostgreSQL ended while it started: %s", c.lastWords())
		case <-tick.C:
		}
	}
}

// lastWords is the end of the server's log.
func (c *Cluster) lastWords() string {
	text, err := os.ReadFile(c.logFile())
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-2000):]))
}

// DSN is the connection URL of one database of the cluster.
func (c *Cluster) DSN(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database}
	if c.options.TCP {
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
		return u.String() + "?sslmode=disable"
	}
	// A blank in the folder's name as PostgreSQL reads it: a plus stands for itself there.
	query := url.Values{"host": {c.dir}, "port": {strconv.Itoa(c.port)}}.Encode()
	return u.String() + "?" + strings.ReplaceAll(query, "+", "%20")
}

// CreateDatabase makes an empty database.
func (c *Cluster) CreateDatabase(ctx context.Context, name string) error {
	return createDatabase(ctx, c.DSN("postgres"), name)
}

// Stop ends the server, cutting its sessions, and removes everything it wrote.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.end(syscall.SIGQUIT), c.remove())
}

// Kill ends the server as a crash does: sessions are cut and nothing is put in order. It
// can be started again with [Cluster.Start], and then recovers.
func (c *Cluster) Kill() error { return c.End(syscall.SIGQUIT) }

// End ends the server by a signal, and waits for it: SIGINT is a fast shutdown, SIGQUIT an
// immediate one, and SIGKILL, which only the first process gets, leaves the sessions to
// find out. It can be started again with [Cluster.Start].
func (c *Cluster) End(s syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end(s)
}

// end signals the server and waits for it; one that does not listen is killed.
func (c *Cluster) end(s syscall.Signal) error {
	if c.proc == nil {
		return nil
	}
	p := c.proc
	c.proc = nil
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end PostgreSQL: %w", err)
	}
	select {
	case <-p.ended:
	case <-time.After(time.Minute): // what is cut off here is in the way of the next start for a moment
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // its process group; gone is as good
		<-p.ended
	}
	return nil
}

func (c *Cluster) remove() error {
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("remove PostgreSQL's directory: %w", err)
	}
	return nil
}
