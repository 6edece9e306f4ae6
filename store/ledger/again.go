package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// A recalls is what the last [Keeper.RecallAgain] of this process has recalled, and the sums by which the next one
// finds what has changed since.
type recalls struct {
	seed  int64 // of the sums
	last  *reconcile.Recalled
	tasks bucketed
	boxes bucketed
}

// Bucketed is what is in each bucket, by where it is remembered, and its sum.
type bucketed struct {
	sums   []int64
	places [][]reconcile.PlaceOf

	still bool     // nothing had changed at the last comparison
	sum   int64    // of all then, of a recall's any
	old   []string // where those stood that take long to find, and that only what else changes makes others
}

func newRecalls() *recalls {
	//nolint:gosec // it is no secret
	r := &recalls{seed: rand.Int64(), last: &reconcile.Recalled{}}
	r.tasks = bucketed{sums: make([]int64, buckets), places: make([][]reconcile.PlaceOf, buckets)}
	r.boxes = bucketed{sums: make([]int64, buckets), places: make([][]reconcile.PlaceOf, buckets)}
	return r
}

// RecallAgain reads the same as [Keeper.Recall], and tells what is remembered otherwise than at its last time. Of tasks
// and sandboxes it asks the server for sums over what there is to read, and reads those that have changed, by whomever.
// All that it has read is kept for the next time. Anew reads everything.
func (g *Keeper) RecallAgain(ctx context.Context, anew bool) (reconcile.Memory, *reconcile.Recalled, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return reconcile.Memory{}, nil, err
	}
	m := reconcile.Memory{Now: now}
	r := g.recalls.Swap(nil) // a failure leaves nothing to go on from
	if r == nil || anew {
		r = newRecalls()
	}
	next := r.last.Next(g.turns.Add(1))
	err = pgx.BeginTxFunc(ctx, g.pool, snapshot, func(tx pgx.Tx) error {
		if err := g.lately(ctx, tx); err != nil {
			return err
		}
		if err := r.read(ctx, tx, &m, next); err != nil {
			return err
		}
		next.Into(&m)
		return recallBut(ctx, tx, &m, g.seals.Load())
	})
	if errors.Is(err, errNoSchema) {
		return reconcile.Memory{Now: now, Fresh: true}, nil, nil
	}
	if err != nil {
		return reconcile.Memory{}, nil, fmt.Errorf("recall what has changed: %w", err)
	}
	r.last = next
	g.recalls.Store(r)
	return m, next, nil
}

// read puts into next what has changed.
func (r *recalls) read(ctx context.Context, tx pgx.Tx, m *reconcile.Memory, next *reconcile.Recalled) error {
	recent := m.Now.Add(-protocol.Recent)
	args := func() pgx.NamedArgs { return pgx.NamedArgs{"recent": recent, "seed": r.seed} }
	var task taskSeenRow
	err := r.tasks.read(ctx, tx, "recall_tasks", args, task.columns(),
		func() (reconcile.PlaceOf, error) { return next.PutTask(task.seen()), nil }, next.DropTask)
	if err != nil {
		return err
	}
	if next.LivesChanged() {
		r.boxes.still = false
	}
	var box sandboxRow
	return r.boxes.read(ctx, tx, "recall_sandboxes", args, box.columns(),
		func() (reconcile.PlaceOf, error) {
			if box.probes.at.IsZero() {
				return next.PutSandbox(box.SandboxSeen, nil), nil
			}
			probes, err := box.probes.seen(box.Ref)
			return next.PutSandbox(box.SandboxSeen, &probes), err
		}, next.DropSandbox)
}

// read reads what has changed. Where nothing had before, it asks for one sum of all first.
func (b *bucketed) read(ctx context.Context, tx pgx.Tx, recall string, args func() pgx.NamedArgs,
	columns []any, put func() (reconcile.PlaceOf, error), drop func(reconcile.PlaceOf)) error {
	if b.still {
		sum, err := b.any(ctx, tx, recall, args())
		if err != nil || sum == b.sum {
			return err
		}
	}
	changed, err := b.readBuckets(ctx, tx, recall, args(), columns, put, drop)
	if err != nil {
		return err
	}
	if b.still = !changed; !b.still {
		return nil
	}
	if old, has := queries[recall+"_old"]; has {
		if err = tx.QueryRow(ctx, old, args()).Scan(&b.old); err != nil {
			return failed(recall+"_old", err)
		}
	}
	b.sum, err = b.any(ctx, tx, recall, args())
	return err
}

// any is what stands for all that is recalled.
func (b *bucketed) any(ctx context.Context, tx pgx.Tx, recall string, args pgx.NamedArgs) (sum int64, err error) {
	args["old"] = b.old
	err = tx.QueryRow(ctx, queries[recall+"_any"], args).Scan(&sum)
	return sum, failedOrNil(recall+"_any", err)
}

// readBuckets reads what is in those buckets that hold something else than before, and drops what is not there any
// more.
func (b *bucketed) readBuckets(ctx context.Context, tx pgx.Tx, recall string, args pgx.NamedArgs, columns []any,
	put func() (reconcile.PlaceOf, error), drop func(reconcile.PlaceOf)) (some bool, err error) {
	args["sums"] = b.sums
	rows, err := tx.Query(ctx, queries[recall+"_sums"], args)
	if err != nil {
		return false, failed(recall+"_sums", err)
	}
	var changed []int64
	was := map[reconcile.PlaceOf]bool{}
	var bucket, sum int64
	_, err = pgx.ForEachRow(rows, []any{&bucket, &sum}, func() error {
		changed = append(changed, bucket)
		for _, at := range b.places[bucket] {
			was[at] = true
		}
		b.sums[bucket], b.places[bucket] = sum, nil
		return nil
	})
	if err != nil || len(changed) == 0 {
		return false, failedOrNil(recall+"_sums", err)
	}
	args = pgx.NamedArgs{"recent": args["recent"], "buckets": changed}
	if rows, err = tx.Query(ctx, queries[recall+"_some"], args); err != nil {
		return true, failed(recall+"_some", err)
	}
	_, err = pgx.ForEachRow(rows, append(columns, &bucket), func() error {
		at, err := put()
		b.places[bucket] = append(b.places[bucket], at)
		delete(was, at)
		return err
	})
	for at := range was {
		drop(at)
	}
	return true, failedOrNil(recall+"_some", err)
}

func failedOrNil(query string, err error) error {
	if err != nil {
		return failed(query, err)
	}
	return nil
}
