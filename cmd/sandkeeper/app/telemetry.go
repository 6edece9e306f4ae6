package app

import (
	"context"
	"log/slog"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/telemetry"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// SendTelemetry begins to send what the config and the environment ask for; Telemetry.Close ends it. What is wrong
// with it is said and stops nothing: a pass is worth more than its trace.
func (o *Options) SendTelemetry(ctx context.Context, a *App) {
	c := a.Config.Telemetry
	t, err := telemetry.Start(ctx, telemetry.Settings{
		Endpoint: c.Endpoint.Reveal(), Headers: c.Headers.Reveal(), Send: c.Send,
		Installation: a.Config.Installation, Version: Version(), Getenv: o.Lookup,
	}, a.Log)
	if err != nil {
		a.Log.WarnContext(ctx, "no telemetry is sent", "err", err)
	}
	if t == nil {
		return
	}
	a.Telemetry, a.Log = t, t.Log(a.Log)
	o.Libraries.Use(a.Log)
	a.measure(func() *App { return a })
}

// measure says where the metrics that are sent come from; now is the app by the config in force.
func (a *App) measure(now func() *App) {
	if a.Telemetry == nil {
		return
	}
	m := a.metrics(now)
	m.Pools = func() []alerts.Pool { return now().connections() }
	a.Telemetry.Measure(alerts.Gatherer(a.Ledger, m))
}

// spans are where passes tell what they do; nil where nobody hears it.
func (a *App) spans() run.Span {
	if !a.Telemetry.Traces() {
		return nil
	}
	return func(ctx context.Context, what string, to ...slog.Attr) (context.Context, run.End) {
		within, span := a.Telemetry.Span(ctx, what, to...)
		return within, func(err error, found ...slog.Attr) { telemetry.End(span, err, found...) }
	}
}
