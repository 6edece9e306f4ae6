package deploy

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/test/ports"
)

// TestProgramWithItsRoles: the verbs do their work with the roles that the grants name for
// them, and no more.
func TestProgramWithItsRoles(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.grant()
	p.logins()
	p.must(`INSERT INTO program.tasks (status, created_at, updated_at)
		VALUES ('assigned', now() - interval '2 hours', now() - interval '1 hour'),
		       ('completed', now() - interval '2 hours', now() - interval '1 hour')`)
	leaked := p.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour), Labels: map[string]string{"project": "omoios"}})

	if got := p.works("reader", "plan"); !strings.Contains(got, "assigned-stale") {
		t.Errorf("plan before the first migrate does not tell of the stale task:\n%s", got)
	}
	if got := p.sandkeeper("keeper", "migrate"); got.code == 0 {
		t.Errorf("the keeper may migrate: %s", got)
	}
	p.works("owner", "migrate")
	if got := p.sandkeeper("reader", "once"); got.code == 0 {
		t.Errorf("the reader may make a pass: %s", got)
	}
	p.statuses("assigned", "completed")
	p.works("keeper", "once", "--wait", "1m")
	p.statuses("completed", "failed")
	for _, args := range [][]string{
		{"hold", "sandbox:" + leaked.ID, "--reason", "look at it"}, {"pause", "--reason", "a test"}, {"resume"}, {"once"},
	} {
		p.works("keeper", args...)
	}
	if got := p.works("reader", "explain", leaked.ID); !strings.Contains(got, "orphan") {
		t.Errorf("explain as reader does not tell of the orphan:\n%s", got)
	}
	if got := p.works("keeper", "check"); strings.Contains(got, "FAIL") || !strings.Contains(got, "grant UPDATE") {
		t.Errorf("check as keeper:\n%s", got)
	}
}

// statuses demands those of all tasks, sorted.
func (p *platform) statuses(want ...string) {
	p.Helper()
	if got := p.status(); !slices.Equal(got, want) {
		p.Errorf("statuses = %q, want %q", got, want)
	}
}

func (p *platform) status() []string {
	p.Helper()
	rows, err := p.admin.Query(p.Context(), "SELECT status::text FROM tasks ORDER BY status")
	if err != nil {
		p.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		p.Fatal(err)
	}
	return got
}

// TestDaemonWithItsRoles: run does its work, its jobs as well, as the keeper, and serve as
// the reader. Neither asks for more.
func TestDaemonWithItsRoles(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.grant()
	p.logins()
	p.works("owner", "migrate")
	p.must(`INSERT INTO program.tasks (status, created_at, updated_at)
		VALUES ('assigned', now() - interval '2 hours', now() - interval '1 hour')`)
	daemon, page := p.start("keeper", "run"), p.start("reader", "serve")
	p.reaches("run fails the stale task", func() bool { return slices.Equal(p.status(), []string{"failed"}) })
	for _, c := range []*child{daemon, page} {
		p.reaches(c.verb+" is ready", func() bool { return c.asks("/readyz", "") == http.StatusOK })
		p.knowsUsers(c)
	}
	for _, c := range []*child{daemon, page} {
		if got := c.stop(); got.code != 0 || strings.Contains(got.errs, "denied") || strings.Contains(got.errs, "42501") {
			t.Errorf("%s: %s", c.verb, got)
		}
	}
}

// A child is sandkeeper while it runs.
type child struct {
	*testing.T
	verb, address string
	cmd           *exec.Cmd
	errs          bytes.Buffer
}

func (p *platform) start(kind, verb string) *child {
	p.Helper()
	c := &child{T: p.T, verb: verb, address: freeAddress(p.T)}
	c.cmd = exec.CommandContext(p.Context(), program(p.T), verb, "-c", p.config(c.address))
	c.cmd.Env = []string{"DATABASE_URL=" + p.dsnOf(kind)}
	c.cmd.Stderr = &c.errs
	if err := c.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	return c
}

// freeAddress is one that nobody listens on at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	at, err := ports.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// knowsUsers: the probes of Kubernetes have no password, all else needs one. What has to be read of the ledger for an
// answer may take longer than its time on a busy machine, and is asked for again.
func (p *platform) knowsUsers(c *child) {
	p.Helper()
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/": http.StatusUnauthorized, "/metrics": http.StatusUnauthorized,
	} {
		for password, want := range map[string]int{"": want, "pw": http.StatusOK} {
			got := 0
			p.reaches(path+" of "+c.verb, func() bool {
				got = c.asks(path, password)
				return got != http.StatusServiceUnavailable
			})
			if got != want {
				p.Errorf("%s: %s with the password %q = %d, want %d", c.verb, path, password, got, want)
			}
		}
	}
}

// asks is the status of an answer, 0 when there is none.
func (c *child) asks(path, password string) int {
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, "http://"+c.address+path, nil)
	if err != nil {
		c.Fatal(err)
	}
	if password != "" {
		r.SetBasicAuth("ana", password)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// stop is what Kubernetes does first.
func (c *child) stop() said {
	c.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.Errorf("stop %s: %v", c.verb, err)
	}
	_ = c.cmd.Wait() // its code tells
	return said{code: c.cmd.ProcessState.ExitCode(), errs: c.errs.String()}
}

// reaches waits until the condition holds, a bounded time.
func (p *platform) reaches(what string, is func() bool) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			p.Fatalf("never reached: %s", what)
		case <-tick.C:
		}
	}
}
