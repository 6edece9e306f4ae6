package vendors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// schema is a platform's table of tasks, of the plainest kind.
const schema = `CREATE TABLE tasks (
	id           text PRIMARY KEY,
	status       text NOT NULL,
	sandbox      text,
	created_at   timestamptz NOT NULL,
	started_at   timestamptz,
	updated_at   timestamptz NOT NULL,
	heartbeat_at timestamptz,
	error        text
)`

// config is for one entry, with the smallest times that are allowed.
const config = `installation: vendors
mode: enforce
proof: off
database: %q
tasks:
  table: public.tasks
  columns: {id: id, status: status, sandbox: sandbox, created_at: created_at, started_at: started_at,
            updated_at: updated_at, heartbeat_at: heartbeat_at, error: error}
  statuses: {running: [running], completed: [completed], failed: [failed]}
  fail: {status: failed, set: {error: "@reason"}}
providers:
  - name: lab
    url: %q
    token: %s
    rate: 1000/s
    timeout: 5s
    probe: {exec: "true", path: %q, every: 2s, timeout: 1s, budget: 1000/m}
    %s
rules:
  orphan: {after: 30s, sightings: 2, apart: 1s}
  idle-broken: {after: 5s, failures: 2}
  sandbox-missing: {after: 1s}
  heartbeat-lost: off
limits: {share: 100%%, breaker: 100%%}
log: {level: warn}
`

// A stage is where the story of one vendor is told: a simulated account behind the vendor's
// protocol, the vendor's own client, a platform's database, and the program.
type stage struct {
	*testing.T
	vendor
	world   *simulated.World
	client  *client
	db      *pgxpool.Pool
	url     string   // of the simulator
	made    []string // ids in the world, by the client's create
	program string
	config  string
}

func open(t *testing.T, v vendor, program string) *stage {
	t.Helper()
	world := simulated.New(simulated.Options{IDs: v.ids})
	world.PutTemplate(simulated.Template{Name: "ready", LastUsedAt: time.Now()})
	server := httptest.NewServer(v.serve(world))
	t.Cleanup(server.Close)
	dsn := pgtest.Database(t)
	db, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	s := &stage{T: t, vendor: v, world: world, db: db, url: server.URL, program: program}
	s.sql(schema)
	s.config = filepath.Join(t.TempDir(), "sandkeeper.yaml")
	text := fmt.Sprintf(config, dsn, server.URL+v.base, key, v.folder,
		strings.ReplaceAll(strings.Join(v.entry, "\n    "), "URL", server.URL))
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.client = newClient(t, v.script, s.url, key)
	return s
}

func (s *stage) sql(query string, args ...any) {
	s.Helper()
	if _, err := s.db.Exec(s.Context(), query, args...); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
}

// task inserts a row that a worker has been at for some minutes. It was heard some minutes
// ago, too.
func (s *stage) task(id role, status, sandbox string) {
	s.Helper()
	s.sql(`INSERT INTO tasks (id, status, sandbox, created_at, started_at, updated_at, heartbeat_at)
		SELECT @id, @status, @sandbox, long, long, long, long FROM (SELECT now() - interval '9 minutes' AS long) AS ago`,
		pgx.StrictNamedArgs{"id": string(id), "status": status, "sandbox": sandbox})
}

// status is a task's status and error.
func (s *stage) status(id role) (status, why string) {
	s.Helper()
	row := s.db.QueryRow(s.Context(), "SELECT status, coalesce(error, '') FROM tasks WHERE id = $1", string(id))
	if err := row.Scan(&status, &why); err != nil {
		s.Fatal(err)
	}
	return status, why
}

// older makes all sandboxes ten minutes older, also those that are gone, so that nobody has
// to wait and all keep their order.
func (s *stage) older() {
	const age = 10 * time.Minute
	ids := s.made
	for _, b := range s.world.Sandboxes() {
		ids = append(ids, b.ID)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		s.world.Change(id, func(b *simulated.Sandbox) {
			b.CreatedAt, b.UpdatedAt = b.CreatedAt.Add(-age), b.UpdatedAt.Add(-age)
			b.LastActivityAt = b.LastActivityAt.Add(-age)
		})
	}
}

// A finding is one of the program's report.
type finding struct {
	Rule, Sandbox, Task, Reason string
	HeldBy                      []struct{ Kind, What, Reason string } `json:"held_by"`
}

// pass lets the workers send a heartbeat, but for the one whose sandbox was deleted around
// it, and the program make a full pass.
func (s *stage) pass() []finding {
	s.Helper()
	s.sql("UPDATE tasks SET heartbeat_at = now() WHERE status = 'running' AND id <> $1", string(deleted))
	cmd := exec.CommandContext(s.Context(), s.program, "once", "--migrate", "-o", "json", "--wait", "10s", "-c", s.config)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.TempDir()}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	err := cmd.Run()
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 3) { // not all is settled yet
		s.Fatalf("once: %v\n%s%s", err, out.String(), errs.String())
	}
	var report struct{ Findings []finding }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		s.Fatalf("once: %v in\n%s%s", err, out.String(), errs.String())
	}
	return report.Findings
}
