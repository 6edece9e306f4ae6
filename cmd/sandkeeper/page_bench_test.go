package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	program "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// What is wanted of the first page of 100,000 sandboxes, and how it is asked for.
const (
	pageTime      = 30 * time.Millisecond // the 99th of a hundred answers
	pageBytes     = 60_000                // compressed
	pageASecond   = 50
	pageFor       = 20 * time.Second
	pagesOpen     = 200
	pageChanges   = 10 // a second
	pageOfOneCore = 0.05
)

// BenchmarkPage asks a process of its own for the first page of 100,000 live sandboxes and 1,000 findings, and then keeps
// 200 pages of it open while the ledger changes.
func BenchmarkPage(b *testing.B) {
	dsn := pgtest.Database(b)
	migrateFleet(b, dsn)
	fillFleet(b, dsn, metricsMany)
	db, err := pgx.Connect(b.Context(), dsn)
	must(b, err)
	defer db.Close(context.Background())
	var boxes, findings int
	must(b, db.QueryRow(b.Context(), `SELECT (SELECT count(*) FROM sandkeeper.sandboxes WHERE gone_at IS NULL),
		(SELECT count(*) FROM sandkeeper.findings WHERE resolved_at IS NULL)`).Scan(&boxes, &findings))
	p := servePages(b, dsn)
	for b.Loop() {
		took, bytes := p.load(b)
		p99 := took[len(took)*99/100]
		fmt.Printf("/ of %s live sandboxes and %s findings, %d requests at %d/s: p50 %s, p99 %s (%.2f of the %s that it may take), "+
			"%d bytes compressed (%.2f of %d)\n", thousands(boxes), thousands(findings), len(took), pageASecond,
			took[len(took)/2].Round(time.Microsecond), p99.Round(time.Microsecond), p99.Seconds()/pageTime.Seconds(), pageTime,
			bytes, float64(bytes)/pageBytes, pageBytes)
		b.ReportMetric(p99.Seconds()/pageTime.Seconds(), "page-bar-ratio")
		core, changes, looks := p.watched(b, db)
		fmt.Printf("%d open pages, %.1f changes/s, %.0f looks/s: %.2f %% of a core (%.2f of the %.0f %% that they may take)\n",
			pagesOpen, changes, looks, 100*core, core/pageOfOneCore, 100*pageOfOneCore)
		b.ReportMetric(core/pageOfOneCore, "live-bar-ratio")
	}
}

// A pageServer is `serve` in a process of its own.
type pageServer struct {
	url    string
	pid    int
	client *http.Client
}

func fleetConfig(dsn string) []byte {
	return fmt.Appendf(nil, `
installation: fleet
mode: enforce
proof: off
database: %q
tasks: {preset: omoios}
web: {listen: '127.0.0.1:0'}
providers:
  - {name: daytona, kind: daytona, token: k, owns: {labels: {project: omoios}}, link: {task_label: task_id}, price_per_hour: 0.08}
`, dsn)
}

func migrateFleet(b *testing.B, dsn string) {
	b.Helper()
	out, err := asProgram(b, dsn, "migrate").CombinedOutput()
	if err != nil {
		b.Fatalf("migrate: %v: %s", err, out)
	}
}

// asProgram is this test as the program, by the config of the fleet.
func asProgram(b *testing.B, dsn string, args ...string) *program.Cmd {
	b.Helper()
	config := filepath.Join(b.TempDir(), "fleet.yaml")
	must(b, os.WriteFile(config, fleetConfig(dsn), 0o600))
	c := program.CommandContext(b.Context(), os.Args[0], append(args, "-c", config)...)
	c.Env = append(os.Environ(), runAsEnv+"=1")
	return c
}

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)

func servePages(b *testing.B, dsn string) *pageServer {
	b.Helper()
	c := asProgram(b, dsn, "serve")
	errs, err := c.StderrPipe()
	must(b, err)
	must(b, c.Start())
	b.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	said := ""
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		said += lines.Text() + "\n"
		if url := pageAddress.FindString(lines.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, errs) }()
			return &pageServer{url, c.Process.Pid, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: pagesOpen}}}
		}
	}
	b.Fatalf("serve said no address:\n%s", said)
	return nil
}

// get asks for a page as a browser does, and returns how many bytes came.
func (p *pageServer) get(ctx context.Context, path string) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Accept-Encoding", "gzip") // said by us, so it is not unpacked here
	a, err := p.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Encoding") != "gzip" {
		return 0, fmt.Errorf("%s: %s, packed %q", path, a.Status, a.Header.Get("Content-Encoding"))
	}
	return io.Copy(io.Discard, a.Body)
}

// load asks for the first page at a steady rate, whether or not the answers keep up.
func (p *pageServer) load(b *testing.B) (took []time.Duration, bytes int64) {
	b.Helper()
	_, err := p.get(b.Context(), "") // connections, plans
	must(b, err)
	var mu sync.Mutex
	var all sync.WaitGroup
	tick := time.NewTicker(time.Second / pageASecond)
	defer tick.Stop()
	for range int(pageFor.Seconds() * pageASecond) {
		<-tick.C
		all.Go(func() {
			began := time.Now()
			n, err := p.get(b.Context(), "")
			mu.Lock()
			defer mu.Unlock()
			if took = append(took, time.Since(began)); err != nil {
				took[len(took)-1] = math.MaxInt64
			}
			bytes = max(bytes, n)
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, bytes
}

// watched opens pages that hear of changes and look at each, as the script does, and returns what share of a core the
// process took while they looked.
func (p *pageServer) watched(b *testing.B, db *pgx.Conn) (core, changes, looks float64) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var open sync.WaitGroup
	var looked, heard, refused atomic.Int64
	for range pagesOpen {
		open.Go(func() { p.watch(ctx, &heard, &looked, &refused) })
	}
	for heard.Load() < pagesOpen && reconcile.Sleep(ctx, 10*time.Millisecond) == nil {
	}
	tick := time.NewTicker(time.Second / pageChanges)
	defer tick.Stop()
	made, before, cpu, from := 0, looked.Load(), p.cpu(b), time.Now()
	for time.Since(from) < pageFor {
		<-tick.C
		_, err := db.Exec(b.Context(), `INSERT INTO sandkeeper.timeline (at, subject, kind, what) VALUES (now(), 'rule:orphan', 'state', 'x')`)
		must(b, err)
		made++
	}
	spent, lasted := p.cpu(b)-cpu, time.Since(from).Seconds()
	cancel()
	open.Wait()
	if n := refused.Load(); n > 0 {
		b.Errorf("%d looks of %d had no answer", n, n+looked.Load())
	}
	return spent.Seconds() / lasted, float64(made) / lasted, float64(looked.Load()-before) / lasted
}

// watch is one open page.
func (p *pageServer) watch(ctx context.Context, heard, looked, refused *atomic.Int64) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"live", nil)
	if err != nil {
		return
	}
	r.Header.Set("Accept", "text/event-stream")
	a, err := p.client.Do(r)
	if err != nil {
		return
	}
	defer a.Body.Close()
	heard.Add(1)
	for lines := bufio.NewScanner(a.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "data:") {
			continue
		}
		switch _, err := p.get(ctx, "?part=live"); {
		case err == nil:
			looked.Add(1)
		case ctx.Err() == nil:
			refused.Add(1)
		}
	}
}

// cpu is what the process took of all cores so far.
func (p *pageServer) cpu(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	must(b, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
	var ticks int64
	for _, f := range fields[12:14] { // user and system
		n, err := strconv.ParseInt(f, 10, 64)
		must(b, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
