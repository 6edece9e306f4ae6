package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	program "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

var (
	bars    = flag.Bool("bars", false, "measure the daemon; takes minutes, and a machine with nothing else to do")
	barsFor = flag.Duration("idle", 4*time.Minute, "how long the idle daemon is measured")
)

// measured makes an arena whose processes are the program as it is shipped.
func measured(t *testing.T, s settings) *arena {
	t.Helper()
	if !*bars {
		t.Skip("it takes minutes and nobody asked for it: make bench-daemon")
	}
	a := newArena(t, s)
	a.program = filepath.Join(t.TempDir(), "sandkeeper")
	build := program.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", a.program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return a
}

// TestBarsIdle: what `run` costs with nothing to do, on 10,000 tasks and 10,000 sandboxes.
func TestBarsIdle(t *testing.T) {
	a := measured(t, settings{})
	cluster, err := pgtest.Launch(t.Context(), pgtest.Options{Settings: map[string]string{
		"log_statement": "all", "log_line_prefix": "%a|", "log_parameter_max_length": "0",
	}})
	must(t, err)
	t.Cleanup(func() { must(t, cluster.Stop()) })
	a.moveTo(cluster.DSN("postgres"))
	a.manyAtWork(10_000)
	text := strings.Replace(a.configText(), "probe: ", "# probe: ", 1) // as by default
	a.rewrite(strings.Replace(text, "log: {level: warn}", "web: {listen: '127.0.0.1:0'}", 1))
	d := a.daemon("run", "--migrate")
	a.reachesIn(10*time.Minute, "a full pass", func() bool { return a.passes("full") > 0 && a.passes("quick") > 1 })
	before, cpu, from := statements(t, cluster), d.cpu(), time.Now()
	full, quick := a.passes("full"), a.passes("quick")
	a.pass(*barsFor)
	took := time.Since(from)
	spent := d.cpu() - cpu
	after := statements(t, cluster)
	all, queries := 0, 0
	type one struct {
		text  string
		times int
	}
	var most []one
	for text, n := range after {
		if n -= before[text]; n > 0 {
			all += n
			if !framing.MatchString(text) {
				queries += n
			}
			most = append(most, one{text, n})
		}
	}
	slices.SortFunc(most, func(x, y one) int { return y.times - x.times })
	for _, m := range most[:min(80, len(most))] {
		t.Logf("%5d x %.150s", m.times, m.text)
	}
	t.Logf("idle for %s, %d full and %d quick passes: %.2f queries/s (bar 5), %.2f with begin, "+
		"commit and pings; %.2f %% of a core (bar 2 %%), peak memory %s (bar 100 MB)", took.Round(time.Second), a.passes("full")-full, a.passes("quick")-quick,
		float64(queries)/took.Seconds(), float64(all)/took.Seconds(), 100*spent.Seconds()/took.Seconds(), d.peak())
	d.stop()
	if calls := a.cloud.Destructive(); len(calls) > 0 {
		t.Errorf("in a healthy world it ended %d sandboxes", len(calls))
	}
}

// framing is what stands around queries.
var framing = regexp.MustCompile(`^(begin|commit|rollback|savepoint|release|-- ping)`)

// manyAtWork fills both worlds with healthy work.
func (a *arena) manyAtWork(n int) {
	a.Helper()
	a.sql(`INSERT INTO program.tasks (status, sandbox_id, created_at, updated_at, started_at)
		SELECT 'running', 'omoios-' || i, now() - interval '1 hour', now() - interval '9 minutes', now() - interval '9 minutes'
		FROM generate_series(1, $1) i`, n)
	a.sql(`INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		SELECT 'omoios-' || i, (ARRAY['agent.started', 'agent.tool_use', 'agent.heartbeat'])[k], now() - interval '1 second' * (3 - k)
		FROM generate_series(1, $1) i, generate_series(1, 3) k`, n)
	a.sql("ANALYZE")
	for _, id := range collect[struct{ ID string }](a, "SELECT id::text FROM tasks") {
		a.box(id.ID, 9*time.Minute)
	}
	a.configure(settings{dsn: a.dsn, rules: "{heartbeat-lost: {after: 24h}}"})
}

// statements counts what the server was asked by sandkeeper, by text.
func statements(t *testing.T, c *pgtest.Cluster) map[string]int {
	t.Helper()
	u, err := url.Parse(c.DSN("postgres"))
	must(t, err)
	text, err := os.ReadFile(filepath.Join(u.Query().Get("host"), "log"))
	must(t, err)
	out := map[string]int{}
	said := regexp.MustCompile(`(?m)^sandkeeper\|LOG:  (?:statement|execute [^:]*): (.*(?:\n[^|\n]*$)?)`)
	for _, m := range said.FindAllStringSubmatch(string(text), -1) {
		out[strings.Join(strings.Fields(m[1]), " ")]++
	}
	return out
}

// cpu is the time that the process has computed so far.
func (d *daemonChild) cpu() time.Duration {
	d.a.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	must(d.a, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
	var ticks int64
	for _, f := range fields[12:14] { // user and system
		n, err := strconv.ParseInt(f, 10, 64)
		must(d.a, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// peak is the most memory that the process ever had.
func (d *daemonChild) peak() string {
	d.a.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	must(d.a, err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(kb)
	must(d.a, err)
	return fmt.Sprintf("%d MB", n/1000)
}

// reachesIn is reaches with more patience.
func (a *arena) reachesIn(d time.Duration, what string, is func() bool) {
	a.Helper()
	for until := time.Now().Add(d); !is(); a.pass(100 * time.Millisecond) {
		if time.Now().After(until) {
			a.Fatalf("never reached: %s", what)
		}
	}
}

// TestBarsDetection: how long after its threshold something is acted on, in the demo's
// world: 250 tasks, a quick pass every 2 s, a full one every 4 s.
func TestBarsDetection(t *testing.T) {
	a := measured(t, settings{rules: "{stop-ignored: {after: 5s}}",
		more: "schedule: {quick: '@every 2s', full: '@every 4s'}\nweb: {listen: '127.0.0.1:0'}"})
	a.cloud = simulated.New(simulated.Options{DeleteAfter: time.Second})
	server := httptest.NewServer(daytonatest.New(a.cloud, daytonatest.Options{TaskLabel: "task_id"}))
	t.Cleanup(server.Close)
	a.rewrite(strings.Replace(a.configText(), a.url, server.URL+"/api", 1))
	ws := a.working(250)
	d := a.daemon("run", "--migrate")
	a.reaches("a full pass", func() bool { return a.passes("full") > 0 })
	stopped := map[string]time.Time{}
	for _, w := range ws[:40] {
		a.sql("UPDATE tasks SET status = 'cancelled', updated_at = now(), completed_at = now() WHERE id = $1", w.task)
		stopped[w.sandbox] = time.Now()
		a.sql("INSERT INTO program.sandbox_events (sandbox_id, event_type) SELECT sandbox_id, 'agent.heartbeat' FROM tasks WHERE status = 'running'")
		a.pass(200*time.Millisecond + time.Duration(rand.Int64N(int64(900*time.Millisecond))))
	}
	a.reaches("all are ended", func() bool { return len(a.deletes()) == len(stopped) })
	var late []time.Duration
	for _, c := range a.cloud.Destructive() {
		late = append(late, c.At.Sub(stopped[c.ID].Add(5*time.Second)))
	}
	slices.Sort(late)
	t.Logf("from threshold to action: %d stops, median %s, longest %s (bar 3 s: one quick interval and a second)", len(late),
		late[len(late)/2].Round(time.Millisecond), late[len(late)-1].Round(time.Millisecond))
	d.stop()
}

// TestBarsTakeover: from SIGKILL of the process that leads the job queue and is in the
// middle of a pass to the next pass of another, on the default schedules.
func TestBarsTakeover(t *testing.T) {
	a := measured(t, settings{})
	au := a.audited(1, nil)
	a.configure(settings{more: "web: {listen: '127.0.0.1:0'}", call: "10s"})
	a.must("migrate")
	defer au.p.start()()
	for range 3 {
		replicas := []*daemonChild{a.daemon("run"), a.daemon("run"), a.daemon("run")}
		leader := au.among(replicas, "a leader", au.leader)
		lift := a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Hang})
		a.sql("UPDATE sandkeeper.passes SET began_at = began_at - interval '10 minutes', ended_at = ended_at - interval '10 minutes'")
		inPass := au.among(replicas, "a process in its pass", au.leaseholder)
		lift()
		killed := time.Now()
		for _, i := range []int{inPass, leader} {
			if !replicas[i].over() {
				au.kill(replicas[i].child)
			}
		}
		au.soon("a pass of another", func() bool {
			return a.count("SELECT count(*) FROM sandkeeper.passes WHERE began_at > $1", killed) > 0
		})
		t.Logf("the next pass began %s after the kill (bar 20 s)", time.Since(killed).Round(100*time.Millisecond))
		for _, d := range replicas {
			if !d.over() {
				au.stop(d)
			}
		}
	}
}
