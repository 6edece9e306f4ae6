package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Traces reports whether spans are made.
func (t *Telemetry) Traces() bool { return t != nil && t.tracer != nil }

// Span begins a span, linked with the trace that an attribute [reconcile.TraceKey] names.
func (t *Telemetry) Span(ctx context.Context, what string, to ...slog.Attr) (context.Context, trace.Span) {
	options := []trace.SpanStartOption{trace.WithAttributes(attrs(to)...)}
	for _, a := range to {
		if a.Key == reconcile.TraceKey && a.Value.String() != "" {
			options = append(options, trace.WithLinks(linkTo(a.Value.String())...))
		}
	}
	return t.tracer.Start(ctx, what, options...)
}

// End ends a span with what came of it.
func End(span trace.Span, err error, found ...slog.Attr) {
	span.SetAttributes(attrs(found)...)
	if err != nil {
		span.SetStatus(codes.Error, text.Clip(err.Error(), 300))
	}
	span.End()
}

// linkTo is a link to the whole of another trace: no span of it is known. The standard's ids may not be zero, so the
// span is the lower half of the trace's id.
func linkTo(id string) []trace.Link {
	of, err := trace.TraceIDFromHex(id)
	if err != nil {
		return nil
	}
	var span trace.SpanID
	copy(span[:], of[8:])
	if !span.IsValid() {
		span[7] = 1
	}
	to := trace.SpanContextConfig{TraceID: of, SpanID: span, Remote: true}
	return []trace.Link{{SpanContext: trace.NewSpanContext(to)}}
}
