package queue

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// every is how often the same trouble is told: a database that is away for an hour would
// fill the log otherwise.
const every = time.Minute

// A gate lets one thing through in each minute and counts the others.
type gate struct {
	mu     sync.Mutex
	next   time.Time
	missed int
}

// open reports whether this one may pass, and how many were kept back before it.
func (g *gate) open(now time.Time) (ok bool, missed int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Before(g.next) {
		g.missed++
		return false, 0
	}
	missed, g.missed, g.next = g.missed, 0, now.Add(every)
	return true, missed
}

// A seldom log warns once a minute.
type seldom struct {
	log  *slog.Logger
	gate gate
}

func (s *seldom) warn(ctx context.Context, what string, facts ...slog.Attr) {
	ok, missed := s.gate.open(time.Now())
	if !ok {
		return
	}
	if missed > 0 {
		facts = append(facts, slog.Int("before", missed))
	}
	s.log.LogAttrs(ctx, slog.LevelWarn, what, facts...)
}

// A quiet handler takes River's log: what it does is for those who debug, and what goes
// wrong is told once a minute, for each of its many parts repeats what ails the database.
type quiet struct {
	slog.Handler
	gate *gate
}

// newQuiet makes River's logger out of ours.
func newQuiet(log *slog.Logger) *slog.Logger {
	return slog.New(quiet{Handler: log.Handler(), gate: &gate{}})
}

// Enabled reports whether a record of this level would be told.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	if level < slog.LevelWarn {
		level = slog.LevelDebug
	}
	return q.Handler.Enabled(ctx, level)
}

// Handle tells the record.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		r = r.Clone()
		r.Level = slog.LevelDebug
		return q.Handler.Handle(ctx, r)
	}
	ok, missed := q.gate.open(r.Time)
	if !ok {
		return nil
	}
	told := slog.NewRecord(r.Time, r.Level, "job queue in trouble", r.PC)
	told.AddAttrs(slog.String("said", r.Message))
	r.Attrs(func(a slog.Attr) bool {
		told.AddAttrs(a)
		return true
	})
	if missed > 0 {
		told.AddAttrs(slog.Int("before", missed))
	}
	return q.Handler.Handle(ctx, told)
}

// WithAttrs keeps the gate.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.gate}
}

// WithGroup keeps the gate.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.gate} }
