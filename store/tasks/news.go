package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
)

// An apart is the statements that read rows and their events apart; the zero value where they are read together only.
type apart struct {
	rows string // the live rows, without events
	some string // live rows of given ids, with all their events
	many bool   // there are so many that one statement may not be enough for those of all live rows
	news string // what came since a moment; "" where no index finds it
}

// readApart makes them where rows are looked up by their id and events by a key that both sides write alike.
func (s *statements) readApart() (a apart, err error) {
	e := s.plan.events
	if e == nil || s.plan.from.apart || e.source != e.table {
		return apart{}, nil
	}
	row, event := s.cat.fields["sandbox"], s.cat.events["sandbox"]
	if e.byTask {
		row, event = s.cat.fields["id"], s.cat.events["task"]
	}
	id := s.cat.fields["id"]
	known := func(t columnType) bool { return t.tuple == nil && (t.keyed() || t.text()) }
	alike := row.like(event) && known(row) && known(id) && s.plan.plain["id"] != ""
	if src := s.eventSource(); !alike || !src.Indexed || src.Task != "" {
		return apart{}, nil
	}
	with := map[string]any{"Fields": s.selection(), "Table": s.plan.from.SQL, "Where": s.liveWhere(), "Events": nil,
		"Since": false}
	if a.rows, err = render("read", with); err != nil {
		return a, err
	}
	among := id.among(s.plan.columns["id"], "keys")
	a.many = s.cat.manyEvents && !s.fromTypeToType(s.eventSource())
	if a.some, err = s.read(s.liveWhere() + " AND " + among); err != nil || !s.cat.newsIndex {
		return a, err
	}
	with["Events"], with["Since"] = s.eventSource(), true
	a.news, err = render("read", with)
	return a, err
}

// The bounds of how many rows are read at once with all their events. A statement is to end long before its time-out,
// however many events there are: how many rows are read follows from how long those before took.
const (
	rowsFirst, rowsMost = 250, 8000
	quickRead, slowRead = time.Second, 3 * time.Second
)

// A newsReader reads the live rows in one snapshot, and of their events what is not known.
type newsReader struct {
	s     *statements
	tx    pgx.Tx
	now   time.Time
	known *signs                     // nil where nothing is to be remembered
	plain func(*reconcile.Task) bool // those that are left out; nil for none

	rows  int
	later []string // ids of those whose events are all to be read
	out   fleet.Pieces[reconcile.Task]
}

func (r *newsReader) read(ctx context.Context) ([]reconcile.Task, error) {
	if r.known != nil && !r.known.upTo.IsZero() {
		if _, err := r.news(ctx, false); err != nil {
			return nil, fmt.Errorf("%w: %w", errNews, err)
		}
	}
	first := query{sql: r.s.apart.rows, args: r.s.withLive(pgx.StrictNamedArgs{}), plain: r.first}
	if _, err := r.s.scan(ctx, r.tx, first, r.now); err != nil {
		return nil, err
	}
	if err := r.whole(ctx); err != nil {
		return nil, err
	}
	if r.known != nil {
		r.known.end(r.now, r.rows)
	}
	return r.out.All(), nil
}

// news adds the events that came since the last reading to those that are known, and reports whether none that came
// late is left out. Often is where readings follow one another closely.
func (r *newsReader) news(ctx context.Context, often bool) (all bool, err error) {
	args := r.s.readArgs()
	args["since"], all = r.known.since(r.now, often)
	rows, err := r.tx.Query(ctx, r.s.apart.news, args)
	if err != nil {
		return false, err
	}
	var key string
	var at [5]pgtype.Timestamptz
	_, err = pgx.ForEachRow(rows, []any{&key, &at[0], &at[1], &at[2], &at[3], &at[4]}, func() error {
		e := eventsAt(&at)
		r.known.come(key, &e)
		return nil
	})
	return all, err
}

// first is asked of each row, without its events: whether it is plain by those that are known. They may be fewer than
// there are, and a row that is not plain by them may be so by all.
func (r *newsReader) first(t *reconcile.Task) bool {
	r.rows++
	// What is known may be less than there is: it only says of a healthy row that it is.
	if r.known == nil || !r.known.tell(r.s.eventKeyOf(t), r.now, &t.Events) || !r.plain(t) {
		r.later = append(r.later, t.ID)
	}
	return true
}

// whole reads the rows that are left with all their events, some at a time.
func (r *newsReader) whole(ctx context.Context) error {
	left, some := onceOf(r.later), rowsFirst
	for len(left) > 0 {
		if err := reconcile.TooLate(ctx); err != nil {
			return err
		}
		n, began := min(some, len(left)), time.Now()
		q := query{sql: r.s.apart.some, args: r.s.withLive(r.s.readArgs()), plain: r.second}
		q.args["keys"] = left[:n]
		if _, err := r.s.scan(ctx, r.tx, q, r.now); err != nil {
			return err
		}
		switch took := time.Since(began); {
		case took < quickRead:
			some = min(2*some, rowsMost)
		case took > slowRead:
			some = max(some/4, 1)
		}
		left = left[n:]
	}
	return nil
}

// onceOf are the ids, each once, in their order where none is there twice: rows that were made together, as were their
// events, are then read together.
func onceOf(ids []string) []string {
	sorted := slices.Sorted(slices.Values(ids))
	if once := slices.Compact(sorted); len(once) < len(ids) {
		return once
	}
	return ids
}

// second is asked of each row with all its events, and keeps those that are not plain.
func (r *newsReader) second(t *reconcile.Task) bool {
	if r.known != nil {
		r.known.keep(r.s.eventKeyOf(t), r.now, &t.Events)
	}
	if r.plain == nil || !r.plain(t) {
		r.out.Add(t)
	}
	return true
}

// eventKeyOf is what a row's events are found by.
func (s *statements) eventKeyOf(t *reconcile.Task) string {
	if s.plan.events.byTask {
		return t.ID
	}
	return t.Sandbox
}

// errNews is a failure to read what came since: of an event of nobody's live row, which is not read otherwise.
var errNews = errors.New("read the events that came since the last reading")

// liveNews reads the live rows by what is known of their events; done is false where they are to be read together.
func (t *Tasks) liveNews(ctx context.Context, plain func(*reconcile.Task) bool,
) (out reconcile.Rows, done bool, err error) {
	if !t.remembers {
		return out, false, nil
	}
	known := t.signs.Swap(nil)
	err = t.begin(ctx, taskRead, func(tx pgx.Tx, now time.Time) error {
		s, err := t.statements(ctx, tx)
		if err != nil || s.apart.news == "" {
			return err
		}
		if known == nil || !known.stand(now) {
			known = newSigns()
		}
		r := &newsReader{s: s, tx: tx, now: now, known: known, plain: plain}
		out.Now, done = now, true
		out.Tasks, err = r.read(ctx)
		return err
	})
	if errors.Is(err, errNews) && ctx.Err() == nil {
		t.logger().WarnContext(ctx, "the events of the last minutes cannot be read alone: all events of live tasks are read",
			"err", err, "fix", "an event that the mapping cannot read is among them; see tasks.events")
		return reconcile.Rows{}, false, nil
	}
	t.signs.Store(known) // also after a failure: what was learned until then is true, and goes on from where it did
	return out, done, err
}
