package queue

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestSteady: the turns of the periodic jobs are counted from the passes, so that a watch that once made a pass before its
// turn does not do so for ever. It needs not know the very last one.
func TestSteady(t *testing.T) {
	at := func(second, milli int) time.Time {
		return time.Date(2026, 1, 1, 10, 0, second, milli*1_000_000, time.Local)
	}
	cases := map[string]struct {
		line  string
		began time.Time
		want  time.Time // after 10:00:29
	}{
		"nothing is known":                {"@every 15s", time.Time{}, at(44, 0)},
		"a watch made the last":           {"@every 15s", at(27, 790), at(42, 0)},
		"the one before it is known":      {"@every 15s", at(12, 790), at(42, 0)},
		"the turn before made it":         {"@every 15s", at(14, 10), at(44, 0)},
		"clocks differ by some ms":        {"@every 15s", at(13, 990), at(44, 0)},
		"it was long ago":                 {"@every 1s", at(0, 0), at(30, 0)},
		"it is to come":                   {"@every 15s", at(50, 0), at(44, 0)},
		"a line of cron has its own time": {"* * * * *", at(27, 790), at(60, 0)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			schedule, err := cron.ParseStandard(c.line)
			if err != nil {
				t.Fatal(err)
			}
			got := steady{schedule, func() time.Time { return c.began }}.Next(at(29, 0))
			if !got.Equal(c.want) {
				t.Errorf("Next = %s, want %s", got, c.want)
			}
		})
	}
}

// TestWatchTellsWhenPassesBegan: by this process's clock, whatever the ledger's says.
func TestWatchTellsWhenPassesBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := &rota{start: start, each: 15 * time.Second, until: start.Add(time.Hour)}
		s := &schedules{}
		s.set(each(r.each), each(r.each))
		w := &watch{kind: reconcile.Quick, ledger: ahead{r}, schedules: s, log: &seldom{log: slog.New(slog.DiscardHandler)},
			making: func(reconcile.PassKind) bool { return false }}
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		w.run(ctx)
		if got := s.lastBegan(reconcile.Quick); !got.Equal(start.Add(30 * time.Second)) {
			t.Errorf("the newest pass began %s after the start, want 30s", got.Sub(start))
		}
	})
}

// ahead is a ledger whose clock is a minute ahead.
type ahead struct{ *rota }

func (a ahead) LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error) {
	began, now, err = a.rota.LastBegan(ctx, kind)
	return began.Add(time.Minute), now.Add(time.Minute), err
}
