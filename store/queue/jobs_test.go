package queue

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// logged waits until something was logged.
func (l *lab) logged(what string) {
	l.Helper()
	l.until("logged: "+what, func() bool { return strings.Contains(l.log.String(), what) })
}

func remedies(ids ...string) reconcile.Work { return reconcile.Work{Remedies: ids} }

func TestKicksAreWorked(t *testing.T) {
	t.Parallel()
	for name, pollOnly := range map[string]bool{"told by the database": false, "by looking": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).quietly()
			l.pace.pollOnly = pollOnly
			did, probed := make(chan string, 9), make(chan reconcile.Ref, 9)
			l.duty.remedy = func(_ context.Context, id string) (time.Duration, error) { did <- id; return 0, nil }
			l.duty.probe = func(_ context.Context, ref reconcile.Ref) error { probed <- ref; return nil }
			l.run()
			ref := reconcile.Ref{Provider: "p", ID: "s/1"}
			l.must(l.Kick(t.Context(), reconcile.Work{Remedies: []string{"r1"}, Probes: []reconcile.Ref{ref}}))
			if id := receive(l, did); id != "r1" {
				t.Errorf("worked at remedy %q, want r1", id)
			}
			if got := receive(l, probed); got != ref {
				t.Errorf("probed %v, want %v", got, ref)
			}
			l.must(l.Kick(t.Context(), reconcile.Work{}))
		})
	}
}

func TestJobNobodyWasToldOfIsFound(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	did := make(chan string, 9)
	l.duty.remedy = func(_ context.Context, id string) (time.Duration, error) { did <- id; return 0, nil }
	l.run()
	l.must(l.Kick(t.Context(), remedies("first")))
	receive(l, did)
	l.exec(`INSERT INTO sandkeeper.river_job (kind, queue, args) VALUES ('remedy', 'remedies', '{"id": "silent"}')`)
	if id := receive(l, did); id != "silent" {
		t.Errorf("worked at %q, want the silent one", id)
	}
}

func TestKicksDoNotPileUp(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	work := reconcile.Work{Remedies: []string{"r1", "r2"}, Probes: []reconcile.Ref{{Provider: "p", ID: "s"}}}
	kick := func() {
		l.must(l.Kick(t.Context(), work))
		l.must(l.KickPass(t.Context(), reconcile.Quick))
	}
	kick()
	kick()
	for kind, want := range map[string]int{"remedy": 2, "probe": 1, "pass": 1} {
		if n := l.jobs(kind, "available"); n != want {
			t.Errorf("%d %s jobs wait after two kicks, want %d", n, kind, want)
		}
	}
	// As a killed process leaves them.
	l.exec("UPDATE sandkeeper.river_job SET state = 'running', attempted_at = now(), attempt = 1")
	kick()
	for kind, want := range map[string]int{"remedy": 2, "probe": 0, "pass": 1} {
		if n := l.jobs(kind, "available"); n != want {
			t.Errorf("%d %s jobs wait beside those of a killed process, want %d", n, kind, want)
		}
	}
	l.exec("UPDATE sandkeeper.river_job SET attempted_at = now() - $1::interval WHERE kind = 'probe'", probeTakes+time.Second)
	kick()
	if n := l.jobs("probe", "available"); n != 1 {
		t.Errorf("%d probe jobs wait beside one that a killed process left, want 1", n)
	}
	l.must(l.KickPass(t.Context(), reconcile.Full))
	if n := l.jobs("pass", "available"); n != 2 {
		t.Errorf("%d pass jobs wait, want one of each kind", n)
	}
}

func TestRemedyWaits(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		again   time.Duration
		snoozes int
	}{
		"a short time in its job":    {20 * time.Millisecond, 0},
		"a longer time in the queue": {shortWait + time.Millisecond, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).quietly()
			var asked atomic.Int32
			l.duty.remedy = func(context.Context, string) (time.Duration, error) {
				if asked.Add(1) == 1 {
					return c.again, nil
				}
				return 0, nil
			}
			l.run()
			l.must(l.Kick(t.Context(), remedies("r1")))
			l.until("the remedy is done", func() bool { return l.jobs("remedy", "completed") == 1 })
			snoozes := l.count("SELECT coalesce((metadata ->> 'snoozes')::int, 0) FROM sandkeeper.river_job")
			attempts := l.count("SELECT attempt FROM sandkeeper.river_job")
			if asked.Load() != 2 || snoozes != c.snoozes || attempts != 1 {
				t.Errorf("asked %d times, %d snoozes, attempt %d; want 2, %d, 1", asked.Load(), snoozes, attempts, c.snoozes)
			}
		})
	}
}

func TestRemedyIsTriedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	var asked atomic.Int32
	l.duty.remedy = func(context.Context, string) (time.Duration, error) {
		switch asked.Add(1) {
		case 1:
			return 0, errors.New("no such luck")
		case 2:
			panic("at the disco")
		}
		return 0, nil
	}
	l.run()
	l.must(l.Kick(t.Context(), remedies("r1")))
	l.until("the third attempt", func() bool { return l.jobs("remedy", "completed") == 1 })
	l.logged("no such luck")
	l.logged("at the disco")
	if n := l.count("SELECT attempt FROM sandkeeper.river_job"); n != 3 {
		t.Errorf("done in attempt %d, want 3", n)
	}
}

func TestBackoff(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 6: 30 * time.Second, 99: 30 * time.Second,
	} {
		if got := backoffAfter(attempt); got != want {
			t.Errorf("backoffAfter(%d) = %s, want %s", attempt, got, want)
		}
	}
}

func TestOldProbesAreDropped(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	probed := make(chan string, 9)
	l.duty.probe = func(_ context.Context, ref reconcile.Ref) error { probed <- ref.ID; return nil }
	for id, age := range map[string]time.Duration{
		"old": probeBudget + time.Second, "young": probeBudget - 100*time.Second,
	} {
		l.exec(`INSERT INTO sandkeeper.river_job (kind, queue, args, created_at)
			VALUES ('probe', 'probes', jsonb_build_object('provider', 'p', 'sandbox', $1::text), now() - $2::interval)`,
			id, age)
	}
	l.run()
	l.until("both jobs are done", func() bool { return l.jobs("probe", "completed") == 2 })
	if id := receive(l, probed); id != "young" || len(probed) > 0 {
		t.Errorf("probed %s and %d others, want the young one alone", id, len(probed))
	}
}

func TestStopLetsARemedyFinish(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	began, told, finish := make(chan context.Context, 9), make(chan struct{}), make(chan struct{})
	l.duty.remedy = func(ctx context.Context, _ string) (time.Duration, error) {
		began <- ctx
		<-finish
		return time.Second, nil
	}
	l.duty.pass = func(ctx context.Context, _ reconcile.PassKind) (time.Duration, error) {
		began <- ctx
		<-ctx.Done()
		close(told)
		return 0, nil
	}
	stop := l.run()
	l.must(l.KickPass(t.Context(), reconcile.Quick))
	receive(l, began)
	l.must(l.Kick(t.Context(), remedies("r1", "r2", "r3"))) // two at a time
	first, second := receive(l, began), receive(l, began)
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	receive(l, told) // passes are to stop, so everything knows
	if err := errors.Join(first.Err(), second.Err()); err != nil {
		t.Errorf("remedies that run were cut short: %v", err)
	}
	if len(ended) > 0 {
		t.Error("Run returned before they ended")
	}
	close(finish)
	l.must(receive(l, ended))
	if n := l.jobs("remedy", "available"); n != 3 || len(began) > 0 {
		t.Errorf("%d jobs are left to others and %d began after the stop, want 3 and 0", n, len(began))
	}
}

func TestStopCutsShortWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.pace.grace, l.pace.last = 50*time.Millisecond, patience // to be told of, however slow the machine
	began := make(chan struct{}, 9)
	wait := func(ctx context.Context) error {
		began <- struct{}{}
		<-ctx.Done()
		return errors.New("cut short: " + ctx.Err().Error())
	}
	l.duty.remedy = func(ctx context.Context, _ string) (time.Duration, error) { return 0, wait(ctx) }
	l.duty.probe = func(ctx context.Context, _ reconcile.Ref) error { return wait(ctx) }
	stop := l.run()
	l.must(l.Kick(t.Context(), reconcile.Work{Remedies: []string{"r"}, Probes: []reconcile.Ref{{Provider: "p", ID: "s"}}}))
	receive(l, began)
	receive(l, began)
	l.must(stop())
	for _, kind := range []string{"remedy", "probe"} {
		if n := l.jobs(kind, "available"); n != 1 {
			t.Errorf("%d %s jobs are left to others, want 1", n, kind)
		}
	}
	if n := l.count("SELECT max(attempt) FROM sandkeeper.river_job"); n != 0 {
		t.Errorf("being cut short counts as %d attempts, want 0", n)
	}
}

func TestStopDoesNotWaitForWhatHangs(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.pace.grace, l.pace.last = 20*time.Millisecond, 50*time.Millisecond
	began, free := make(chan struct{}), make(chan struct{})
	l.duty.remedy = func(context.Context, string) (time.Duration, error) {
		close(began)
		<-free
		return 0, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Queue.Run(ctx) }()
	l.must(l.Kick(t.Context(), remedies("r")))
	receive(l, began)
	cancel()
	if err := receive(l, ended); err == nil || !strings.Contains(err.Error(), "jobs still run") {
		t.Errorf("Run with a job that hangs = %v, want that it still runs", err)
	}
	close(free)
	l.until("its end is written all the same", func() bool { return l.jobs("remedy", "completed") == 1 })
}
