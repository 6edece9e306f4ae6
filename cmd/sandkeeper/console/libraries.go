package console

import (
	"context"
	"io"
	"log/slog"
	"regexp"
	"sync/atomic"
)

// Libraries is where libraries write that log by themselves: net/http by package log, client-go by
// klog. What they quote is left out, as it is what somebody sent: a token, a file, a whole answer.
type Libraries struct {
	to    *atomic.Pointer[slog.Logger]
	attrs []slog.Attr
}

// NewLibraries takes over package log and slog's default, for the whole process. Until [Libraries.Use]
// names the log, warnings go to w.
func NewLibraries(w io.Writer) *Libraries {
	l := &Libraries{to: &atomic.Pointer[slog.Logger]{}}
	l.to.Store(NewLog(w, "json", slog.LevelWarn))
	slog.SetDefault(slog.New(l))
	return l
}

// Use writes to that log from now on. It may be asked of none.
func (l *Libraries) Use(log *slog.Logger) {
	if l != nil {
		l.to.Store(log)
	}
}

// Enabled reports whether the log takes entries of the level.
func (l *Libraries) Enabled(ctx context.Context, level slog.Level) bool {
	return l.to.Load().Enabled(ctx, level)
}

// Handle writes an entry without what it quotes.
func (l *Libraries) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, unquoted(r.Message), r.PC)
	out.AddAttrs(l.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(plain(a))
		return true
	})
	return l.to.Load().Handler().Handle(ctx, out)
}

// WithAttrs keeps attributes for the entries to come.
func (l *Libraries) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := &Libraries{to: l.to, attrs: append([]slog.Attr{}, l.attrs...)}
	for _, a := range attrs {
		out.attrs = append(out.attrs, plain(a))
	}
	return out
}

// WithGroup makes no groups: few entries have any.
func (l *Libraries) WithGroup(string) slog.Handler { return l }

func plain(a slog.Attr) slog.Attr { return slog.String(a.Key, unquoted(a.Value.String())) }

// quoted is a text in quotation marks, also one that is cut off in its middle.
var quoted = regexp.MustCompile("(?s)\"(?:[^\"\\\\]|\\\\.)*(?:\"|$)|`[^`]*(?:`|$)|'[^']*(?:'|$)")

func unquoted(said string) string { return quoted.ReplaceAllString(said, "…") }
