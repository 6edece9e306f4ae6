package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Span begins a part of a trace: what is done, and to what. What is done within it gets its context; end says how it
// went. It never fails and waits for nobody.
type Span func(ctx context.Context, what string, to ...slog.Attr) (within context.Context, end End)

// An End ends a span, with what came of it.
type End func(err error, found ...slog.Attr)

func (k *Reconciler) span(ctx context.Context, what string, to ...slog.Attr) (context.Context, End) {
	if k.Span == nil {
		return ctx, func(error, ...slog.Attr) {}
	}
	return k.Span(ctx, what, to...)
}

// timed begins to measure a part of a pass; done ends it.
func (k *Reconciler) timed(ctx context.Context, kind reconcile.PassKind, phase string,
) (within context.Context, done func(error)) {
	within, end := k.span(ctx, phase, slog.String("kind", string(kind)))
	began := time.Now()
	return within, func(err error) {
		end(err)
		if k.Phase != nil {
			k.Phase(kind, phase, time.Since(began))
		}
	}
}

// spanOf is the span of a look at one sandbox, or of a probe.
func (k *Reconciler) spanOf(ctx context.Context, what string, ref reconcile.Ref) (context.Context, End) {
	return k.span(ctx, what, slog.String("provider", ref.Provider), slog.String("sandbox", ref.ID))
}

// unlessGone leaves out what is an answer and no failure.
func unlessGone(err error) error {
	if errors.Is(err, reconcile.ErrNotFound) || errors.Is(err, reconcile.ErrUnknownID) {
		return nil
	}
	return err
}

// spanOfAction is the span of one step, linked with the trace of its task's own work.
func (r *executor) spanOfAction(ctx context.Context, a *reconcile.Action) (context.Context, End) {
	if r.k.Span == nil {
		return r.k.span(ctx, "")
	}
	return r.k.span(ctx, "action", append(actionTold(a), slog.String(reconcile.TraceKey, r.traceOf(a.Task)))...)
}

// traceOf is the trace that the row of a live task names.
func (r *executor) traceOf(task string) string {
	for i := range r.view.S.Tasks {
		if t := &r.view.S.Tasks[i]; t.ID == task {
			return t.Trace
		}
	}
	return ""
}

// spanOfProbe is the span of a probe, linked with the trace of the work that it looks at.
func (k *Reconciler) spanOfProbe(ctx context.Context, sb *reconcile.Sandbox) (context.Context, End) {
	if k.Span == nil {
		return k.span(ctx, "")
	}
	return k.span(ctx, "probe", slog.String("provider", sb.Provider), slog.String("sandbox", sb.ID),
		slog.String(reconcile.TraceKey, k.traceBehind(ctx, sb)))
}

// traceBehind is the trace that the row of a sandbox names. It is for who looks on alone: a row that cannot be read
// delays no probe and fails none.
func (k *Reconciler) traceBehind(ctx context.Context, sb *reconcile.Sandbox) string {
	if !k.Policy.Tasks.Traces {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	read, by := k.Tasks.BySandbox, sb.Keys()
	if sb.Task != "" {
		read, by = k.Tasks.ByID, []string{sb.Task}
	}
	rows, err := read(ctx, by)
	if err != nil || len(rows.Tasks) != 1 {
		return ""
	}
	return rows.Tasks[0].Trace
}

// rowReason is what a row gets as its reason: with the trace of its own work, so that who reads the row finds it.
func rowReason(a *reconcile.Action, t *reconcile.Task) string {
	reason := a.Reason
	if t.Trace != "" {
		reason += "; trace " + t.Trace
	}
	return reason + " " + reconcile.Mark(a.ID)
}

// carried is a context with the span of another one: what outlives a call is still a part of its trace.
type carried struct {
	context.Context
	of context.Context
}

// Value is that of the context, else that of the other one.
func (c carried) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.of.Value(key)
}
