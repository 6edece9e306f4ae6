package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	schema   = "sandkeeper"
	kept     = time.Hour // finished jobs tell those who debug what happened; the ledger has the rest
	maxStuck = 16        // jobs that hang for good and whose place is given to others

	pgerrNoFeature = "0A000" // feature_not_supported
)

// newClient makes a client of River on our schema.
func (q *Queue) newClient(c *river.Config) (*river.Client[pgx.Tx], error) {
	c.Schema, c.ID = schema, q.o.Name
	c.Logger = newQuiet(q.o.Log)
	c.Hooks = []rivertype.Hook{&begins{}}
	return river.NewClient(riverpgxv5.New(q.o.Pool), c)
}

// newWorking makes a client that works jobs until stop ends.
func (q *Queue) newWorking(stop context.Context, pollOnly bool) (*river.Client[pgx.Tx], error) {
	workers, s := river.NewWorkers(), shared{q, stop}
	err := errors.Join(
		river.AddWorkerSafely(workers, &passWorker{shared: s}),
		river.AddWorkerSafely(workers, &remedyWorker{shared: s}),
		river.AddWorkerSafely(workers, &probeWorker{shared: s}),
		river.AddWorkerSafely(workers, &notifyWorker{shared: s}),
	)
	if err != nil {
		return nil, err
	}
	return q.newClient(&river.Config{
		PollOnly: pollOnly,
		Workers:  workers,
		Queues: map[string]river.QueueConfig{
			passQueue:   {MaxWorkers: 1},
			remedyQueue: {MaxWorkers: q.o.Workers},
			// Nothing snoozes in these two, and what is added is told.
			probeQueue:  {MaxWorkers: probersEach * q.o.Workers, FetchPollInterval: 2 * q.pace.poll},
			notifyQueue: {MaxWorkers: 1, FetchPollInterval: 6 * q.pace.poll},
		},
		PeriodicJobs:                q.periodic(),
		FetchPollInterval:           q.pace.poll,
		JobTimeout:                  probeTimeout,
		RescueStuckJobsAfter:        rescueAfter,
		SoftStopTimeout:             q.pace.grace,
		CompletedJobRetentionPeriod: kept,
		CancelledJobRetentionPeriod: kept,
		DiscardedJobRetentionPeriod: kept,
		RetryPolicy:                 backoff{},
		ErrorHandler:                trouble{q.o.Log},
		JobStuckHandler:             trouble{q.o.Log}.stuck,
		// A table of some hundred rows needs no new indexes, and the keeper's role is often
		// not the owner, who alone may make them.
		ReindexerSchedule: river.NeverSchedule(),
	})
}

// periodic are the jobs that start passes on their schedules, and the one that tells people.
func (q *Queue) periodic() []*river.PeriodicJob {
	jobs := []*river.PeriodicJob{q.notifies()}
	for _, kind := range []reconcile.PassKind{reconcile.Quick, reconcile.Full} {
		schedule, _ := q.schedules.of(kind)
		if turnAfter(schedule, time.Now()).due.IsZero() {
			continue // never fires: River would add jobs without end
		}
		turns := steady{schedule, func() time.Time { return q.schedules.lastBegan(kind) }}
		jobs = append(jobs, river.NewPeriodicJob(turns, func() (river.JobArgs, *river.InsertOpts) {
			return passArgs{Pass: kind}, nil
		}, nil))
	}
	return jobs
}

// start starts a client, and tries again as long as the database does not answer. It
// returns none when ctx ends before.
func (q *Queue) start(ctx context.Context) (*river.Client[pgx.Tx], error) {
	log, pollOnly := seldom{log: q.o.Log}, q.pace.pollOnly
	for wait := 500 * time.Millisecond; ; wait = min(2*wait, q.pace.poll) {
		client, err := q.newWorking(ctx, pollOnly)
		if err != nil {
			return nil, fmt.Errorf("start job queue: %w", err)
		}
		err = q.startOne(ctx, client)
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, nil
		case err == nil:
			return client, nil
		}
		pollOnly = pollOnly || noListen(err)
		log.warn(ctx, "job queue cannot start yet", slog.Any("err", err))
		pause(ctx, wait, nil)
	}
}

// startOne starts a client, with the schedules of now: no change gets lost in between.
func (q *Queue) startOne(ctx context.Context, client *river.Client[pgx.Tx]) error {
	if err := client.Start(ctx); err != nil {
		return err
	}
	q.working(client)
	quick, _ := q.schedules.of(reconcile.Quick)
	full, _ := q.schedules.of(reconcile.Full)
	q.Reschedule(quick, full)
	return nil
}

// noListen reports whether the server has no LISTEN, as some that speak PostgreSQL's
// protocol: then the queue works by looking again and again.
func noListen(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && said.Code == pgerrNoFeature
}

// trouble tells of jobs that went wrong.
type trouble struct{ log *slog.Logger }

// HandleError tells of a job that failed.
func (t trouble) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	t.log.WarnContext(ctx, "job failed", "job", job.Kind, "args", string(job.EncodedArgs),
		"attempt", job.Attempt, "of", job.MaxAttempts, "err", err)
	return nil
}

// HandlePanic tells of a job that panicked. It counts as failed.
func (t trouble) HandlePanic(ctx context.Context, job *rivertype.JobRow, value any, trace string,
) *river.ErrorHandlerResult {
	t.log.ErrorContext(ctx, "job panicked", "job", job.Kind, "args", string(job.EncodedArgs),
		"attempt", job.Attempt, "of", job.MaxAttempts, "panic", fmt.Sprint(value), "stack", trace)
	return nil
}

// stuck tells of a job that does not end although its time is over, and gives its place to
// another: a process with one place for passes would have none.
func (t trouble) stuck(ctx context.Context, p river.JobStuckHandlerParams) river.JobStuckHandlerResult {
	t.log.ErrorContext(ctx, "job hangs past its deadline", "job", p.Kind, "id", p.ID, "hanging", p.TotalStuckJobs)
	return river.JobStuckHandlerResult{AddWorkerSlot: p.TotalStuckJobs <= maxStuck}
}
