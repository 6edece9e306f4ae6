package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A watcher is a program that looks at the daemon from outside, with a page of its own.
type watcher struct {
	*daemon
	url, what string
}

// The names of the programs; Debian's package calls the second one so.
var (
	prometheusNames   = []string{"prometheus"}
	alertmanagerNames = []string{"prometheus-alertmanager", "alertmanager"}
)

// findWatchers says what is missing before anything is started.
func findWatchers(wanted bool) error {
	if !wanted {
		return nil
	}
	_, prometheus := lookFor(prometheusNames)
	_, alertmanager := lookFor(alertmanagerNames)
	return errors.Join(prometheus, alertmanager)
}

// lookFor finds a program by one of its names.
func lookFor(names []string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("--with-prometheus: %s is not on the PATH; install it (Debian, Ubuntu: "+
		"apt-get install --no-install-recommends prometheus prometheus-alertmanager)", names[0])
}

// startWatchers starts Alertmanager, and a Prometheus that reads the daemon's metrics and judges
// them by the alert rules that the program prints.
func (s *demoStage) startWatchers(ctx context.Context, wanted bool) error {
	if !wanted {
		return nil
	}
	if err := s.startAlertmanager(ctx); err != nil {
		return err
	}
	return s.startPrometheus(ctx)
}

// receiver is where an example sends what it has to tell. In the demo its page is what tells.
var receiver = regexp.MustCompile(`(?m)^ *webhook_configs: .*\n`)

func (s *demoStage) startAlertmanager(ctx context.Context) error {
	config, err := s.program.verb(ctx, "alerts", "alertmanager")
	if err != nil {
		return err
	}
	file, err := s.write("alertmanager.yaml", receiver.ReplaceAllString(config+"\n", ""))
	if err != nil {
		return err
	}
	address := addressNear(ctx, "127.0.0.1:9093")
	return s.startWatcher(ctx, alertmanagerNames, address, "Alertmanager: the alerts, grouped and inhibited",
		"--config.file="+file, "--storage.path="+filepath.Join(s.dir, "alertmanager"),
		"--web.listen-address="+address, "--cluster.listen-address=", "--log.level=warn")
}

// prometheusConfig is how the demo is scraped; the blanks are the rules, Alertmanager and the daemon.
const prometheusConfig = `global: {scrape_interval: 2s, evaluation_interval: 2s}
rule_files: [%q]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
scrape_configs:
  - job_name: sandkeeper
    static_configs: [{targets: [%q]}]
`

func (s *demoStage) startPrometheus(ctx context.Context) error {
	rules, err := s.program.verb(ctx, "alerts", "rules")
	if err != nil {
		return err
	}
	rulesFile, err := s.write("rules.yaml", rules+"\n")
	if err != nil {
		return err
	}
	file, err := s.write("prometheus.yaml",
		fmt.Sprintf(prometheusConfig, rulesFile, hostOf(s.watchers[0].url), hostOf(s.url)))
	if err != nil {
		return err
	}
	address := addressNear(ctx, "127.0.0.1:9090")
	return s.startWatcher(ctx, prometheusNames, address, "Prometheus: /alerts shows each rule, with the times it waits",
		"--config.file="+file, "--storage.tsdb.path="+filepath.Join(s.dir, "prometheus"),
		"--web.listen-address="+address, "--log.level=warn")
}

// startWatcher starts one of the programs and waits until its page answers.
func (s *demoStage) startWatcher(ctx context.Context, names []string, address, what string, args ...string) error {
	path, err := lookFor(names)
	if err != nil {
		return err
	}
	d, err := launch(ctx, names[0], filepath.Join(s.dir, names[0]+".log"), path, args...)
	if err != nil {
		return err
	}
	w := &watcher{daemon: d, url: "http://" + address + "/", what: what}
	s.watchers = append(s.watchers, w)
	return w.answers(ctx)
}

// answers waits until the page of a watcher does.
func (w *watcher) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, fmt.Errorf("%s does not answer at %s", w.name, w.url))
	defer cancel()
	for {
		if w.answersNow(ctx) {
			return nil
		}
		select {
		case <-w.ended:
			return w.fault(ctx)
		default:
		}
		if err := reconcile.Sleep(ctx, 100*time.Millisecond); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
}

func (w *watcher) answersNow(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"-/ready", http.NoBody)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// write writes one of the demo's files and returns its path.
func (s *demoStage) write(name, text string) (string, error) {
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write the demo's %s: %w", name, err)
	}
	return path, nil
}

// hostOf is the host and port of an address.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

// addressNear is this address, or another one of the machine where somebody is there already.
func addressNear(ctx context.Context, address string) string {
	// What is started where nothing is free says why it cannot.
	return cmp.Or(vacant(ctx, address), vacant(ctx, anyAddress), address)
}

// vacant is the address, with its port, where nobody is there; "" where somebody is.
func vacant(ctx context.Context, address string) string {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	defer l.Close()
	return l.Addr().String()
}
