package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// quickly is a schedule for tests, with a page on any free port.
const quickly = `schedule: {quick: "@every 1s", full: "@every 2s"}
web: {listen: "127.0.0.1:0"}
log: {level: info}`

// seldomFull is one full pass, and then quick ones only.
const seldomFull = `schedule: {quick: "@every 1s", full: "@every 1h"}
web: {listen: "127.0.0.1:0"}
log: {level: info}`

// A daemonChild is a `run` or a `serve` in a process of its own.
type daemonChild struct {
	*child
	a *arena
}

// daemon starts the program and waits until it says where its page is.
func (a *arena) daemon(args ...string) *daemonChild {
	a.Helper()
	d := &daemonChild{a.spawn(args...), a}
	d.says("page")
	a.Cleanup(func() {
		if a.Failed() {
			a.Logf("%s of process %d said:\n%s", args[0], d.cmd.Process.Pid, tail(d.errs.String(), 6000))
		}
	})
	return d
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }

// A line is one entry of the log.
type line map[string]any

func (l line) text(key string) string { return fmt.Sprint(l[key]) }

// lines are the entries that the process has written so far.
func (c *child) lines() (out []line) {
	for text := range strings.Lines(c.errs.String()) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil {
			out = append(out, l)
		}
	}
	return out
}

// said is the first entry that has the key.
func (c *child) said(key string) (line, bool) {
	for _, l := range c.lines() {
		if _, ok := l[key]; ok {
			return l, true
		}
	}
	return nil, false
}

// logged are the entries with this message.
func (c *child) logged(msg string) (out []line) {
	for _, l := range c.lines() {
		if l.text("msg") == msg {
			out = append(out, l)
		}
	}
	return out
}

func (d *daemonChild) says(key string) line {
	d.a.Helper()
	var found line
	d.a.reaches("log entry with "+key+" of "+strings.Join(d.cmd.Args[1:], " "), func() bool {
		l, ok := d.said(key)
		found = l
		return ok || d.over()
	})
	if found == nil {
		d.a.Fatalf("it ended before it said %s: %s", key, d.errs.String())
	}
	return found
}

func (c *child) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// url is where its page is.
func (d *daemonChild) url() string { return d.says("page").text("page") }

// get is one answer of its page.
func (d *daemonChild) get(path string) (status int, body string) {
	d.a.Helper()
	return d.a.get(http.DefaultClient, strings.TrimSuffix(d.url(), "/")+path)
}

// read is the answer of its page once that is not "503": what it reads of the ledger has its time, of which a busy
// machine may take more.
func (d *daemonChild) read(path string) (status int, body string) {
	d.a.Helper()
	return d.a.read(http.DefaultClient, strings.TrimSuffix(d.url(), "/")+path)
}

func (a *arena) read(client *http.Client, url string) (status int, body string) {
	a.Helper()
	a.reaches("an answer of "+url, func() bool {
		status, body = a.get(client, url)
		return status != http.StatusServiceUnavailable
	})
	return status, body
}

func (a *arena) get(client *http.Client, url string) (status int, body string) {
	a.Helper()
	req, err := http.NewRequestWithContext(a.Context(), http.MethodGet, url, nil)
	if err != nil {
		a.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// series are the metrics once the ledger has answered in time.
func (d *daemonChild) series() (all map[string]string) {
	d.a.Helper()
	d.a.reaches("metrics of the ledger", func() bool {
		all = d.metrics()
		for name, value := range all {
			if strings.HasPrefix(name, "sandkeeper_ledger_up{") {
				return value == "1"
			}
		}
		return false
	})
	return all
}

// metrics are the samples of /metrics, by name and labels.
func (d *daemonChild) metrics() map[string]string {
	d.a.Helper()
	status, body := d.get("/metrics")
	if status != http.StatusOK {
		d.a.Fatalf("/metrics answers %d: %s", status, body)
	}
	out := map[string]string{}
	for scan := bufio.NewScanner(strings.NewReader(body)); scan.Scan(); {
		if name, value, ok := cutLast(scan.Text(), " "); ok && !strings.HasPrefix(name, "#") {
			out[name] = value
		}
	}
	return out
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func (c *child) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatalf("signal %s to process %d: %v", s, c.cmd.Process.Pid, err)
	}
}

// stop is SIGTERM; the exit code has to be 0.
func (d *daemonChild) stop() {
	d.a.Helper()
	d.signal(d.a.T, syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(5 * time.Minute):
		d.a.Fatalf("process %d does not end", d.cmd.Process.Pid)
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		d.a.Errorf("exit code %d after SIGTERM: %s", code, tail(d.errs.String(), 2000))
	}
}

// pass lets time go by, for what must not happen meanwhile.
func (a *arena) pass(d time.Duration) {
	a.Helper()
	if err := reconcile.Sleep(a.Context(), d); err != nil {
		a.Fatal(err)
	}
}

// rewrite replaces the text of the config as an editor does: by a file that is renamed.
func (a *arena) rewrite(text string) {
	a.Helper()
	next := a.config + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
	if err := os.Rename(next, a.config); err != nil {
		a.Fatal(err)
	}
}

func (a *arena) configText() string {
	a.Helper()
	text, err := os.ReadFile(a.config)
	if err != nil {
		a.Fatal(err)
	}
	return string(text)
}

// count is the number that a query finds.
func (a *arena) count(query string, args ...any) (n int) {
	a.Helper()
	if err := a.pool(query).QueryRow(a.Context(), query, args...).Scan(&n); err != nil {
		a.Fatalf("%s: %v", query, err)
	}
	return n
}

// passes are how many passes of a kind have ended.
func (a *arena) passes(kind string) int {
	a.Helper()
	return a.count("SELECT count(*) FROM sandkeeper.passes WHERE kind = $1 AND ended_at IS NOT NULL", kind)
}

// destroys are the calls that tried to end something after a moment.
func (a *arena) destroys(after time.Time) (out []simulated.Call) {
	for _, c := range a.cloud.Destructive() {
		if c.At.After(after) {
			out = append(out, c)
		}
	}
	return out
}

// stopped is a task that a person stopped, whose sandbox lives on.
func (a *arena) stopped(since time.Duration) simulated.Sandbox {
	a.Helper()
	return a.box(a.task(row{status: "cancelled", created: time.Hour, updated: since}), time.Hour)
}

func pidText(d *daemonChild) string { return fmt.Sprint(d.cmd.Process.Pid) }
