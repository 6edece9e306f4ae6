package queue

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestLookout(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	minute := turn{due: began.Add(time.Minute), gap: time.Minute}
	cases := map[string]struct {
		turn    turn
		began   time.Time
		after   time.Duration // how long after began it is now
		slack   time.Duration
		overdue bool
		wait    time.Duration
	}{
		"never a pass": {turn: minute, overdue: true, wait: retry},
		"a moment before it is overdue": {
			turn: minute, began: began, after: time.Minute + time.Second - 1, slack: time.Second, wait: 1},
		"overdue at once": {
			turn: minute, began: began, after: time.Minute + time.Second, slack: time.Second, overdue: true, wait: retry},
		"a moment before its turn, without slack": {
			turn: minute, began: began, after: time.Minute - 1, wait: 1},
		"at its turn, without slack": {
			turn: minute, began: began, after: time.Minute, overdue: true, wait: retry},
		"looks again within a short interval": {
			turn: turn{due: began.Add(time.Second), gap: time.Second}, began: began, after: time.Hour,
			overdue: true, wait: time.Second},
		"a pass that began just now": {
			turn: minute, began: began, after: 0, wait: time.Minute},
		"a clock that was set back behind the last pass": {
			turn: minute, began: began, after: -1, overdue: true, wait: retry},
		"a far turn": {
			turn: turn{due: began.Add(24 * time.Hour), gap: 24 * time.Hour}, began: began, wait: longest},
		"a schedule that never fires": {
			turn: turn{gap: longest}, began: began, after: time.Hour, wait: longest},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			overdue, wait := lookout(c.turn, c.began, began.Add(c.after), c.slack)
			if overdue != c.overdue || wait != c.wait {
				t.Errorf("lookout = %v, %s, want %v, %s", overdue, wait, c.overdue, c.wait)
			}
		})
	}
}

func TestTurnAfter(t *testing.T) {
	at := time.Date(2026, 1, 1, 10, 0, 30, 0, time.Local)
	cases := map[string]struct {
		line string
		want turn
	}{
		"every so often":           {"@every 15s", turn{at.Add(15 * time.Second), 15 * time.Second}},
		"in local time":            {"0 12 * * *", turn{at.Add(2*time.Hour - 30*time.Second), 24 * time.Hour}},
		"a day that does not come": {"0 0 30 2 *", turn{gap: longest}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			schedule, err := cron.ParseStandard(c.line)
			if err != nil {
				t.Fatal(err)
			}
			got := turnAfter(schedule, at.UTC()) // the ledger's clock, in any zone
			if !got.due.Equal(c.want.due) || got.gap != c.want.gap {
				t.Errorf("turnAfter(%s) = %v, want %v", c.line, got, c.want)
			}
		})
	}
}

func TestSlack(t *testing.T) {
	cases := map[string]struct {
		gap   time.Duration
		early float64
		want  time.Duration
	}{
		"a second for most":             {15 * time.Second, 0, time.Second},
		"a second from four":            {4 * time.Second, 0, time.Second},
		"a quarter of less than four":   {2 * time.Second, 0, time.Second / 2},
		"some kick before the others":   {15 * time.Second, 1, 750 * time.Millisecond},
		"and so they do in a short one": {time.Second, 0.5, 250*time.Millisecond - 31250*time.Microsecond},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (&watch{early: c.early}).slack(c.gap); got != c.want {
				t.Errorf("slack(%s) = %s, want %s", c.gap, got, c.want)
			}
		})
	}
}

// A rota is a ledger whose passes come by themselves until a time.
type rota struct {
	start time.Time
	each  time.Duration
	until time.Time // no pass begins after it
	last  time.Time // a pass that was kicked
	asked int
	err   error
	makes bool // this process makes a pass all the while
}

func (r *rota) LastBegan(context.Context, reconcile.PassKind) (began, now time.Time, err error) {
	r.asked++
	now = time.Now()
	at := now
	if at.After(r.until) {
		at = r.until
	}
	began = r.start.Add(at.Sub(r.start).Truncate(r.each))
	if r.last.After(began) {
		began = r.last
	}
	return began, now, r.err
}

// watched runs a watch over the rota for some time and returns when it kicked.
func (r *rota) watched(t *testing.T, d time.Duration, answers bool) (kicks []time.Duration, log *journal) {
	t.Helper()
	log = &journal{}
	var s schedules
	s.set(each(r.each), each(r.each))
	w := &watch{kind: reconcile.Quick, ledger: r, schedules: &s, log: &seldom{log: slog.New(slog.NewTextHandler(log, nil))},
		making: func(reconcile.PassKind) bool { return r.makes },
		kick: func(context.Context, reconcile.PassKind) error {
			kicks = append(kicks, time.Since(r.start))
			if answers {
				r.last = time.Now()
			}
			return r.err
		}}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	w.run(ctx)
	return kicks, log
}

func TestWatch(t *testing.T) {
	cases := map[string]struct {
		until   time.Duration // passes come by themselves for so long
		answers bool          // a kick makes a pass
		err     error
		makes   bool // a pass is being made here
		kicks   []time.Duration
		asked   int
		lines   int
	}{
		"one query an interval while all is well": {until: time.Hour, asked: 8},
		"kicks when passes stay away": {
			until: 60 * time.Second, answers: true, kicks: []time.Duration{76 * time.Second, 92 * time.Second, 108 * time.Second},
			asked: 11},
		"kicks again and again, but not in a storm": {
			until: 90 * time.Second,
			kicks: []time.Duration{106 * time.Second, 111 * time.Second, 116 * time.Second}, asked: 10},
		"kicks none beside a pass that is being made here, for a minute": {
			until: 30 * time.Second, makes: true,
			kicks: []time.Duration{106 * time.Second, 111 * time.Second, 116 * time.Second}, asked: 18},
		"a ledger that does not answer is told once a minute": {
			until: time.Hour, err: errors.New("connection refused"), asked: 24, lines: 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r := &rota{start: start, each: 15 * time.Second, until: start.Add(c.until), err: c.err, makes: c.makes}
				kicks, log := r.watched(t, 119*time.Second, c.answers)
				if !equal(kicks, c.kicks) {
					t.Errorf("kicked after %v, want %v", kicks, c.kicks)
				}
				if r.asked != c.asked || log.len() != c.lines {
					t.Errorf("asked %d times and told of %d troubles, want %d and %d: %s", r.asked, log.len(), c.asked, c.lines, log)
				}
			})
		})
	}
}

func equal(a, b []time.Duration) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestWatchHearsOfAnotherSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := &rota{start: start, each: 1000 * time.Hour, until: start}
		var s schedules
		s.set(never, never)
		var kicks []time.Duration
		w := &watch{kind: reconcile.Full, ledger: r, schedules: &s, log: &seldom{log: slog.New(slog.DiscardHandler)},
			making: func(reconcile.PassKind) bool { return false },
			kick: func(context.Context, reconcile.PassKind) error {
				kicks, r.last = append(kicks, time.Since(start)), time.Now()
				return nil
			}}
		time.AfterFunc(10*time.Second, func() { s.set(never, each(20*time.Second)) })
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
		defer cancel()
		w.run(ctx)
		if want := []time.Duration{21 * time.Second, 42 * time.Second}; !equal(kicks, want) {
			t.Errorf("kicked after %v, want %v", kicks, want)
		}
	})
}

// TestMaking: a full pass is a quick one too.
func TestMaking(t *testing.T) {
	for _, c := range []struct{ made, kind reconcile.PassKind }{
		{reconcile.Quick, reconcile.Quick}, {reconcile.Full, reconcile.Quick}, {reconcile.Full, reconcile.Full},
		{reconcile.Quick, reconcile.Full},
	} {
		q := &Queue{}
		q.passes(c.made).Add(1)
		if got, want := q.making(c.kind), c.made == reconcile.Full || c.kind == reconcile.Quick; got != want {
			t.Errorf("beside a %s pass a %s one is made: %t", c.made, c.kind, got)
		}
		q.passes(c.made).Add(-1)
		if q.making(c.kind) {
			t.Errorf("after a %s pass a %s one is made", c.made, c.kind)
		}
	}
}

// TestWhoMakesAPassKnowsIt: as long as its job lasts, and no longer.
func TestWhoMakesAPassKnowsIt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	made := make(chan bool, 1)
	l.duty.pass = func(ctx context.Context, kind reconcile.PassKind) (time.Duration, error) {
		select {
		case made <- l.making(kind):
		default:
		}
		return 0, l.duty.write(ctx, kind)
	}
	l.Queue = l.queue(never, never)
	l.run()
	if !<-made {
		t.Error("a pass is made, and the queue knows of none")
	}
	l.until("none is made", func() bool { return !l.making(reconcile.Quick) && !l.making(reconcile.Full) })
}
