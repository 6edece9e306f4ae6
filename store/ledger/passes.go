package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// BeginPass records that a pass has begun and gives it its number.
func (g *Ledger) BeginPass(ctx context.Context, l reconcile.Lease, kind reconcile.PassKind, at time.Time,
) (int64, error) {
	var id int64
	err := g.fenced(ctx, l, func(tx pgx.Tx, _ time.Time) error {
		return one(ctx, tx, "pass_begin", pgx.StrictNamedArgs{
			"kind": string(kind), "holder": l.Holder, "epoch": l.Epoch, "at": at,
		}, &id)
	})
	if err != nil {
		return 0, fmt.Errorf("begin %s pass: %w", kind, err)
	}
	return id, nil
}

// Record writes everything that a pass came to in one transaction, and ends the pass.
// It is refused, as a whole, when the lease was lost or the pass has ended already.
func (g *Ledger) Record(ctx context.Context, l reconcile.Lease, r reconcile.Record) error {
	err := g.fenced(ctx, l, func(tx pgx.Tx, now time.Time) error {
		writes, err := recordWrites(r, now)
		if err != nil {
			return err
		}
		if err := execAll(ctx, tx, writes); err != nil {
			return err
		}
		return endPass(ctx, tx, r, now)
	})
	if err != nil {
		return fmt.Errorf("record pass %d: %w", r.Pass, err)
	}
	return nil
}

// execAll runs the writes in their order, in one round trip.
func execAll(ctx context.Context, tx pgx.Tx, writes []write) (err error) {
	if len(writes) == 0 {
		return nil
	}
	var batch pgx.Batch
	for _, w := range writes {
		batch.Queue(queries[w.query], w.args)
	}
	results := tx.SendBatch(ctx, &batch)
	defer func() { err = errors.Join(err, results.Close()) }()
	for _, w := range writes {
		if _, err := results.Exec(); err != nil {
			return failed(w.query, err)
		}
	}
	return nil
}

func endPass(ctx context.Context, tx pgx.Tx, r reconcile.Record, now time.Time) error {
	counts := r.Counts
	if counts == nil {
		counts = map[string]int{}
	}
	return counted(ctx, tx, "pass_end", pgx.StrictNamedArgs{
		"pass": r.Pass, "now": now, "complete": r.Complete, "error": clean(r.Error), "kept": r.Kept, "counts": counts,
	}, fmt.Errorf("no pass of this number is open"))
}

// A write is one statement of a record.
type write struct {
	query string
	args  pgx.StrictNamedArgs
}

// recordWrites is what a record comes to, in the order in which it is written. What is
// empty is left out, but for the breakers: none open means that all close.
func recordWrites(r reconcile.Record, now time.Time) ([]write, error) {
	findings, err := findingWrites(r, now)
	if err != nil {
		return nil, err
	}
	actions, err := actionWrites(r, now)
	if err != nil {
		return nil, err
	}
	breakers, err := breakerWrites(r.Breakers)
	if err != nil {
		return nil, err
	}
	verdicts, err := verdictWrites(r, now)
	if err != nil {
		return nil, err
	}
	writes := []write{{"watch_since", pgx.StrictNamedArgs{"watch_since": stamp(r.WatchSince), "known": r.Known}}}
	writes = append(writes, worldWrites(r, now)...)
	writes = append(writes, findings...)
	writes = append(writes, actions...)
	writes = append(writes, breakers...)
	writes = append(writes, verdicts...)
	if len(r.Events) > 0 {
		writes = append(writes, putEvents(r.Events))
	}
	if len(r.Unsigned) > 0 {
		writes = append(writes, write{"put_unsigned", pgx.StrictNamedArgs{
			"now":      now,
			"subjects": column(r.Unsigned, func(u reconcile.UnsignedRequest) string { return clean(u.Subject) }),
			"what":     column(r.Unsigned, func(u reconcile.UnsignedRequest) string { return clean(u.What) }),
		}})
	}
	return writes, nil
}

// worldWrites are what a pass saw of tasks, sandboxes, sources and templates.
func worldWrites(r reconcile.Record, now time.Time) []write {
	var writes []write
	if len(r.Tasks) > 0 {
		writes = append(writes, putTasks(r.Tasks, now))
	}
	if len(r.Sandboxes) > 0 {
		writes = append(writes, putSandboxes(r.Sandboxes))
	}
	if len(r.Sources) > 0 {
		writes = append(writes, putSources(r.Sources))
	}
	if len(r.Templates) > 0 {
		writes = append(writes, putTemplates(r.Templates))
	}
	return writes
}
