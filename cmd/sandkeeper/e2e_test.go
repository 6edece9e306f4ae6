package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// runAsEnv makes the test binary run as sandkeeper, so that it can be killed.
const runAsEnv = "SANDKEEPER_TEST_RUN_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(runAsEnv) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := process(ctx)
		stop()
		os.Exit(code)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // most of them wait, for what hangs on purpose
		panic(err)
	}
	if err := choose(); err != nil {
		panic(err)
	}
	pgtest.Main(withSpares{m})
}

// settings are what a test wants other than the usual config.
type settings struct {
	mode   string // default enforce
	proof  string // default off: what a platform without a history can show is another test's
	link   string // default task_id
	owns   string // default {labels: {project: omoios}, exclusive: true}
	rules  string // a YAML map
	limits string // a YAML map
	probe  string // default quick ones
	token  string
	call   string // time-out of a call, default 20s: an answer may come late on a busy machine
	tasks  string // further keys of tasks, a YAML map without braces
	dsn    string // of the tasks and the ledger; default the test's database
	name   string // installation
	rate   string // default 1000/s
	more   string // lines in place of the log's
}

func (s settings) or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// An arena is one test's world: a database of the platform, a simulated Daytona over
// HTTP, and a config that names both.
type arena struct {
	*testing.T
	dsn    string
	db     *pgxpool.Pool
	cloud  *simulated.World
	url    string
	config string
	books  *pgxpool.Pool // the ledger's database, where it is not the platform's
	key    string        // the provider's; "": key
	env    []string      // further environment of processes

	program string // that processes run; "": this test as the program
}

// pool is the database that a query is for.
func (a *arena) pool(query string) *pgxpool.Pool {
	if a.books != nil && strings.Contains(query, " sandkeeper.") {
		return a.books
	}
	return a.db
}

func newArena(t *testing.T, s settings) *arena {
	t.Helper()
	t.Parallel()
	a := &arena{T: t, dsn: spares.take(t), cloud: simulated.New(simulated.Options{})}
	pool, err := pgxpool.New(t.Context(), a.dsn)
	if err != nil {
		t.Fatal(err)
	}
	dsn := a.dsn
	a.db = pool
	t.Cleanup(func() {
		defer pool.Close()
		spares.give(t, dsn, pool)
	})
	a.sql(pgtest.OmoiOS + pgtest.OmoiOSProgram)
	server := httptest.NewServer(daytonatest.New(a.cloud, daytonatest.Options{TaskLabel: "task_id"}))
	t.Cleanup(server.Close)
	a.url = server.URL + "/api"
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	a.config = filepath.Join(t.TempDir(), "sandkeeper.yaml")
	a.configure(s)
	return a
}

// configure writes the config anew.
func (a *arena) configure(s settings) {
	a.Helper()
	own := a.dsn + "&lock_timeout=60s" // who claims waits for those before it, and a busy machine is slow
	text := fmt.Sprintf(`installation: %s
mode: %s
proof: %s
database: %q
tasks: {preset: omoios%s}
providers:
  - name: daytona
    kind: daytona
    url: %q
    token: %s
    owns: %s
    link: {task_label: %s}
    rate: %s
    timeout: %s
    templates: [ai-agent-dev-light]
    probe: %s
rules: %s
limits: %s
%s
`, s.or(s.name, "test"), s.or(s.mode, "enforce"), s.or(s.proof, "off"), s.or(s.dsn, own), s.tasks, a.url, s.or(s.token, s.or(a.key, "key")),
		s.or(s.owns, "{labels: {project: omoios}, exclusive: true}"), s.or(s.link, "task_id"), s.or(s.rate, "1000/s"),
		s.or(s.call, "20s"),
		s.or(s.probe, `{exec: "true", path: "/", every: 10m, timeout: 10s, budget: 1000/m}`),
		s.or(s.rules, "{}"), s.or(s.limits, "{share: 100%, breaker: 100%}"),
		s.or(s.more, "log: {level: warn}"))
	if err := os.WriteFile(a.config, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
}

func (a *arena) sql(query string, args ...any) {
	a.Helper()
	if _, err := a.db.Exec(a.Context(), query, args...); err != nil {
		a.Fatalf("%s: %v", query, err)
	}
}

// moveTo takes the arena to another database, which is filled with the platform's tables.
func (a *arena) moveTo(dsn string) {
	a.Helper()
	pool, err := pgxpool.New(a.Context(), dsn)
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(pool.Close)
	a.dsn, a.db = dsn, pool
	a.sql(pgtest.OmoiOS + pgtest.OmoiOSProgram)
	a.configure(settings{})
}

// execute is one call of the program: exit code, stdout, stderr.
func (a *arena) run(args ...string) (int, string, string) {
	a.Helper()
	var out, errs bytes.Buffer
	code := execute(a.Context(), append(args, "-c", a.config), console.Stdio{Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

// must is a call that has to end well.
func (a *arena) must(args ...string) string {
	a.Helper()
	code, out, errs := a.run(args...)
	if code != 0 {
		a.Fatalf("sandkeeper %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// patience is how long `once` may act and confirm on a busy machine. It ends sooner when all is done.
const patience = "1m"

// once is a full pass with the exit code that is wanted, and its report.
func (a *arena) once(want int, args ...string) result.Pass {
	a.Helper()
	code, out, errs := a.run(append([]string{"once", "--migrate", "-o", "json", "--wait", patience}, args...)...)
	if code != want {
		a.Fatalf("once: exit code %d, want %d\n%s%s", code, want, out, errs)
	}
	return a.report(out)
}

// doubting is a full pass that does not trust a source. It has failed, or is complete with an exit code of its own.
func (a *arena) doubting() result.Pass {
	a.Helper()
	code, out, errs := a.run("once", "--migrate", "-o", "json", "--wait", patience)
	if says := map[int]string{1: "the pass is not complete: ", verb.NotTrusted: "not trusted: "}[code]; says == "" ||
		!strings.Contains(errs, "sandkeeper: "+says) {
		a.Fatalf("once: exit code %d\n%s%s", code, out, errs)
	}
	return a.report(out)
}

func (a *arena) report(text string) result.Pass {
	a.Helper()
	var r result.Pass
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		a.Fatalf("the report is no JSON: %v\n%s", err, text)
	}
	return r
}
