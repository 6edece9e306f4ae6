package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

// A Duty is what the jobs do. Its methods are called side by side, Pass one at a time.
type Duty interface {
	// Pass runs a pass if one is due. again is above 0 when somebody else holds the pass
	// lease, and says when to ask once more. Its context ends as soon as the process stops.
	Pass(ctx context.Context, kind reconcile.PassKind) (again time.Duration, err error)
	// PassNow runs a pass however recently another one began: a person asked for it, or a provider gave a reason to
	// look at the sandboxes that it pushed.
	PassNow(ctx context.Context, kind reconcile.PassKind, pushed ...reconcile.Ref) (again time.Duration, err error)
	// Remedy works at a remedy. again says when to call once more, 0 when nothing is left
	// or the next pass decides. Its context outlives a stop, so that what was begun outside
	// can be finished.
	Remedy(ctx context.Context, id string) (again time.Duration, err error)
	// Probe probes a sandbox.
	Probe(ctx context.Context, ref reconcile.Ref) error
	// Notify tells people what is wrong; Notifies reports whether there is anybody.
	Notify(ctx context.Context) error
	Notifies() bool
}

// Passes is what the watch needs of the ledger.
type Passes interface {
	// LastBegan reads when the newest pass of a kind began that also ended, zero for never,
	// and the ledger's now.
	LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error)
}

// Options are what a queue is made of. Only Log, Name and Workers may be left out.
type Options struct {
	Pool        *pgxpool.Pool // one connection beside the pool is kept open to listen, unless it is [store.Pooled]
	Duty        Duty
	Log         *slog.Logger
	Name        string // unique for each process, as it is told in jobs; default: River's own
	Quick, Full cron.Schedule
	Ledger      Passes
	Workers     int // remedies at a time, and for each so many probes as [probersEach] says; default 8
}

// A Queue works jobs and adds them. It is made by [New].
type Queue struct {
	o         Options
	insert    *river.Client[pgx.Tx] // adds jobs, works none
	schedules schedules
	pace      pace

	quick, full atomic.Int32 // passes that are being made here

	mu     sync.Mutex
	client *river.Client[pgx.Tx] // works jobs; nil while Run does not
}

// The pace of a queue: the times that tests change.
type pace struct {
	poll     time.Duration // between looks for jobs, beside being told of them
	grace    time.Duration // what runs may take to finish when the process stops
	last     time.Duration // and then, cut short, to say so
	patience time.Duration // how long a pass waits for the lease in its job
	notify   time.Duration // between two jobs that tell people, beside those after passes
	pushed   time.Duration // at least, from the beginning of a pass to that of one for a push
	pollOnly bool          // never LISTEN
}

// New makes a queue. It does not touch the database.
func New(o Options) (*Queue, error) {
	if o.Pool == nil || o.Duty == nil || o.Ledger == nil || o.Quick == nil || o.Full == nil {
		return nil, errors.New("make job queue: it needs a pool, a duty, a ledger and both schedules")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Workers <= 0 {
		o.Workers = 8
	}
	q := &Queue{o: o, pace: pace{
		poll: 10 * time.Second, grace: 25 * time.Second, last: 5 * time.Second, patience: time.Minute,
		notify: time.Minute, pushed: 5 * time.Second,
	}}
	if store.Pooled(o.Pool) {
		q.pace.pollOnly, q.pace.poll = true, time.Second // what is told would reach whoever has that session by then
	}
	q.schedules.set(o.Quick, o.Full)
	var err error
	if q.insert, err = q.newClient(&river.Config{}); err != nil {
		return nil, fmt.Errorf("make job queue: %w", err)
	}
	return q, nil
}

// Run works jobs and sees to it that passes come, until ctx ends. Then it takes no more,
// lets what runs finish for a while, and puts back what it had to cut short.
func (q *Queue) Run(ctx context.Context) error {
	client, err := q.start(ctx)
	if client == nil || err != nil {
		return err
	}
	var watches sync.WaitGroup
	for _, kind := range []reconcile.PassKind{reconcile.Quick, reconcile.Full} {
		w := q.newWatch(kind)
		watches.Go(func() { w.run(ctx) })
	}
	defer watches.Wait()
	defer q.working(nil)
	<-ctx.Done()
	return q.stopped(client)
}

// stopped waits for the client to end. One that hangs, for a job does not listen or the
// database does not answer, is left to the end of the process: its jobs are rescued.
func (q *Queue) stopped(client *river.Client[pgx.Tx]) error {
	limit := time.NewTimer(q.pace.grace + q.pace.last)
	defer limit.Stop()
	select {
	case <-client.Stopped():
		return nil
	case <-limit.C:
		return fmt.Errorf("stop job queue: jobs still run %s after they were to stop", q.pace.grace+q.pace.last)
	}
}

// Reschedule changes the schedules of this process. Each process has to be told.
func (q *Queue) Reschedule(quick, full cron.Schedule) {
	q.schedules.set(quick, full)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.client != nil {
		q.client.PeriodicJobs().Clear()
		if _, err := q.client.PeriodicJobs().AddManySafely(q.periodic()); err != nil {
			// Unreachable: River refuses only names that come twice, and these have none.
			q.o.Log.Error("new schedules of passes refused", "err", err)
		}
	}
}

// working says which client works now.
func (q *Queue) working(client *river.Client[pgx.Tx]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.client = client
}

func (q *Queue) newWatch(kind reconcile.PassKind) *watch {
	return &watch{
		kind: kind, ledger: q.o.Ledger, kick: q.kickOverdue, making: q.making, schedules: &q.schedules,
		log: &seldom{log: q.o.Log}, early: rand.Float64(),
	}
}

// making reports whether a pass of a kind, or one that covers it, is being made here.
func (q *Queue) making(kind reconcile.PassKind) bool {
	return q.full.Load() > 0 || kind == reconcile.Quick && q.quick.Load() > 0
}

// passes counts the passes of a kind that are being made here.
func (q *Queue) passes(kind reconcile.PassKind) *atomic.Int32 {
	if kind == reconcile.Full {
		return &q.full
	}
	return &q.quick
}
