// Package telemetrytest has a collector for tests: it takes OTLP over HTTP as a real one does, and keeps what it got.
package telemetrytest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A Collector keeps what it was sent.
type Collector struct {
	*testing.T
	URL string

	mu      sync.Mutex
	spans   []*tracepb.Span
	metrics map[string]*metricspb.Metric
	lines   []*logspb.LogRecord
	headers []http.Header
	bodies  []string
	answers []int // the next ones; then 200
}

// NewCollector starts one.
func NewCollector(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{T: t, metrics: map[string]*metricspb.Metric{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// ServeHTTP takes one message.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		plain, err := gzip.NewReader(body)
		if err != nil {
			c.Errorf("gunzip %s: %v", r.URL.Path, err)
			return
		}
		body = plain
	}
	said, err := io.ReadAll(body)
	if err != nil {
		return // who sent it gave up
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, r.Header)
	if len(c.answers) > 0 {
		w.WriteHeader(c.answers[0])
		c.answers = c.answers[1:]
		return
	}
	c.bodies = append(c.bodies, string(said))
	if err := c.keep(r.URL.Path, said); err != nil {
		c.Errorf("decode %s: %v", r.URL.Path, err)
	}
	if t := r.Header.Get("Content-Type"); t != "application/x-protobuf" || r.Method != http.MethodPost {
		c.Errorf("%s %s of type %q", r.Method, r.URL.Path, t)
	}
}

func (c *Collector) keep(path string, body []byte) error {
	switch path {
	case "/v1/traces":
		var in tracepb.TracesData
		err := proto.Unmarshal(body, &in)
		for _, r := range in.GetResourceSpans() {
			for _, s := range r.GetScopeSpans() {
				c.spans = append(c.spans, s.GetSpans()...)
			}
		}
		return err
	case "/v1/metrics":
		var in metricspb.MetricsData
		err := proto.Unmarshal(body, &in)
		for _, r := range in.GetResourceMetrics() {
			for _, s := range r.GetScopeMetrics() {
				for _, m := range s.GetMetrics() {
					c.metrics[m.GetName()] = m
				}
			}
		}
		return err
	case "/v1/logs":
		var in logspb.LogsData
		err := proto.Unmarshal(body, &in)
		for _, r := range in.GetResourceLogs() {
			for _, s := range r.GetScopeLogs() {
				c.lines = append(c.lines, s.GetLogRecords()...)
			}
		}
		return err
	}
	c.Errorf("nothing is sent to %s", path)
	return nil
}

// Answer has the next messages answered with these, and not kept.
func (c *Collector) Answer(codes ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = codes
}

// Spans are those that came.
func (c *Collector) Spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// Metric is the newest of the name; nil when none came.
func (c *Collector) Metric(name string) *metricspb.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics[name]
}

// Lines are those of the log that came.
func (c *Collector) Lines() []*logspb.LogRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines
}

// Headers are those of all requests.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers
}

// Said reports whether a text is anywhere in what came.
func (c *Collector) Said(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(strings.Join(c.bodies, "\n"), text)
}
