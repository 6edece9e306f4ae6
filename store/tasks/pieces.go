package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// unreadable reports whether a read failed for a value of some row, and the server's words for it: a time that no
// time with a zone can be (4713 BC), a text that is no number, a JSON that is nested too deep.
func unreadable(err error) (string, bool) {
	var e *pgconn.PgError
	var before notPrepared
	if errors.As(err, &e) && ofAValue(e) && !errors.As(err, &before) {
		return text.Clip(e.Message, 200), true
	}
	return "", false
}

// ofAValue reports whether an error of a read is one of the values that it met: of data, of a domain, beyond a limit of
// the server (54001: nested too deep), raised by a function of the platform's, or NaN where a whole number is meant,
// which the server takes for a feature that it lacks.
func ofAValue(e *pgconn.PgError) bool {
	classes := []string{"22", "23", "38", "39", "54", "P0"}
	return len(e.Code) == 5 && slices.Contains(classes, e.Code[:2]) ||
		e.Code == "0A000" && strings.HasPrefix(e.Routine, "numeric_")
}

// notPrepared is a failure before anything was read, as of a setting that is refused.
type notPrepared struct{ error }

func (e notPrepared) Unwrap() error { return e.error }

// ofWrongType reports whether a read failed for a text that is none of its field's type, as of a column that is mapped
// to a wrong field; a time out of range is the row's own.
func ofWrongType(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "22P02" || e.Code == "22007" || e.Code == "22023")
}

func anyRead(tasks []reconcile.Task) bool {
	return slices.ContainsFunc(tasks, func(t reconcile.Task) bool { return t.State != reconcile.TaskUnknown })
}

// pieces reads what a statement could not read as a whole, by halves: one row that cannot be read would else
// stop the pass for all of them. Such a row comes back with its id, its status and its sandbox alone,
// in no state: it is shown, its sandbox is explained by it, and nothing is judged from it.
type pieces struct {
	s   *statements
	tx  pgx.Tx
	q   query
	now time.Time

	left map[string]string // ids of the rows that could not be read, and why
}

// of reads the rows of these keys.
func (p *pieces) of(ctx context.Context, keys []string) ([]reconcile.Task, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	q := p.q
	q.args["keys"], q.size = keys, len(keys)
	var out []reconcile.Task
	err := pgx.BeginFunc(ctx, p.tx, func(inner pgx.Tx) (err error) {
		out, err = p.s.scan(ctx, inner, q, p.now)
		return err
	})
	why, bad := unreadable(err)
	switch {
	case err == nil || !bad:
		return out, err
	case len(keys) == 1:
		return p.bare(ctx, keys[0], why)
	}
	half := len(keys) / 2
	first, err := p.of(ctx, keys[:half])
	if err != nil {
		return nil, err
	}
	second, err := p.of(ctx, keys[half:])
	return append(first, second...), err
}

// bare is what of a row can be read without any value that a mapping makes.
func (p *pieces) bare(ctx context.Context, key, why string) ([]reconcile.Task, error) {
	rows, err := p.tx.Query(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s", p.s.bareFields(), p.s.plan.from.SQL, p.q.among),
		pgx.StrictNamedArgs{"keys": []string{key}})
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (reconcile.Task, error) {
		t := reconcile.Task{AsOf: p.now}
		err := row.Scan(&t.ID, &t.Version, &t.Status, &t.Sandbox)
		t.Status += " (the row cannot be read: " + why + ")"
		p.left[t.ID] = why
		return t, err
	})
	if err != nil || !p.q.spelled {
		return found, err
	}
	var out []reconcile.Task
	for _, t := range found {
		out = appendRedacted(out, t, p.q.lookup)
	}
	return out, nil
}

func (s *statements) bareFields() string {
	sandbox := "NULL"
	if column, mapped := s.plan.columns["sandbox"]; mapped {
		sandbox = "(" + column + ")::text"
	}
	return fmt.Sprintf("(%s)::text, %s, coalesce((%s)::text, ''), coalesce(%s, '')",
		s.plan.columns["id"], s.plan.from.Version, s.plan.columns["status"], sandbox)
}

// byPieces reads again, by halves, what failed as a whole. Of the live tasks it asks for their ids first. Where
// not one of those reads as the mapping says it is the mapping that is wrong.
func (t *Tasks) byPieces(
	ctx context.Context, ask func(*statements) (query, error), whole error,
) (reconcile.Rows, error) {
	var out reconcile.Rows
	p := &pieces{left: map[string]string{}}
	err := t.begin(ctx, taskRead, func(tx pgx.Tx, now time.Time) error {
		s, err := t.statements(ctx, tx)
		if err != nil {
			return err
		}
		p.s, p.tx, p.now = s, tx, now
		if p.q, err = ask(s); err != nil {
			return err
		}
		out.Now, out.Unparsable = now, p.q.lookup.unparsable
		keys := p.q.lookup.keys
		if p.q.among == "" {
			if keys, err = p.liveOnes(ctx); err != nil {
				return err
			}
		}
		all := p.q.lookup.keys == nil
		if out.Tasks, err = p.of(ctx, keys); err == nil && all && ofWrongType(whole) && !anyRead(out.Tasks) {
			return whole
		}
		return err
	})
	for id, why := range p.left {
		t.leftOut(ctx, id, why)
	}
	return out, err
}

// liveOnes are the ids of the live tasks, and what makes the query read those of given ids.
func (p *pieces) liveOnes(ctx context.Context) ([]string, error) {
	rows, err := p.tx.Query(ctx, fmt.Sprintf("SELECT (%s)::text FROM %s WHERE %s ORDER BY 1",
		p.s.plan.columns["id"], p.s.plan.from.SQL, p.s.inLiveState()), p.s.withLive(pgx.StrictNamedArgs{}))
	if err != nil {
		return nil, err
	}
	p.q.among = p.s.cat.fields["id"].among(p.s.plan.columns["id"], "keys")
	where := p.s.liveWhere() + " AND " + p.q.among
	if p.q.sql, err = p.s.read(where); err != nil {
		rows.Close()
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// leftOut tells once of a row that cannot be read.
func (t *Tasks) leftOut(ctx context.Context, id, why string) {
	t.mu.Lock()
	told := t.told[id] == why
	if len(t.told) > 1000 {
		clear(t.told)
	}
	t.told[id] = why
	t.mu.Unlock()
	if !told {
		t.logger().WarnContext(ctx, "a row of the task table cannot be read: nothing is judged from it",
			"task", text.Clip(id, 60), "why", why, "fix", "correct the row; `sandkeeper check` names the column")
	}
}
