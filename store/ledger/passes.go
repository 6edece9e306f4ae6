package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// BeginPass records that a pass has begun and gives it its number.
func (g *Keeper) BeginPass(ctx context.Context, l reconcile.Lease, kind reconcile.PassKind, at time.Time,
) (int64, error) {
	var id int64
	now, err := g.Now(ctx)
	if err != nil {
		return 0, fmt.Errorf("begin %s pass: %w", kind, err)
	}
	err = g.pool.QueryRow(ctx, behindFence(queries["pass_begin"]), pgx.StrictNamedArgs{
		"kind": string(kind), "holder": l.Holder, "epoch": l.Epoch, "at": at, "now": now,
	}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = protocol.Fenced(l)
	} else if err != nil {
		err = failed("pass_begin", err)
	}
	if err != nil {
		return 0, fmt.Errorf("begin %s pass: %w", kind, err)
	}
	return id, nil
}

// behindFence is a statement that writes only where the lease stands, and keeps anybody from taking it over meanwhile:
// what [base.fenced] does for many.
func behindFence(statement string) string {
	return "WITH fence AS (\n" + queries["fence"] + ")\n" + strings.Replace(statement, "-- FROM fence", "FROM fence", 1)
}

// rowsAtOnce is how many tasks, sandboxes, findings or lines of the timeline one statement of a record writes. The
// transaction stands still while a statement is encoded, and the server ends one that stands still for five seconds:
// all of a large fleet took longer. What a statement is encoded into grows with it, and is garbage then.
const rowsAtOnce = 2000

// Record writes everything that a pass came to in one transaction, and ends the pass.
// It is refused, as a whole, when the lease was lost or the pass has ended already.
func (g *Keeper) Record(ctx context.Context, l reconcile.Lease, r reconcile.Record) error {
	r.Tasks = lastOf(r.Tasks, func(t reconcile.TaskSeen) string { return t.ID })
	r.Sandboxes = lastOf(r.Sandboxes, func(s reconcile.SandboxSeen) reconcile.Ref { return s.Ref })
	r.Findings = lastOf(r.Findings, reconcile.Finding.Key)
	behind, err := g.behindWorld(ctx, r)
	if err == nil {
		err = g.fenced(ctx, l, func(tx pgx.Tx, now time.Time) error {
			if err := execRecord(ctx, tx, r, append(worldParts(r, now), behind...)); err != nil {
				return err
			}
			return endPass(ctx, tx, r, now)
		})
	}
	if err != nil {
		return fmt.Errorf("record pass %d: %w", r.Pass, err)
	}
	return nil
}

// behindWorld makes what is written behind the world before there is a transaction that would wait for it: the evidence
// of many findings takes seconds to encode.
func (g *Keeper) behindWorld(ctx context.Context, r reconcile.Record) ([]recordPart, error) {
	now, err := g.Now(ctx)
	if err != nil {
		return nil, err
	}
	writes, err := recordWrites(r, now)
	return column(writes, func(w write) recordPart { return func() []write { return []write{w} } }), err
}

// execRecord runs the parts in their order: in one round trip, or each by itself where one would take long to encode.
func execRecord(ctx context.Context, tx pgx.Tx, r reconcile.Record, parts []recordPart) error {
	large := max(len(r.Tasks), len(r.Sandboxes), len(r.Heard), len(r.Fresh), len(r.Findings), len(r.Events)) > rowsAtOnce
	var writes []write
	for _, part := range parts {
		if writes = append(writes, part()...); !large {
			continue
		}
		if err := execAll(ctx, tx, writes); err != nil {
			return err
		}
		writes = nil
	}
	return execAll(ctx, tx, writes)
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
	rules := make([]string, 0, len(r.Breakers))
	for rule := range r.Breakers {
		rules = append(rules, clean(rule))
	}
	return counted(ctx, tx, "pass_end", pgx.StrictNamedArgs{
		"pass": r.Pass, "now": now, "complete": r.Complete, "error": clean(r.Error), "kept": r.Kept, "counts": counts,
		"watch_since": stamp(r.WatchSince), "known": r.Known, "rules": rules,
	}, fmt.Errorf("no pass of this number is open"))
}

// A write is one statement of a record.
type write struct {
	query string
	args  pgx.StrictNamedArgs
}

// recordWrites is what a record comes to behind its world, in the order in which it is written.
// What is empty is left out.
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
	writes := findings
	writes = append(writes, actions...)
	writes = append(writes, breakers...)
	writes = append(writes, verdicts...)
	for some := range slices.Chunk(r.Events, rowsAtOnce) {
		writes = append(writes, putEvents(some))
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

// A recordPart is made when it is its turn.
type recordPart func() []write

// appendEach is column in the room of another list.
func appendEach[R, V any](to []V, rows []R, pick func(R) V) []V {
	to = slices.Grow(to, len(rows))
	for _, r := range rows {
		to = append(to, pick(r))
	}
	return to
}

// worldParts are what a pass saw of tasks, sandboxes, sources and templates.
func worldParts(r reconcile.Record, now time.Time) []recordPart {
	var parts []recordPart
	for some := range slices.Chunk(r.Tasks, rowsAtOnce) {
		parts = append(parts, func() []write { return []write{putTasks(some, now)} })
	}
	for some := range slices.Chunk(r.Sandboxes, rowsAtOnce) {
		parts = append(parts, func() []write { return []write{putSandboxes(some)} })
	}
	var tasks []reconcile.TaskSeen // of one part, and then of the next one: by then it was written
	for some := range slices.Chunk(r.Heard, rowsAtOnce) {
		parts = append(parts, func() []write {
			tasks = appendEach(tasks[:0], some, (*reconcile.CompactTask).Seen)
			return []write{putTasks(tasks, now)}
		})
	}
	var sandboxes []reconcile.SandboxSeen // likewise
	for some := range slices.Chunk(r.Fresh, rowsAtOnce) {
		parts = append(parts, func() []write {
			sandboxes = appendEach(sandboxes[:0], some, (*reconcile.CompactSandbox).Seen)
			return []write{putSandboxes(sandboxes)}
		})
	}
	return append(parts, func() (writes []write) {
		if len(r.Sources) > 0 {
			writes = append(writes, putSources(r.Sources))
		}
		if len(r.Templates) > 0 {
			writes = append(writes, putTemplates(r.Templates))
		}
		return writes
	})
}
