package tasks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// A again is the statements that compare the live rows with those of a reading before; the zero value where the events
// of rows can only be read with them all.
type again struct {
	any  string // what stands for all rows of one table; "" where they are read of more
	sums string // which buckets have changed
	some string // what stands for each row of some buckets, or of some keys of events
	rows string // live rows of given ids, without events
}

func (s *statements) readAgain() (a again, err error) {
	rows, key := s.apart.rows, "q.sk_sandbox"
	switch {
	case s.plan.events == nil:
		rows = s.live
	case s.apart.news == "":
		return again{}, nil
	case s.plan.events.byTask:
		key = "q.sk_id"
	}
	columns, told := s.ofTable()
	id := mapping.TaskFields[slices.IndexFunc(mapping.TaskFields, func(f mapping.Field) bool { return f.Name == "id" })]
	with := map[string]any{"Rows": rows, "Columns": columns, "Told": told, "Table": s.plan.from.SQL,
		"Where": s.liveWhere(), "ID": s.fieldSQL(id), "Key": key, "Mask": reconcile.RowBuckets - 1}
	for what, to := range map[string]*string{"any": &a.any, "sums": &a.sums, "some": &a.some} {
		with["What"] = what
		if *to, err = render("sums", with); err != nil {
			return a, err
		}
	}
	a.rows, err = render("read", map[string]any{"Fields": s.selection(), "Table": s.plan.from.SQL, "Events": nil,
		"Where": s.liveWhere() + " AND " + s.cat.fields["id"].among(s.plan.columns["id"], "keys"), "Since": false})
	if columns == nil {
		a.any = ""
	}
	return a, err
}

// ofTable are what rows and events are found by where rows are read of one table, and what is read by expressions,
// which may come to something else while their row stays as it is.
func (s *statements) ofTable() (keys, told []selected) {
	if s.plan.from.apart {
		return nil, nil
	}
	for _, f := range mapping.TaskFields {
		field := selected{"sk_" + f.Name, s.fieldSQL(f)}
		if f.Name == "id" || f.Name == "sandbox" {
			keys = append(keys, field)
		}
		if _, mapped := s.plan.columns[f.Name]; mapped && s.plan.plain[f.Name] == "" {
			told = append(told, field)
		}
	}
	return keys, told
}

// LiveAgain reads those live rows that are not as they were at a reading before, and leaves out those of which plain
// says that they are, as [Tasks.LiveBut] does. The server compares: rows that are the same are not read. Of events come
// those that are new. Done is false where everybody has to be read; then what was known of the rows before is nothing
// to go on from.
func (t *Tasks) LiveAgain(ctx context.Context, before reconcile.RowsBefore, plain func(*reconcile.Task) bool,
) (out reconcile.Rows, done bool, err error) {
	if !t.remembers {
		return out, false, nil
	}
	known := t.signs.Swap(nil)
	err = t.begin(ctx, taskRead, func(tx pgx.Tx, now time.Time) error {
		s, err := t.statements(ctx, tx)
		if err != nil || s.again.sums == "" {
			return err
		}
		r := &newsReader{s: s, tx: tx, now: now, plain: plain}
		if s.plan.events != nil {
			if known == nil || !known.stand(now) {
				known = newSigns()
			}
			r.known = known
		}
		out.Now = now
		done, err = t.readAgain(ctx, r, before)
		out.Tasks = r.out.All()
		return err
	})
	t.signs.Store(known)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42883" { // before PostgreSQL 14
		return reconcile.Rows{}, false, nil
	}
	if err != nil || !done {
		return reconcile.Rows{}, false, err
	}
	return out, true, nil
}

func (t *Tasks) readAgain(ctx context.Context, r *newsReader, before reconcile.RowsBefore) (done bool, err error) {
	heard, late := []string{}, true
	if r.known != nil {
		if !r.known.upTo.IsZero() {
			if late, err = r.news(ctx, true); err != nil {
				return false, fmt.Errorf("%w: %w", errNews, err)
			}
		}
		var whole bool
		heard, whole = r.known.takeHeard()
		if was := t.heardBy.Swap(r.known); (was != r.known || !whole) && known(before) {
			return false, nil // what came meanwhile was told to nobody
		}
	}
	sums, rows, err := t.changed(ctx, r, before.Sums(), heard)
	if err != nil {
		return false, err
	}
	ids, ok := before.Pick(sums, rows)
	if !ok {
		return false, nil
	}
	for first := range (len(ids) + rowsMost - 1) / rowsMost {
		if err := reconcile.TooLate(ctx); err != nil {
			return false, err
		}
		q := query{sql: r.s.again.rows, args: r.s.withLive(pgx.StrictNamedArgs{}), plain: r.first}
		q.args["keys"] = ids[first*rowsMost : min((first+1)*rowsMost, len(ids))]
		if r.known == nil {
			q.plain = r.second
		}
		if _, err := r.s.scan(ctx, r.tx, q, r.now); err != nil {
			return false, err
		}
	}
	if r.known == nil {
		return true, nil
	}
	if err := r.whole(ctx); err != nil {
		return false, err
	}
	r.known.heardUpTo(r.now, late)
	r.known.trim(r.now)
	return true, nil
}

// known reports whether something is known of rows.
func known(before reconcile.RowsBefore) bool {
	for _, sum := range before.Sums() {
		if sum != 0 {
			return true
		}
	}
	return false
}

// changed are the buckets that hold something else than before, with their sums, and their rows and those of the keys.
func (t *Tasks) changed(ctx context.Context, r *newsReader, was []int64, heard []string,
) (sums map[int]int64, out []reconcile.RowSum, err error) {
	sums, buckets, err := t.changedBuckets(ctx, r, was)
	if err != nil || len(buckets)+len(heard) == 0 {
		return sums, nil, err
	}
	args := r.s.withLive(pgx.StrictNamedArgs{"buckets": buckets, "heard": heard, "seed": t.seed})
	rows, err := r.tx.Query(ctx, r.s.again.some, args)
	if err != nil {
		return nil, nil, err
	}
	var row reconcile.RowSum
	_, err = pgx.ForEachRow(rows, []any{&row.ID, &row.Bucket, &row.Sum, &row.Heard}, func() error {
		out = append(out, row)
		return nil
	})
	return sums, out, err
}

// changedBuckets are those buckets. Where none had changed before, one sum of all is asked for first.
func (t *Tasks) changedBuckets(ctx context.Context, r *newsReader, was []int64) (map[int]int64, []int64, error) {
	sums, buckets := map[int]int64{}, []int64{}
	if r.s.again.any != "" && t.still.Load() {
		var all, now int64
		for _, sum := range was {
			all ^= sum
		}
		args := r.s.withLive(pgx.StrictNamedArgs{"seed": t.seed})
		err := r.tx.QueryRow(ctx, r.s.again.any, args).Scan(&now)
		if err != nil || now == all {
			return sums, buckets, err
		}
	}
	rows, err := r.tx.Query(ctx, r.s.again.sums, r.s.withLive(pgx.StrictNamedArgs{"sums": was, "seed": t.seed}))
	if err != nil {
		return nil, nil, err
	}
	var bucket, sum int64
	_, err = pgx.ForEachRow(rows, []any{&bucket, &sum}, func() error {
		sums[int(bucket)], buckets = sum, append(buckets, bucket)
		return nil
	})
	t.still.Store(err == nil && len(buckets) == 0)
	return sums, buckets, err
}

// newSeed is a seed of the sums of rows: nobody outside knows it.
func newSeed() int64 { return rand.Int64() } //nolint:gosec // who knew it could hide a row from one process for minutes
