package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestPrometheus: a real one scrapes two replicas with these rules, and sees the alerts that
// the ledger asks for. The first five failures of a kind are seen as five, because their
// counter began at 0.
func TestPrometheus(t *testing.T) {
	t.Parallel() // it mostly waits
	d := &desk{says: reconcile.Measures{Now: noon}}
	one, two := serve(t, d), serve(t, d)
	p := startPrometheus(t, one, two)
	p.wait(t, `count(sandkeeper_findings_opened_total{rule="assigned-stale",provider="daytona"} == 0)`, "2")
	p.wait(t, `count(sandkeeper:findings_opened:total{rule="assigned-stale",provider="daytona"} == 0)`, "1") // recorded as 0, too

	m := full()
	m.Counters = append(m.Counters,
		reconcile.Counter{Name: "findings_opened", Rule: "assigned-stale", Provider: "daytona", Value: 5})
	d.set(m)
	for _, name := range []string{"SandkeeperSystemicFailure", "SandkeeperIncidentOpen", "SandkeeperRuleAutoDisabled"} {
		p.wait(t, `count(ALERTS{alertname="`+name+`",alertstate="firing",installation="prod"})`, "1")
	}
	p.wait(t, `round(sum(increase(sandkeeper:findings_opened:total{rule="assigned-stale"}[30m])))`, "5")
	for _, query := range dashboardQueries(t) {
		p.understands(t, query)
	}
	for _, query := range runbookQueries(t) {
		p.understands(t, query)
	}
}

// dashboardQueries are those of the dashboard, with what Grafana would put into them.
func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	var board struct {
		Title, UID    string
		SchemaVersion int
		Panels        []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal([]byte(Dashboard()), &board); err != nil {
		t.Fatal(err)
	}
	if board.UID == "" || board.SchemaVersion < 36 || len(board.Panels) < 30 {
		t.Fatalf("dashboard %q of schema %d has %d panels", board.UID, board.SchemaVersion, len(board.Panels))
	}
	ids, rows := map[int]bool{}, 0
	for _, panel := range board.Panels {
		if ids[panel.ID] || panel.GridPos.W < 1 || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("panel %d %s: its id is taken or its place is none", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		if panel.Type == "row" {
			rows++
		} else if len(panel.Targets) == 0 {
			t.Errorf("panel %s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			queries = append(queries, strings.NewReplacer("$installation", "prod", "$__rate_interval", "1m").Replace(target.Expr))
		}
	}
	if rows != 6 {
		t.Errorf("%d rows, want health, tasks, sandboxes, stop requests, providers, money", rows)
	}
	return queries
}

// runbookQueries are those that the runbooks tell somebody to look at.
func runbookQueries(t *testing.T) (queries []string) {
	t.Helper()
	for _, name := range Runbooks() {
		text, _ := Runbook(name)
		for i, part := range strings.Split(text, "```promql\n") {
			if code, _, closed := strings.Cut(part, "```"); i > 0 && closed {
				queries = append(queries, strings.Split(code, "\n\n")...)
			}
		}
	}
	if len(queries) < 60 {
		t.Fatalf("%d queries in the runbooks", len(queries))
	}
	return queries
}

// understands wants the query to be one, of series that are exported.
func (p *watcher) understands(t *testing.T, query string) {
	t.Helper()
	if got := p.ask(t.Context(), query); strings.Contains(got, "error") {
		t.Errorf("%s\n%s", query, got)
	}
	for _, name := range ours.FindAllString(query, -1) {
		name = strings.TrimPrefix(name, "sandkeeper_")
		if !slices.Contains(everyName(t), name) {
			t.Errorf("%s\nsandkeeper_%s is not exported", query, name)
		}
	}
}

// serve is one replica; it returns where it listens.
func serve(t *testing.T, l Ledger) string {
	t.Helper()
	server := httptest.NewServer(Handler(l, options()))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A watcher is a Prometheus that runs for a test.
type watcher struct {
	address string
	log     string // file
}

// startPrometheus starts one that scrapes and evaluates each second.
func startPrometheus(t *testing.T, targets ...string) *watcher {
	t.Helper()
	folder := t.TempDir()
	config := fmt.Sprintf(`{global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}, rule_files: [rules.yaml],
scrape_configs: [{job_name: sandkeeper, static_configs: [{targets: [%q]}]}]}`, strings.Join(targets, `", "`))
	config = strings.ReplaceAll(config, `\"`, `"`)
	for name, text := range map[string]string{"prometheus.yaml": config, "rules.yaml": Rules(Site{})} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &watcher{address: free(t), log: filepath.Join(folder, "log")}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program(t, "prometheus"), "--config.file="+filepath.Join(folder, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(folder, "tsdb"), "--web.listen-address="+p.address)
	c.Stdout, c.Stderr = log, log
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended: it was told to stop
		_ = c.Wait()
		_ = log.Close()
	})
	return p
}

// free is an address on which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// wait asks until the query has this value.
func (p *watcher) wait(t *testing.T, query, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		got := p.ask(ctx, query)
		if got == want {
			return
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(p.log)
			t.Fatalf("%s = %s, want %s; its log:\n%s", query, got, want, log)
		case <-again.C:
		}
	}
}

// ask returns the value of a query that has one, else what came instead.
func (p *watcher) ask(ctx context.Context, query string) string {
	address := "http://" + p.address + "/api/v1/query?query=" + url.QueryEscape(query)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err.Error()
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	var body struct {
		Error string
		Data  struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return err.Error()
	}
	if len(body.Data.Result) != 1 {
		return fmt.Sprintf("%d values %s", len(body.Data.Result), body.Error)
	}
	return fmt.Sprint(body.Data.Result[0].Value[1])
}
