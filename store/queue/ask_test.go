package queue

import (
	"context"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// A person who asks for a pass is told whether anybody will make it; where nobody works jobs
// nothing is added, and an empty database is no error.
func TestAskPassWhereNobodyWorks(t *testing.T) {
	t.Parallel()
	empty := emptyLab(t, pgtest.Database(t))
	if worked, err := AskPass(t.Context(), empty.pool, reconcile.Quick); worked || err != nil {
		t.Errorf("AskPass on an empty database = %v, %v, want false and no error", worked, err)
	}
	l := newLab(t)
	if worked, err := AskPass(t.Context(), l.pool, reconcile.Quick); worked || err != nil {
		t.Errorf("AskPass without a daemon = %v, %v, want false and no error", worked, err)
	}
	if n := l.count("SELECT count(*) FROM sandkeeper.river_job"); n != 0 {
		t.Errorf("%d jobs were added that nobody works", n)
	}
}

// Whoever began to work a queue just now works jobs before one of them leads, and so do the others of a leader that died
// a moment ago: a push that comes then is not lost.
func TestWhoWorks(t *testing.T) {
	t.Parallel()
	const leads = "INSERT INTO sandkeeper.river_leader (leader_id, elected_at, expires_at) VALUES ('a', now() - interval '1 hour', now() + $1::interval)"
	const begins = "INSERT INTO sandkeeper.river_queue (name, updated_at) VALUES ('passes', now() + $1::interval)"
	for name, c := range map[string]struct {
		row, at string
		want    bool
	}{
		"one leads":                {leads, "10s", true},
		"one led a moment ago":     {leads, "-10s", true},
		"one led minutes ago":      {leads, "-10min", false},
		"one begins":               {begins, "-1s", true},
		"one began and is no more": {begins, "-10min", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.exec(c.row, c.at)
			if worked, err := AskPass(t.Context(), l.pool, reconcile.Quick); worked != c.want || err != nil {
				t.Errorf("AskPass = %v, %v, want %v", worked, err, c.want)
			}
		})
	}
}

// What a person asks for is made however lately another pass began, and once.
func TestAskPass(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.run()
	l.until("somebody leads", func() bool {
		return l.count("SELECT count(*) FROM sandkeeper.river_leader WHERE expires_at > now()") == 1
	})
	worked, err := AskPass(t.Context(), l.pool, reconcile.Full)
	if !worked || err != nil {
		t.Fatalf("AskPass = %v, %v, want true", worked, err)
	}
	l.until("the pass", func() bool {
		return l.count("SELECT count(*) FROM public.passes WHERE kind = 'full now'") == 1
	})
}

// A pass of the schedule, which may turn out not to be due, does not swallow one that a
// person asked for.
func TestAskedPassIsNotCovered(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	entered, leave := make(chan struct{}), make(chan struct{})
	l.duty.pass = func(ctx context.Context, _ reconcile.PassKind) (time.Duration, error) {
		entered <- struct{}{}
		select {
		case <-leave:
		case <-ctx.Done():
		}
		return 0, nil
	}
	l.run()
	l.must(l.KickPass(t.Context(), reconcile.Full))
	receive(l, entered) // the one place for passes is taken
	l.until("somebody leads", func() bool {
		return l.count("SELECT count(*) FROM sandkeeper.river_leader WHERE expires_at > now()") == 1
	})
	if worked, err := AskPass(t.Context(), l.pool, reconcile.Quick); !worked || err != nil {
		t.Fatalf("AskPass = %v, %v, want true", worked, err)
	}
	// One of the schedule that waits before it in the queue covers all others of its kinds.
	l.exec("UPDATE sandkeeper.river_job SET priority = 2 WHERE args ->> 'asked' = 'true'")
	l.must(l.KickPass(t.Context(), reconcile.Full))
	leave <- struct{}{}
	receive(l, entered)
	leave <- struct{}{}
	l.until("the pass that was asked for", func() bool {
		return l.count("SELECT count(*) FROM public.passes WHERE kind = 'quick now'") == 1
	})
}
