package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Kick adds jobs for the work, but for what waits to be begun already.
func (q *Queue) Kick(ctx context.Context, work reconcile.Work) error {
	jobs := make([]river.InsertManyParams, 0, len(work.Remedies)+len(work.Probes))
	for _, id := range work.Remedies {
		jobs = append(jobs, river.InsertManyParams{Args: remedyArgs{ID: id}})
	}
	jobs, err := q.fresh(ctx, remedyQueue, jobs)
	if err != nil {
		return fmt.Errorf("look which of %d remedies wait already: %w", len(work.Remedies), err)
	}
	probes := make([]river.InsertManyParams, 0, len(work.Probes))
	for _, ref := range work.Probes {
		probes = append(probes, river.InsertManyParams{Args: probeArgs{Provider: ref.Provider, Sandbox: ref.ID}})
	}
	if probes, err = q.fresh(ctx, probeQueue, probes); err != nil {
		return fmt.Errorf("look which of %d probes wait already: %w", len(work.Probes), err)
	}
	if err := q.add(ctx, append(jobs, probes...)); err != nil {
		return fmt.Errorf("add jobs for %d remedies and %d probes: %w", len(jobs), len(probes), err)
	}
	return nil
}

// KickPass adds a job for a pass now, unless one waits to be begun already.
func (q *Queue) KickPass(ctx context.Context, kind reconcile.PassKind) error {
	return q.kickPass(ctx, passArgs{Pass: kind})
}

// AskPass adds a job for a pass now, for an operator, and reports whether any process works
// jobs at all. Where none does, nothing is added: the next `once` makes a pass anyway.
func AskPass(ctx context.Context, pool *pgxpool.Pool, kind reconcile.PassKind) (worked bool, err error) {
	q, err := working(ctx, pool)
	if q == nil || err != nil {
		return false, err
	}
	return true, q.kickPass(ctx, passArgs{Pass: kind, Asked: true})
}

// AskPushed adds a job for a quick pass that looks at these sandboxes besides, because a provider gave a reason to, and
// reports whether any process works jobs at all. Many of them come to few passes.
func AskPushed(ctx context.Context, pool *pgxpool.Pool, refs ...reconcile.Ref) (worked bool, err error) {
	q, err := working(ctx, pool)
	if q == nil || err != nil {
		return false, err
	}
	return true, q.kickPass(ctx, passArgs{Pass: reconcile.Quick, Pushed: refs})
}

// AskWork adds jobs for work that an operator asked for, and reports whether any process
// works jobs at all. Where none does, nothing is added: the next `once` does it anyway.
func AskWork(ctx context.Context, pool *pgxpool.Pool, work reconcile.Work) (worked bool, err error) {
	q, err := working(ctx, pool)
	if q == nil || err != nil {
		return false, err
	}
	return true, q.Kick(ctx, work)
}

// working is a queue that only adds jobs; nil when no process works them.
func working(ctx context.Context, pool *pgxpool.Pool) (*Queue, error) {
	q := &Queue{o: Options{Pool: pool, Log: slog.New(slog.DiscardHandler)}}
	var err error
	if q.insert, err = q.newClient(&river.Config{}); err != nil {
		return nil, fmt.Errorf("make a client that adds jobs: %w", err)
	}
	worked := false
	have, err := version(ctx, pool)
	if err == nil && have > 0 {
		err = pool.QueryRow(ctx, queries["worked"]).Scan(&worked)
	}
	if err != nil {
		return nil, fmt.Errorf("look whether anybody works jobs: %w", err)
	}
	if !worked {
		return nil, nil
	}
	return q, nil
}

// kickOverdue is what a watch does. Other than a pass that somebody asks for, this one is
// called off by one that has begun in time: it was only slow to end.
func (q *Queue) kickOverdue(ctx context.Context, kind reconcile.PassKind) error {
	return q.kickPass(ctx, passArgs{Pass: kind, Overdue: true})
}

func (q *Queue) kickPass(ctx context.Context, args passArgs) error {
	jobs, err := q.fresh(ctx, passQueue, []river.InsertManyParams{{Args: args}})
	if err != nil {
		return fmt.Errorf("look whether a %s pass waits already: %w", args.Pass, err)
	}
	if err := q.add(ctx, jobs); err != nil {
		return fmt.Errorf("add job for a %s pass: %w", args.Pass, err)
	}
	return nil
}

func (q *Queue) add(ctx context.Context, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	_, err := q.insert.InsertMany(ctx, jobs)
	return err
}

// fresh are those of the jobs of which none alike waits in the queue. A probe that runs is
// as good as one that waits: there is one at a time for each sandbox. Two processes that
// ask at the same moment may both be told so, which harms nothing.
func (q *Queue) fresh(ctx context.Context, queue string, jobs []river.InsertManyParams,
) ([]river.InsertManyParams, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	args := make([]string, len(jobs))
	for i, job := range jobs {
		text, err := json.Marshal(job.Args)
		if err != nil {
			return nil, err
		}
		args[i] = string(text)
	}
	running := time.Duration(0)
	if queue == probeQueue {
		running = probeTakes
	}
	rows, err := q.o.Pool.Query(ctx, queries["fresh"], pgx.StrictNamedArgs{
		"queue": queue, "args": args, "running": running,
	})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (job river.InsertManyParams, err error) {
		var place int
		err = row.Scan(&place)
		return jobs[max(place, 1)-1], err
	})
}

// deleteCovered deletes the jobs for passes of these kinds that were added before a job was
// taken, and wait.
func (q *Queue) deleteCovered(ctx context.Context, job int64, kinds []string) error {
	_, err := q.o.Pool.Exec(ctx, queries["collapse"], pgx.StrictNamedArgs{
		"job": job, "queue": passQueue, "kinds": kinds,
	})
	return err
}

// takePushed makes one job of a job for pushes and those that wait, and returns what they all are to look at.
func (q *Queue) takePushed(ctx context.Context, job int64) (pushed []reconcile.Ref, err error) {
	err = q.o.Pool.QueryRow(ctx, queries["take_pushed"], pgx.StrictNamedArgs{
		"job": job, "queue": passQueue, "most": pushedMost,
	}).Scan(&pushed)
	return pushed, err
}
