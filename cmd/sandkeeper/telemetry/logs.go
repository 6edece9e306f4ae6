package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// mostLogs is how many lines wait to be sent; further ones are dropped.
const mostLogs = 2048

// logsEvery is how often lines are sent.
const logsEvery = time.Second

// A logQueue holds lines of the log until they are sent.
type logQueue struct {
	to       *target
	resource *resourcepb.Resource

	mu    sync.Mutex
	lines []*logspb.LogRecord
}

func newLogQueue(to *target, about *resourcepb.Resource) *logQueue {
	return &logQueue{to: to, resource: about}
}

func (q *logQueue) add(r *logspb.LogRecord) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) < mostLogs {
		q.lines = append(q.lines, r)
	}
}

func (q *logQueue) run(ctx context.Context) {
	for reconcile.Sleep(ctx, logsEvery) == nil {
		q.flush(ctx)
	}
}

// flush sends all that waits.
func (q *logQueue) flush(ctx context.Context) {
	if q == nil {
		return
	}
	q.mu.Lock()
	lines := q.lines
	q.lines = nil
	q.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	cutOff := q.to.post(ctx, &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		Resource: q.resource, ScopeLogs: []*logspb.ScopeLogs{{
			Scope: &commonpb.InstrumentationScope{Name: scope}, LogRecords: lines,
		}},
	}}})
	if cutOff {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.lines = append(lines, q.lines...)
	}
}

// Log is a log whose lines are also sent, with the trace that they belong to.
func (t *Telemetry) Log(log *slog.Logger) *slog.Logger {
	if t == nil || t.logs == nil {
		return log
	}
	return slog.New(sentLog{printed: log.Handler(), queue: t.logs})
}

// A sentLog prints each line and has it sent.
type sentLog struct {
	printed slog.Handler
	queue   *logQueue
	attrs   []*commonpb.KeyValue
	group   string // of what comes: "" or with a dot behind
}

// Enabled reports whether the printed log takes the level.
func (h sentLog) Enabled(ctx context.Context, level slog.Level) bool {
	return h.printed.Enabled(ctx, level)
}

// severity is a level as the protocol counts: four numbers for each name, as slog does.
func severity(l slog.Level) logspb.SeverityNumber {
	n := int(l) + int(logspb.SeverityNumber_SEVERITY_NUMBER_INFO)
	least, most := int(logspb.SeverityNumber_SEVERITY_NUMBER_TRACE), int(logspb.SeverityNumber_SEVERITY_NUMBER_FATAL4)
	return logspb.SeverityNumber(max(least, min(n, most)))
}

// Handle prints the line and has it sent.
func (h sentLog) Handle(ctx context.Context, r slog.Record) error {
	out := &logspb.LogRecord{
		TimeUnixNano:   uint64(max(r.Time.UnixNano(), 0)),
		SeverityNumber: severity(r.Level),
		SeverityText:   r.Level.String(), Body: textAttr("", r.Message).GetValue(), Attributes: slices.Clone(h.attrs),
	}
	if s := trace.SpanContextFromContext(ctx); s.IsValid() {
		of, span := s.TraceID(), s.SpanID()
		out.TraceId, out.SpanId, out.Flags = of[:], span[:], uint32(s.TraceFlags())
	}
	r.Attrs(func(a slog.Attr) bool {
		out.Attributes = appendAttr(out.Attributes, h.group, a)
		return true
	})
	h.queue.add(out)
	return h.printed.Handle(ctx, r)
}

// WithAttrs has the attributes on each line.
func (h sentLog) WithAttrs(list []slog.Attr) slog.Handler {
	h.attrs = slices.Clone(h.attrs)
	for _, a := range list {
		h.attrs = appendAttr(h.attrs, h.group, a)
	}
	h.printed = h.printed.WithAttrs(list)
	return h
}

// WithGroup names what comes after.
func (h sentLog) WithGroup(name string) slog.Handler {
	h.printed = h.printed.WithGroup(name)
	if name != "" {
		h.group += name + "."
	}
	return h
}

func appendAttr(to []*commonpb.KeyValue, group string, a slog.Attr) []*commonpb.KeyValue {
	v := a.Value.Resolve()
	if v.Kind() != slog.KindGroup {
		return append(to, textAttr(group+a.Key, v.String()))
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, inner := range v.Group() {
		to = appendAttr(to, group, inner)
	}
	return to
}
