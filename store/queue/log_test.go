package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestGate(t *testing.T) {
	var g gate
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	steps := []struct {
		after  time.Duration
		ok     bool
		missed int
	}{
		{0, true, 0}, {0, false, 0}, {every - 1, false, 0}, {every, true, 2}, {every + 1, false, 0}, {2 * every, true, 1},
	}
	for _, s := range steps {
		if ok, missed := g.open(start.Add(s.after)); ok != s.ok || missed != s.missed {
			t.Errorf("open after %s = %v, %d, want %v, %d", s.after, ok, missed, s.ok, s.missed)
		}
	}
}

func TestRiverIsQuiet(t *testing.T) {
	for name, c := range map[string]struct {
		level slog.Level
		want  []string
	}{
		"on a daemon": {slog.LevelInfo, []string{
			"level=ERROR msg=\"job queue in trouble\" part=1 said=\"Elector: no answer\" err=refused",
			"level=WARN msg=\"job queue in trouble\" part=2 said=\"Notifier: no answer\" before=1",
		}},
		"for those who debug": {slog.LevelDebug, []string{
			"level=DEBUG msg=started",
			"level=ERROR msg=\"job queue in trouble\" part=1 said=\"Elector: no answer\" err=refused",
			"level=WARN msg=\"job queue in trouble\" part=2 said=\"Notifier: no answer\" before=1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := &journal{}
				log := newQuiet(slog.New(slog.NewTextHandler(told, &slog.HandlerOptions{Level: c.level})))
				ctx := context.Background()
				log.InfoContext(ctx, "started")
				log.With("part", 1).ErrorContext(ctx, "Elector: no answer", "err", "refused")
				log.WarnContext(ctx, "Producer: no answer")
				time.Sleep(every)
				log.With("part", 2).WarnContext(ctx, "Notifier: no answer")
				for i, line := range told.lines {
					_, told.lines[i], _ = strings.Cut(strings.TrimSpace(line), " ") // without its time
				}
				if !slices.Equal(told.lines, c.want) {
					t.Errorf("told %q, want %q", told.lines, c.want)
				}
			})
		})
	}
}

func TestNoListen(t *testing.T) {
	cases := map[string]struct {
		err  error
		want bool
	}{
		"a server without it":        {fmt.Errorf("listen: %w", &pgconn.PgError{Code: "0A000"}), true},
		"a schema that is missing":   {&pgconn.PgError{Code: "42P01"}, false},
		"a server that is not there": {errors.New("connection refused"), false},
	}
	for name, c := range cases {
		if got := noListen(c.err); got != c.want {
			t.Errorf("%s: noListen = %v, want %v", name, got, c.want)
		}
	}
}
