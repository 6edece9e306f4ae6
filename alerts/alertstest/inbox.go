package alertstest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	waitsFor   = regexp.MustCompile(`(?m)^( +)for: .*$`)
	stillWaits = regexp.MustCompile(`(?s)(alert: Sandkeeper(?:Absent|LeakRate)\n.*?)for: 0s`)
	stays      = regexp.MustCompile(`keep_firing_for: (\d+)m`)
	waits      = regexp.MustCompile(`group_(wait|interval): \w+`)
)

// Quicker are rules without the time that each of their alerts waits, and with three seconds for each minute that one
// stays when its cause is gone. That nothing is there at all still waits: a busy
// machine misses a scrape, and what is inhibited just when it is over is never told to be. So does the cost of leaks:
// what a breaker has just let go is ended by the next passes.
func Quicker(rules string) string {
	rules = stays.ReplaceAllStringFunc(rules, func(line string) string {
		minutes, _ := strconv.Atoi(stays.FindStringSubmatch(line)[1]) // they are digits
		return fmt.Sprintf("keep_firing_for: %ds", 3*minutes)
	})
	return stillWaits.ReplaceAllString(waitsFor.ReplaceAllString(rules, "${1}for: 0s"), "${1}for: 30s")
}

// Alertmanager starts one with the shipped example, whose receivers are the inbox, and returns where it listens.
// It waits for so long before it sends, that what keeps another one back has come before that is sent.
func (b *Inbox) Alertmanager(t testing.TB, config, wait string) string {
	t.Helper()
	folder, address := t.TempDir(), free(t)
	config = strings.ReplaceAll(config, "http://127.0.0.1:9095", b.url)
	config = waits.ReplaceAllString(config, "group_$1: "+wait)
	file := filepath.Join(folder, "alertmanager.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	name := "prometheus-alertmanager" // as Debian names it
	if _, err := exec.LookPath(name); err != nil {
		name = "alertmanager"
	}
	run(t, filepath.Join(folder, "log"), Program(t, name), "--config.file="+file,
		"--storage.path="+filepath.Join(folder, "data"), "--web.listen-address="+address,
		"--cluster.listen-address=", "--log.level=warn")
	return address
}

// An Inbox is a webhook receiver of Alertmanager.
type Inbox struct {
	url   string
	mu    sync.Mutex
	heard map[string]map[string]starts // by status, then by receiver and alert
}

// starts are the different times at which an alert began, by its labels.
type starts map[string]map[string]bool

// NewInbox starts one.
func NewInbox(t testing.TB) *Inbox {
	t.Helper()
	b := &Inbox{heard: map[string]map[string]starts{"firing": {}, "resolved": {}}}
	server := httptest.NewServer(http.HandlerFunc(b.take))
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func (b *Inbox) take(_ http.ResponseWriter, r *http.Request) {
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
		of, what := b.heard[a.Status], strings.TrimPrefix(r.URL.Path, "/")+" "+a.Labels["alertname"]
		if of[what] == nil {
			of[what] = starts{}
		}
		labels := fmt.Sprint(a.Labels)
		if of[what][labels] == nil {
			of[what][labels] = map[string]bool{}
		}
		of[what][labels][a.StartsAt] = true
	}
}

// Firing is how often each alert came, by receiver and name; of several with one name the one that came most often.
func (b *Inbox) Firing() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := map[string]int{}
	for what, each := range b.heard["firing"] {
		for _, times := range each {
			n[what] = max(n[what], len(times))
		}
	}
	return n
}

// Wait waits until all of these came, each a receiver and an alert, firing or resolved.
func (b *Inbox) Wait(t testing.TB, status string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
			t.Fatalf("%s did not come: %v; what came: %v", status, missing, b.Firing())
		case <-again.C:
		}
	}
}

// Both waits until all of these came and are resolved.
func (b *Inbox) Both(t testing.TB, repair func(), want ...string) {
	t.Helper()
	b.Wait(t, "firing", want...)
	repair()
	b.Wait(t, "resolved", want...)
}

func (b *Inbox) missing(status string, want []string) (missing []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range want {
		if len(b.heard[status][what]) == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}

// None holds that none of these alerts came to anybody: another alert told their cause.
func (b *Inbox) None(t testing.TB, names ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for what, came := range b.heard["firing"] {
		if _, name, _ := strings.Cut(what, " "); slices.Contains(names, name) {
			t.Errorf("%s came, though another alert tells its cause: %v", what, came)
		}
	}
}

// Suppressed posts alerts to an Alertmanager until one of the alerts of each of the named installations is kept back,
// and reports of each installation whether one of its alerts is. An Alertmanager lists an alert before it holds it
// against the others, so that what it lists first says nothing about what it keeps back.
func Suppressed(t testing.TB, address string, alerts []map[string]any, named []string) map[string]bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	body, err := json.Marshal(alerts)
	if err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		var known []struct {
			Labels map[string]string
			Status struct{ InhibitedBy []string }
		}
		kept := map[string]bool{}
		if ask(ctx, http.MethodPost, address, body, nil) == nil && ask(ctx, http.MethodGet, address, nil, &known) == nil {
			for _, a := range known {
				kept[a.Labels["installation"]] = kept[a.Labels["installation"]] || len(a.Status.InhibitedBy) > 0
			}
		}
		missing := slices.DeleteFunc(slices.Clone(named), func(installation string) bool { return kept[installation] })
		if len(missing) == 0 && len(known) == len(alerts) {
			return kept
		}
		select {
		case <-ctx.Done():
			t.Fatalf("Alertmanager knows %d of %d alerts and keeps back none of %v", len(known), len(alerts), missing)
		case <-again.C:
		}
	}
}

// ask asks an Alertmanager about its alerts, or tells it of some.
func ask(ctx context.Context, method, address string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address+"/api/v2/alerts", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", answer.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
