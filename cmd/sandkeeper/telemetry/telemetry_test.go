package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/telemetry/telemetrytest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const someTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// variables are an environment.
func variables(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func startedWith(t *testing.T, s Settings) *Telemetry {
	t.Helper()
	out, err := Start(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil || out == nil {
		t.Fatalf("not started: %v", err)
	}
	return out
}

// TestNothingIsStartedUnasked: not one goroutine, which the bubble would not end with.
func TestNothingIsStartedUnasked(t *testing.T) {
	for name, s := range map[string]Settings{
		"nothing said":         {Getenv: variables()},
		"turned off":           {Endpoint: "http://collector:4318", Getenv: variables("OTEL_SDK_DISABLED", "true")},
		"no signal wanted":     {Endpoint: "http://collector:4318", Send: []string{}, Getenv: variables()},
		"every exporter none":  {Endpoint: "http://collector:4318", Getenv: variables("OTEL_TRACES_EXPORTER", "none", "OTEL_METRICS_EXPORTER", "none", "OTEL_LOGS_EXPORTER", "none")},
		"another protocol":     {Getenv: variables("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")},
		"no address":           {Getenv: variables("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318/s3cret")},
		"an unknown exporter":  {Getenv: variables("OTEL_TRACES_EXPORTER", "zipkin")},
		"headers that are not": {Endpoint: "http://collector:4318", Headers: "s3cret", Getenv: variables()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := Start(t.Context(), s, slog.New(slog.DiscardHandler))
				if got != nil {
					t.Errorf("started; %v", err)
				}
				if err != nil && strings.Contains(err.Error(), "s3cret") {
					t.Errorf("the error shows what may be a credential: %v", err)
				}
				log := slog.New(slog.DiscardHandler)
				if got.Log(log) != log || got.Traces() {
					t.Error("something is made to be sent")
				}
				got.Measure(prometheus.NewRegistry())
				got.Close()
			})
		})
	}
}

// TestSpans, with the SDK's own exporter in memory.
func TestSpans(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	tel := &Telemetry{}
	tel.trace(sdktrace.NewSimpleSpanProcessor(kept), resource.Empty())
	ctx, pass := tel.Span(t.Context(), "pass", slog.String("kind", "full"))
	_, action := tel.Span(ctx, "action", slog.String("task", "t1"), slog.String("sandbox", ""), slog.String(reconcile.TraceKey, someTrace))
	End(action, errors.New("the provider is down"), slog.Int64("attempts", 3), slog.Bool("asked", true))
	End(pass, nil)
	spans := kept.GetSpans()
	if len(spans) != 2 {
		t.Fatalf("%d spans, want 2", len(spans))
	}
	inner, outer := spans[0], spans[1]
	if inner.Parent.SpanID() != outer.SpanContext.SpanID() || outer.Parent.IsValid() {
		t.Error("they are no tree")
	}
	if len(inner.Links) != 1 || inner.Links[0].SpanContext.TraceID().String() != someTrace {
		t.Errorf("links %+v, want the task's trace", inner.Links)
	}
	if inner.Status.Code != codes.Error || inner.Status.Description != "the provider is down" || outer.Status.Code != codes.Unset {
		t.Errorf("status %+v and %+v", inner.Status, outer.Status)
	}
	var said []string
	for _, a := range inner.Attributes {
		said = append(said, string(a.Key)+"="+a.Value.String())
	}
	want := []string{"sandkeeper.task=t1", "sandkeeper.task_trace=" + someTrace, "sandkeeper.attempts=3", "sandkeeper.asked=true"}
	if !slices.Equal(said, want) {
		t.Errorf("attributes %q, want %q", said, want)
	}
}

// TestSendsAll to a receiver that decodes the protobuf, as the variables of the environment say.
func TestSendsAll(t *testing.T) {
	for _, packing := range []string{"", "gzip"} {
		c := telemetrytest.NewCollector(t)
		tel := startedWith(t, Settings{Installation: "prod", Version: "1.2.3", Getenv: variables(
			"OTEL_EXPORTER_OTLP_ENDPOINT", c.URL+"/", "OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret,x-team=a",
			"OTEL_EXPORTER_OTLP_COMPRESSION", packing)})
		tel.Measure(someMetrics())
		var printed bytes.Buffer
		log := tel.Log(slog.New(slog.NewTextHandler(&printed, nil))).With("version", "1").WithGroup("of").With("a", 1)
		ctx, span := tel.Span(t.Context(), "pass")
		log.WarnContext(ctx, "pass not complete", "err", "timeout", slog.Group("in", "b", true))
		log.Debug("below the level")
		End(span, nil)
		tel.Close()

		spans, lines := c.Spans(), c.Lines()
		if len(spans) != 1 || spans[0].GetName() != "pass" || len(lines) != 1 {
			t.Fatalf("%d spans and %d lines, want one of each", len(spans), len(lines))
		}
		if !bytes.Equal(lines[0].GetTraceId(), spans[0].GetTraceId()) || lines[0].GetSeverityText() != "WARN" ||
			lines[0].GetSeverityNumber() != 13 || lines[0].GetBody().GetStringValue() != "pass not complete" {
			t.Errorf("line %v", lines[0])
		}
		var said []string
		for _, a := range lines[0].GetAttributes() {
			said = append(said, a.GetKey()+"="+a.GetValue().GetStringValue())
		}
		if want := []string{"version=1", "of.a=1", "of.err=timeout", "of.in.b=true"}; !slices.Equal(said, want) {
			t.Errorf("attributes %q, want %q", said, want)
		}
		if !strings.Contains(printed.String(), "pass not complete") {
			t.Error("the line is not printed any more")
		}
		if got := c.Metric("x_total").GetSum(); !got.GetIsMonotonic() || got.GetDataPoints()[0].GetAsDouble() != 3 ||
			got.GetDataPoints()[0].GetAttributes()[0].GetValue().GetStringValue() != "orphan" {
			t.Errorf("counter %v", got)
		}
		if got := c.Metric("x_left").GetGauge().GetDataPoints(); len(got) != 1 || got[0].GetAsDouble() != 7 {
			t.Errorf("gauge %v", got)
		}
		h := c.Metric("x_seconds").GetHistogram().GetDataPoints()[0]
		if !slices.Equal(h.GetExplicitBounds(), []float64{1, 10}) || !slices.Equal(h.GetBucketCounts(), []uint64{1, 2, 1}) ||
			h.GetCount() != 4 || h.GetSum() != 110.5 {
			t.Errorf("histogram %v", h)
		}
		if c.Said("s3cret") || !c.Said("prod") || !c.Said("1.2.3") {
			t.Error("a header is in what is sent, or the installation is not")
		}
		for _, header := range c.Headers() {
			if header.Get("Authorization") != "Bearer s3cret" || header.Get("X-Team") != "a" {
				t.Errorf("headers %v", header)
			}
		}
	}
}

func someMetrics() prometheus.Gatherer {
	r := prometheus.NewRegistry()
	total := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "x_total"}, []string{"rule"})
	left := prometheus.NewGauge(prometheus.GaugeOpts{Name: "x_left"})
	seconds := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x_seconds", Buckets: []float64{1, 10}})
	r.MustRegister(total, left, seconds)
	total.WithLabelValues("orphan").Add(3)
	left.Set(7)
	for _, s := range []float64{0.5, 4, 6, 100} {
		seconds.Observe(s)
	}
	return r
}

// TestEachSignalHasItsPlace: a signal's own endpoint is taken as it is, and the config has the last word.
func TestEachSignalHasItsPlace(t *testing.T) {
	own := variables("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces/in",
		"OTEL_EXPORTER_OTLP_TIMEOUT", "2500", "OTEL_LOGS_EXPORTER", "none")
	for name, c := range map[string]struct {
		s    Settings
		want map[string]string
	}{
		"by variables": {Settings{Getenv: own}, map[string]string{"traces": "https://traces/in", "metrics": "http://all:4318/v1/metrics"}},
		"by the config": {Settings{Endpoint: "http://mine:4318/otlp", Getenv: own},
			map[string]string{"traces": "http://mine:4318/otlp/v1/traces", "metrics": "http://mine:4318/otlp/v1/metrics"}},
		"one alone": {Settings{Getenv: variables("OTEL_TRACES_EXPORTER", "otlp")}, map[string]string{"traces": "http://localhost:4318/v1/traces"}},
		"some of it": {Settings{Endpoint: "http://mine:4318", Send: []string{"logs"}, Getenv: variables()},
			map[string]string{"logs": "http://mine:4318/v1/logs"}},
	} {
		t.Run(name, func(t *testing.T) {
			targets, err := c.s.targets()
			if err != nil || len(targets) != len(c.want) {
				t.Fatalf("%d targets, want %d; %v", len(targets), len(c.want), err)
			}
			for signal, want := range c.want {
				if got := targets[signal]; got.url != want {
					t.Errorf("%s goes to %s, want %s", signal, got.url, want)
				}
			}
			if name == "by variables" && targets["traces"].timeout != 2500*time.Millisecond {
				t.Errorf("time-out %s", targets["traces"].timeout)
			}
		})
	}
}

// TestACollectorHoldsNothingUp: one that hangs, one that is not there and one that refuses. All goes on meanwhile, the
// end is bounded, and the log says it once, without the address.
func TestACollectorHoldsNothingUp(t *testing.T) {
	over := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(over) })
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refuses.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := "http://" + l.Addr().String()
	_ = l.Close()
	for name, url := range map[string]string{"hangs": hangs.URL, "refuses": refuses.URL, "is not there": nowhere} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			tel, err := Start(t.Context(), Settings{Endpoint: url + "/s3cret", Getenv: variables()}, slog.New(slog.NewTextHandler(&said, nil)))
			if err != nil {
				t.Fatal(err)
			}
			if tel.last = time.Minute; name == "hangs" {
				tel.last = 100 * time.Millisecond
			}
			log := tel.Log(slog.New(slog.NewTextHandler(io.Discard, nil)))
			for range 3 * mostLogs {
				ctx, span := tel.Span(context.Background(), "pass")
				log.InfoContext(ctx, "pass")
				End(span, nil)
			}
			tel.Close()
			if n := len(tel.logs.lines); n > mostLogs {
				t.Errorf("%d lines wait", n)
			}
			for _, signal := range []string{"signal=traces", "signal=logs"} {
				if n := strings.Count(said.String(), signal); n > 1 || n == 0 && name != "hangs" {
					t.Errorf("the log says %q %d times:\n%s", signal, n, said.String())
				}
			}
			if strings.Contains(said.String(), "s3cret") {
				t.Errorf("the log shows the address:\n%s", said.String())
			}
		})
	}
}

// TestLinesUnderWayAtTheEnd: lines that are being sent when the process ends are sent once more, and not lost.
func TestLinesUnderWayAtTheEnd(t *testing.T) {
	c := telemetrytest.NewCollector(t)
	began, over := make(chan struct{}), make(chan struct{})
	var requests atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) > 1 {
			c.ServeHTTP(w, r)
			return
		}
		close(began)
		<-over
	}))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(over) })
	tel := startedWith(t, Settings{Endpoint: slow.URL, Send: []string{"logs"}, Getenv: variables()})
	tel.last = time.Minute
	tel.Log(slog.New(slog.NewTextHandler(io.Discard, nil))).Info("action done")
	<-began
	tel.Close()
	if n := len(c.Lines()); n != 1 {
		t.Errorf("%d lines came, want the one", n)
	}
}

// TestAsksAgain where the collector says that it is busy.
func TestAsksAgain(t *testing.T) {
	c := telemetrytest.NewCollector(t)
	c.Answer(http.StatusServiceUnavailable)
	tel := startedWith(t, Settings{Endpoint: c.URL, Send: []string{"traces"}, Getenv: variables()})
	tel.last = time.Minute
	_, span := tel.Span(t.Context(), "pass")
	End(span, nil)
	tel.Close()
	if len(c.Spans()) != 1 || len(c.Headers()) != 2 {
		t.Errorf("%d spans in %d requests, want one in the second", len(c.Spans()), len(c.Headers()))
	}
}
