package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// timeout bounds each call by this side's clock. The time-outs of the session are the
// server's: on a connection that is broken in half, or with a server that hangs, nobody
// keeps them, and a call would wait for ever with the pass and its lease.
type timeout struct{ most time.Duration }

var (
	_ pgx.QueryTracer    = timeout{}
	_ pgx.BatchTracer    = timeout{}
	_ pgx.CopyFromTracer = timeout{}
)

type (
	endOfCall struct{}
	unhurried struct{}
)

// Unhurried takes the bound off the calls under a context: migrations rewrite tables, which
// may take as long as it takes.
func Unhurried(ctx context.Context) context.Context { return context.WithValue(ctx, unhurried{}, true) }

func (p timeout) begin(ctx context.Context) context.Context {
	if ctx.Value(unhurried{}) != nil {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, p.most)
	return context.WithValue(ctx, endOfCall{}, cancel)
}

func (p timeout) end(ctx context.Context) {
	if cancel, ok := ctx.Value(endOfCall{}).(context.CancelFunc); ok {
		cancel()
	}
}

// TraceQueryStart begins the time of a statement.
func (p timeout) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return p.begin(ctx)
}

// TraceQueryEnd ends it, when the last row was read.
func (p timeout) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	p.end(ctx)
}

// TraceBatchStart begins the time of a batch.
func (p timeout) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return p.begin(ctx)
}

// TraceBatchQuery is a part of a batch.
func (timeout) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd ends it.
func (p timeout) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) {
	p.end(ctx)
}

// TraceCopyFromStart begins the time of a copy.
func (p timeout) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return p.begin(ctx)
}

// TraceCopyFromEnd ends it.
func (p timeout) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromEndData) {
	p.end(ctx)
}

// timeoutFor is a little more than the server's own time-out, which is to come first: its
// answer says more. One that cannot be read, or is off, has none that could come first.
func timeoutFor(statementTimeout string) timeout {
	most, ok := serverTime(statementTimeout)
	if !ok || most <= 0 {
		most = 5 * time.Minute
	}
	return timeout{most + most/6}
}

// serverTime reads a duration as PostgreSQL writes it: milliseconds, or with a unit.
func serverTime(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	digits := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	unit, known := map[string]time.Duration{
		"": time.Millisecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour,
	}[strings.TrimSpace(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 32)
	return time.Duration(n) * unit, known && err == nil && n >= 0
}
