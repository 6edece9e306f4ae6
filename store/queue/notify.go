package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
)

const (
	notifyQueue    = "notifications"
	notifyTimeout  = 45 * time.Second
	notifyAttempts = 4 // the next pass and the next minute add another job
)

// notifyArgs are a job to tell people what is wrong. What each is told stands in the ledger.
type notifyArgs struct{}

// Kind names the kind of job.
func (notifyArgs) Kind() string { return "notify" }

// InsertOpts are how such a job is added.
func (notifyArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: notifyQueue, MaxAttempts: notifyAttempts}
}

// notifyWorker tells people what is wrong.
type notifyWorker struct {
	river.WorkerDefaults[notifyArgs]
	shared
}

// Timeout bounds what all receivers together may take.
func (*notifyWorker) Timeout(*river.Job[notifyArgs]) time.Duration { return notifyTimeout }

// Work tells people what is wrong.
func (w *notifyWorker) Work(ctx context.Context, _ *river.Job[notifyArgs]) error {
	err := w.o.Duty.Notify(ctx)
	if err != nil && ctx.Err() != nil && w.stop.Err() != nil {
		return river.JobSnooze(0)
	}
	return err
}

// KickNotify adds a job to tell people what is wrong, unless one waits to be begun already.
func (q *Queue) KickNotify(ctx context.Context) error {
	jobs, err := q.fresh(ctx, notifyQueue, []river.InsertManyParams{{Args: notifyArgs{}}})
	if err == nil {
		err = q.add(ctx, jobs)
	}
	if err != nil {
		return fmt.Errorf("add job to notify people: %w", err)
	}
	return nil
}

// notifies is the job that also comes where no pass does: that passes stay away is to be told too.
func (q *Queue) notifies() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(q.pace.notify), func() (river.JobArgs, *river.InsertOpts) {
		if !q.o.Duty.Notifies() {
			return nil, nil
		}
		return notifyArgs{}, nil
	}, nil)
}
