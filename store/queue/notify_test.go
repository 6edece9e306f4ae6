package queue

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestNotifications: a job after a pass, one that comes by itself, and again when it failed.
func TestNotifications(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	told := make(chan error, 99)
	fails := errors.New("the ledger is away")
	l.duty.notify = func(context.Context) error {
		err := fails
		fails = nil
		told <- err
		return err
	}
	l.run()
	l.must(l.KickNotify(t.Context()))
	if err := receive(l, told); err == nil {
		t.Error("the first attempt did not fail")
	}
	receive(l, told) // tried again
	l.until("the job is done", func() bool { return l.jobs("notify", "completed") == 1 })
	if n := l.jobs("notify", "completed"); n != 1 {
		t.Errorf("%d jobs, want one that was tried twice", n)
	}
}

// TestNotificationsWithoutPasses: that passes stay away is told too.
func TestNotificationsWithoutPasses(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	told := make(chan bool, 99)
	l.duty.notify = func(context.Context) error {
		told <- true
		return nil
	}
	l.pace.notify = 100 * time.Millisecond
	l.run()
	receive(l, told)
	receive(l, told)
}

// TestNobodyToNotify adds no jobs.
func TestNobodyToNotify(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.pace.notify = 10 * time.Millisecond
	did := make(chan string, 1)
	l.duty.remedy = func(_ context.Context, id string) (time.Duration, error) {
		did <- id
		return 0, nil
	}
	l.run()
	l.must(l.Kick(t.Context(), remedies("r")))
	receive(l, did)
	if n := l.count("SELECT count(*) FROM sandkeeper.river_job WHERE kind = 'notify'"); n != 0 {
		t.Errorf("%d jobs to tell nobody", n)
	}
}
