// Package alertstest runs a real Prometheus and a real Alertmanager, the programs of Debian's packages, and a
// receiver that notes what comes. Tests load what is shipped into them and break a world.
package alertstest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/test/ports"
)

// patience is how long something may take on a loaded machine; it costs time only when a test fails.
const patience = 5 * time.Minute

// Program finds one of the programs of Debian's packages.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not on the PATH: %v; install it with: "+
			"apt-get install --no-install-recommends prometheus prometheus-alertmanager", name, err)
	}
	return path
}

// run runs a program until the test ends.
func run(t testing.TB, logFile, name string, args ...string) {
	t.Helper()
	log, err := os.Create(logFile)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), name, args...)
	c.Stdout, c.Stderr = log, log
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's context has ended: it was told to stop
		_ = c.Wait()
		_ = log.Close()
	})
}

// free is an address on which nobody listens.
func free(t testing.TB) string {
	t.Helper()
	at, err := ports.Address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// A Setup is what a Prometheus is started with.
type Setup struct {
	Targets      []string // hosts with ports whose /metrics it scrapes
	Rules        string   // the text of its rules
	Alertmanager string   // where one listens; "" for none
}

// A Prometheus runs for a test. It evaluates each second and scrapes each third: no scrape may take
// longer than until the next one, and a busy machine makes them late.
type Prometheus struct {
	address string
	log     string // file
}

// Prometheus starts one.
func (s Setup) Prometheus(t testing.TB) *Prometheus {
	t.Helper()
	folder := t.TempDir()
	config := fmt.Sprintf(`{global: {scrape_interval: 3s, scrape_timeout: 3s, evaluation_interval: 1s},
rule_files: [rules.yaml], scrape_configs: [{job_name: sandkeeper, static_configs: [{targets: ["%s"]}]}]`,
		strings.Join(s.Targets, `", "`))
	if s.Alertmanager != "" {
		config += fmt.Sprintf(`, alerting: {alertmanagers: [{static_configs: [{targets: ["%s"]}]}]}`, s.Alertmanager)
	}
	for name, text := range map[string]string{"prometheus.yaml": config + "}", "rules.yaml": s.Rules} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &Prometheus{address: free(t), log: filepath.Join(folder, "log")}
	run(t, p.log, Program(t, "prometheus"), "--config.file="+filepath.Join(folder, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(folder, "tsdb"), "--web.listen-address="+p.address)
	return p
}

// Wait asks until the query has this value.
func (p *Prometheus) Wait(t testing.TB, query, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		got := p.Ask(ctx, query)
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

// Some waits until the query has any value.
func (p *Prometheus) Some(t testing.TB, query string) {
	t.Helper()
	p.Wait(t, "count(count("+query+") > 0)", "1")
}

// Firing waits until an alert fires, or until it does so no more.
func (p *Prometheus) Firing(t testing.TB, name string, want bool) {
	t.Helper()
	query := `count(group by (alertname) (ALERTS{alertname="` + name + `",alertstate="firing"}))`
	if want {
		p.Wait(t, query, "1")
		return
	}
	p.Wait(t, query, "0 values ")
}

// Ask returns the value of a query that has one, else what came instead: how many values, and the error.
func (p *Prometheus) Ask(ctx context.Context, query string) string {
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

// Queries are those that a runbook tells somebody to look at.
func Queries(runbook string) (queries []string) {
	for i, part := range strings.Split(runbook, "```promql\n") {
		if code, _, closed := strings.Cut(part, "```"); i > 0 && closed {
			queries = append(queries, strings.Split(code, "\n\n")...)
		}
	}
	return queries
}
