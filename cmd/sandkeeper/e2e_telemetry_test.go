package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	program "os/exec"
	"path/filepath"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/telemetry/telemetrytest"
)

// realCollector starts an OpenTelemetry collector that passes on to another one what it takes, and returns its address.
func (a *arena) realCollector(to string) string {
	a.Helper()
	folder := a.TempDir()
	made := filepath.Join(folder, "collector")
	build := program.CommandContext(a.Context(), "go", "-C", "../../tools/collector", "build", "-o", made, ".")
	if said, err := build.CombinedOutput(); err != nil {
		a.Fatalf("build the collector: %v\n%s", err, said)
	}
	address := freeAddress(a.T)
	config := fmt.Sprintf(`{receivers: {otlp: {protocols: {http: {endpoint: %q}}}}, exporters: {otlp_http: {endpoint: %q,
sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}}, service: {pipelines: {
traces: {receivers: [otlp], exporters: [otlp_http]}, metrics: {receivers: [otlp], exporters: [otlp_http]},
logs: {receivers: [otlp], exporters: [otlp_http]}}}}`, address, to)
	if err := os.WriteFile(made+".yaml", []byte(config), 0o600); err != nil {
		a.Fatal(err)
	}
	run := program.CommandContext(a.Context(), made, "--config", made+".yaml")
	run.Stderr = a.Output()
	if err := run.Start(); err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = run.Wait() }) // the test's context has ended it
	a.reaches("the collector listens", func() bool {
		c, err := new(net.Dialer).DialContext(a.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return "http://" + address
}

// TestOnceIsTraced: a real collector takes all that a run of once tells: one tree of spans, the failed task is linked
// with the trace that its row names, which stands on the row, on the finding and on the page of each task, and no
// credential is in what is sent.
func TestOnceIsTraced(t *testing.T) {
	const own = "4bf92f3577b34da6a3ce929d0e0e4736"
	c := telemetrytest.NewCollector(t)
	a := newArena(t, settings{tasks: `, columns: {trace: "('00-` + own + `-00f067aa0ba902b7-01')"}`, more: "web: {listen: \"127.0.0.1:0\"}\nlog: {level: info}",
		probe: `{exec: "true", path: "/", every: 2s, timeout: 1s, budget: 1000/m}`})
	endpoint := a.realCollector(c.URL) // which takes a while to build: the workers below are heard only once
	ws := a.working(3)
	task, sandbox := a.lost()
	a.env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint,
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20s3cretHeader"}
	once := a.prepare("once", "--migrate", "--wait", patience)
	if err := once.cmd.Run(); err != nil {
		t.Fatalf("once: %v\n%s", err, once.errs.String())
	}
	if status, why := a.state(task); status != "failed" || !strings.Contains(why, "; trace "+own+" [sandkeeper ") || !a.ended(sandbox) {
		t.Errorf("the task is %s: %s", status, why)
	}
	spans := c.Spans()
	oneTree(t, spans)
	names, linked := map[string]int{}, map[string]int{}
	for _, s := range spans {
		names[s.GetName()]++
		for _, l := range s.GetLinks() {
			if hex.EncodeToString(l.GetTraceId()) == own {
				linked[s.GetName()]++
			}
		}
	}
	for _, name := range []string{"pass", "listing", "list", "judging", "recording", "acting", "action", "lookup", "confirming", "probe"} {
		if names[name] == 0 {
			t.Errorf("no span %q among %v", name, names)
		}
	}
	if linked["action"] == 0 || linked["probe"] != names["probe"] {
		t.Errorf("linked with their task's trace are %v of %v", linked, names)
	}
	if m := c.Metric("sandkeeper_actions_total"); len(m.GetSum().GetDataPoints()) == 0 {
		t.Errorf("metric %v", m)
	}
	told := false
	for _, l := range c.Lines() {
		told = told || l.GetBody().GetStringValue() == "action done" && bytes.Equal(l.GetTraceId(), spans[0].GetTraceId())
	}
	if !told {
		t.Error("the log of what was done is not sent with its trace")
	}
	for _, secret := range []string{"s3cretHeader", a.dsn} {
		if c.Said(secret) {
			t.Errorf("%q is sent", secret)
		}
	}
	if out := a.must("explain", task); !strings.Contains(out, own) {
		t.Errorf("explain does not show the trace:\n%s", out)
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.findings WHERE task = $1 AND evidence::text LIKE '%"+own+"%'", task); n == 0 {
		t.Error("the finding does not show the trace")
	}
	d := a.daemon("serve")
	for _, id := range []string{task, ws[0].task} { // nothing was ever found of the other one
		if status, body := d.read("/tasks/" + id); status != 200 || !strings.Contains(body, own) {
			t.Errorf("the page of the task %s (%d) does not show the trace", id, status)
		}
	}
	a.keeps(ws)
}

// oneTree holds that all spans are of one trace, with one root, and that each has its parent.
func oneTree(t *testing.T, spans []*tracepb.Span) {
	t.Helper()
	ids, roots := map[string]bool{}, 0
	for _, s := range spans {
		ids[string(s.GetSpanId())] = true
	}
	for _, s := range spans {
		if len(s.GetParentSpanId()) == 0 {
			roots++
		} else if !ids[string(s.GetParentSpanId())] {
			t.Errorf("span %s has a parent that was not sent", s.GetName())
		}
		if !bytes.Equal(s.GetTraceId(), spans[0].GetTraceId()) {
			t.Errorf("span %s is of another trace", s.GetName())
		}
	}
	if roots != 1 {
		t.Errorf("%d roots among %d spans, want 1", roots, len(spans))
	}
}
