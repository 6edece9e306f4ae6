package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestAlertsArrive: a real Prometheus and a real Alertmanager with what is shipped, but for the waits. The world is
// broken; each alert comes to its receiver, what another one explains does not, none comes twice, and all are
// resolved after the repair.
func TestAlertsArrive(t *testing.T) {
	t.Parallel() // it mostly waits
	d := &desk{says: sound()}
	heard := newInbox(t)
	o := options()
	o.LeakUSD = func() float64 { return 5 }
	server := httptest.NewServer(Handler(d, o))
	t.Cleanup(server.Close)
	target := strings.TrimPrefix(server.URL, "http://")
	p := startPrometheusWith(t, target, startAlertmanager(t, heard.URL), quicker(Rules(Site{})))
	p.wait(t, `count(sandkeeper_ledger_up)`, "1")

	d.set(broken())
	heard.wait(t, "firing", "pager SandkeeperIncidentOpen", "pager SandkeeperBreakerOpen", "pager SandkeeperRuleAutoDisabled",
		"chat SandkeeperCredentialRefused", "chat SandkeeperHoldForgotten",
		"chat SandkeeperTerminationsOverdue", "chat SandkeeperNeedsPerson", "chat SandkeeperPausedForLong")
	for _, name := range inhibited {
		p.wait(t, `count(group by (alertname) (ALERTS{alertname="Sandkeeper`+name+`",alertstate="firing"}))`, "1")
	}
	d.set(sound())
	heard.wait(t, "resolved", "pager SandkeeperIncidentOpen", "pager SandkeeperBreakerOpen", "pager SandkeeperRuleAutoDisabled",
		"chat SandkeeperCredentialRefused", "chat SandkeeperHoldForgotten",
		"chat SandkeeperTerminationsOverdue", "chat SandkeeperNeedsPerson", "chat SandkeeperPausedForLong")

	stopped := sound()
	stopped.Passes = map[reconcile.PassKind]reconcile.PassSeen{
		reconcile.Full: {BeganAt: stopped.Now.Add(-time.Hour), EndedAt: stopped.Now.Add(-time.Hour)}}
	d.set(stopped) // the janitor makes no passes
	heard.wait(t, "firing", "pager SandkeeperPassStale")
	d.set(sound())
	heard.wait(t, "resolved", "pager SandkeeperPassStale")
	d.fail(errors.New("connection refused")) // the ledger is gone
	heard.wait(t, "firing", "pager SandkeeperLedgerDown")
	d.fail(nil)
	d.set(sound())
	heard.wait(t, "resolved", "pager SandkeeperLedgerDown")

	heard.none(t, inhibited)

	d.set(alone()) // each without what would tell its cause
	heard.wait(t, "firing", "chat SandkeeperTemplateUnusable", "chat SandkeeperFrozen", "pager SandkeeperLeakRate")
	d.set(sound())
	heard.wait(t, "resolved", "chat SandkeeperTemplateUnusable", "chat SandkeeperFrozen", "pager SandkeeperLeakRate")
	heard.none(t, []string{"SourceUntrusted"})
	for what, n := range heard.firing() {
		if n != 1 {
			t.Errorf("%s came %d times", what, n)
		}
	}
}

// none holds that none of these came: another alert told their cause.
func (b *inbox) none(t *testing.T, names []string) {
	t.Helper()
	for what := range b.firing() {
		for _, name := range names {
			if strings.HasSuffix(what, " Sandkeeper"+name) {
				t.Errorf("%s came, though another alert tells its cause", what)
			}
		}
	}
}

// alone are the measures of a world with an inactive snapshot, a provider that is down, and leaks, and nothing else.
func alone() reconcile.Measures {
	m := sound()
	m.Templates = []reconcile.TemplateSeen{{Provider: "daytona", Name: "light", State: reconcile.TemplateInactive, LookedAt: m.Now}}
	m.Sources = []reconcile.SourceSeen{{Name: "listing:daytona", Since: m.Now}}
	m.Leaking = []reconcile.Money{{Rule: "orphan", Provider: "daytona", Count: 100, USD: 8}}
	return m
}

// inhibited are the alerts of the broken world whose cause another one tells.
var inhibited = []string{"TemplateUnusable", "SourceUntrusted", "Frozen", "LeakRate"}

// sound are the measures of a world in which nothing is wrong.
func sound() reconcile.Measures {
	now := time.Now()
	return reconcile.Measures{Now: now, Passes: map[reconcile.PassKind]reconcile.PassSeen{
		reconcile.Quick: {BeganAt: now, EndedAt: now}, reconcile.Full: {BeganAt: now, EndedAt: now}}}
}

// broken are those of a world in which much is wrong at once.
func broken() reconcile.Measures {
	m := sound()
	m.Templates = []reconcile.TemplateSeen{{Provider: "daytona", Name: "light", State: reconcile.TemplateInactive, LookedAt: m.Now}}
	m.Sources = []reconcile.SourceSeen{{Name: "credential:daytona", Since: m.Now}, {Name: "listing:daytona", Since: m.Now}}
	m.Leaking = []reconcile.Money{{Rule: "orphan", Provider: "daytona", Count: 100, USD: 8}}
	m.Overdue = 3
	m.Findings = []reconcile.FindingCount{{Rule: "looping", Open: 1, Due: 1}}
	m.Controls = reconcile.Controls{
		Incidents: []reconcile.Incident{{ID: "i-1", Rule: "assigned-stale", Count: 9}},
		Breakers:  map[string]reconcile.Breaker{"duplicate": {}},
		Modes:     map[string]reconcile.Mode{"inactive": reconcile.Observe},
		Lowered:   map[string]reconcile.Lowering{"inactive": {Attribution: reconcile.Attribution{Author: reconcile.AuthorSelf}}},
		Holds:     []reconcile.Hold{{Target: "task:1", At: m.Now.Add(-8 * 24 * time.Hour)}},
		Pauses:    []reconcile.Pause{{Scope: "all"}},
	}
	return m
}

var (
	waitsFor = regexp.MustCompile(`(?m)^( +)for: .*$`)
	waits    = regexp.MustCompile(`group_(wait|interval): \w+`)
)

// quicker are the rules without the time that each waits.
func quicker(rules string) string { return waitsFor.ReplaceAllString(rules, "${1}for: 0s") }

// startAlertmanager starts one with the shipped example, whose receivers are the inbox; it returns where it listens.
func startAlertmanager(t *testing.T, inbox string) string {
	t.Helper()
	folder, address := t.TempDir(), free(t)
	config := strings.ReplaceAll(Alertmanager(), "http://127.0.0.1:9095", inbox)
	// Long enough that what keeps another one back has come before that is sent.
	config = waits.ReplaceAllString(config, "group_$1: 4s")
	file := filepath.Join(folder, "alertmanager.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	name := "prometheus-alertmanager" // as Debian names it
	if _, err := exec.LookPath(name); err != nil {
		name = "alertmanager"
	}
	run(t, filepath.Join(folder, "log"), program(t, name), "--config.file="+file, "--storage.path="+filepath.Join(folder, "data"),
		"--web.listen-address="+address, "--cluster.listen-address=", "--log.level=warn")
	return address
}

// run runs a program until the test ends.
func run(t *testing.T, logFile, name string, args ...string) {
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

// An inbox is a webhook receiver of Alertmanager.
type inbox struct {
	URL   string
	mu    sync.Mutex
	heard map[string]map[string]map[string]bool // by status, then by receiver and alert: the different times it began
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	b := &inbox{heard: map[string]map[string]map[string]bool{"firing": {}, "resolved": {}}}
	server := httptest.NewServer(http.HandlerFunc(b.take))
	t.Cleanup(server.Close)
	b.URL = server.URL
	return b
}

func (b *inbox) take(_ http.ResponseWriter, r *http.Request) {
	var message struct {
		Alerts []struct {
			Status, StartsAt string
			Labels           map[string]string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		return // the sender went away
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range message.Alerts {
		what := strings.TrimPrefix(r.URL.Path, "/") + " " + a.Labels["alertname"]
		if b.heard[a.Status][what] == nil {
			b.heard[a.Status][what] = map[string]bool{}
		}
		b.heard[a.Status][what][a.Labels["kind"]+a.Labels["rule"]+a.Labels["source"]+a.StartsAt] = true
	}
}

// firing is how often each alert came, by receiver and name.
func (b *inbox) firing() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := map[string]int{}
	for what, times := range b.heard["firing"] {
		n[what] = len(times)
	}
	return n
}

// wait waits until all of these came with a status.
func (b *inbox) wait(t *testing.T, status string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		missing := b.missing(status, want)
		if len(missing) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not come: %v; what came: %v", status, missing, b.firing())
		case <-again.C:
		}
	}
}

func (b *inbox) missing(status string, want []string) (missing []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range want {
		if len(b.heard[status][what]) == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}
