package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// lastTime is for what is still to be sent when a process ends.
const lastTime = 3 * time.Second

// scope is who says it.
const scope = "github.com/sandkeeper/sandkeeper"

// A Telemetry sends. Nil is one that does not; all methods work on it.
type Telemetry struct {
	provider *sdktrace.TracerProvider // nil: no traces
	tracer   trace.Tracer
	logs     *logQueue // nil: no logs
	metrics  *target   // nil: no metrics
	every    time.Duration
	last     time.Duration // for what is still to be sent at the end
	resource *resourcepb.Resource

	mu     sync.Mutex
	gather prometheus.Gatherer
	stop   context.CancelFunc
	work   sync.WaitGroup
}

// Start begins to send what the settings say; nil when that is nothing. log hears of trouble.
func Start(ctx context.Context, s Settings, log *slog.Logger) (*Telemetry, error) {
	targets, err := s.targets()
	if err != nil || len(targets) == 0 {
		return nil, err
	}
	told := &report{log: log, failed: map[string]bool{}}
	for _, t := range targets {
		t.report = told
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "sandkeeper"), attribute.String("service.version", s.Version),
		attribute.String("sandkeeper.installation", s.Installation),
	), resource.WithFromEnv(), resource.WithHost())
	if about == nil {
		return nil, err // else a part of it could not be read, which is left out
	}
	t := &Telemetry{last: lastTime, resource: resourceOf(about), metrics: targets["metrics"],
		every: millis(s.env("OTEL_METRIC_EXPORT_INTERVAL"), time.Minute)}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	t.stop = stop
	if to := targets["traces"]; to != nil {
		t.trace(sdktrace.NewBatchSpanProcessor(otlptrace.NewUnstarted(to)), about)
	}
	if to := targets["logs"]; to != nil {
		t.logs = newLogQueue(to, t.resource)
		t.work.Go(func() { t.logs.run(working) })
	}
	if t.metrics != nil {
		t.work.Go(func() { t.measure(working) })
	}
	return t, nil
}

// trace begins to make spans.
func (t *Telemetry) trace(to sdktrace.SpanProcessor, about *resource.Resource) {
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(to), sdktrace.WithResource(about))
	t.tracer = t.provider.Tracer(scope)
}

// resourceOf is the same in the messages that are made here.
func resourceOf(about *resource.Resource) *resourcepb.Resource {
	out := &resourcepb.Resource{}
	for _, a := range about.Attributes() {
		out.Attributes = append(out.Attributes, textAttr(string(a.Key), a.Value.String()))
	}
	return out
}

func textAttr(key, value string) *commonpb.KeyValue {
	text := &commonpb.AnyValue_StringValue{StringValue: value}
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: text}}
}

// Measure says where metrics are read.
func (t *Telemetry) Measure(from prometheus.Gatherer) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gather = from
}

// Close sends what is left, for a bounded time.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.last)
	defer cancel()
	t.stop()
	t.work.Wait()
	var wg sync.WaitGroup
	wg.Go(func() { t.sendMetrics(ctx) })
	wg.Go(func() { t.logs.flush(ctx) })
	wg.Go(func() {
		if t.provider != nil {
			_ = t.provider.Shutdown(ctx) // what could not be sent is reported where it is sent
		}
	})
	wg.Wait()
}

// attrs are of one kind: texts, numbers and truths as they are, the rest as texts.
func attrs(list []slog.Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(list))
	for _, a := range list {
		key, v := cmp.Or(a.Key, "value"), a.Value.Resolve()
		switch v.Kind() {
		case slog.KindInt64:
			out = append(out, attribute.Int64("sandkeeper."+key, v.Int64()))
		case slog.KindBool:
			out = append(out, attribute.Bool("sandkeeper."+key, v.Bool()))
		default:
			if said := v.String(); said != "" {
				out = append(out, attribute.String("sandkeeper."+key, said))
			}
		}
	}
	return out
}
