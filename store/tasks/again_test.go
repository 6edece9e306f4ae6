package tasks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// A book has each live row as it was read last.
type book struct {
	sums []int64
	rows map[string]bookRow
	read map[string]bool // in the last reading
}

type bookRow struct {
	reconcile.RowSum
	reconcile.Task
}

func newBook() *book {
	return &book{sums: make([]int64, reconcile.RowBuckets), rows: map[string]bookRow{}}
}

func (b *book) Sums() []int64 { return b.sums }

func (b *book) Pick(sums map[int]int64, rows []reconcile.RowSum) (ids []string, ok bool) {
	before := b.rows
	b.rows, b.read = map[string]bookRow{}, map[string]bool{}
	for id, row := range before {
		if _, changed := sums[row.Bucket]; !changed {
			b.rows[id] = row
		}
	}
	for bucket, sum := range sums {
		b.sums[bucket] = sum
	}
	for _, row := range rows {
		was, known := before[row.ID]
		if known && was.Sum == row.Sum && !row.Heard {
			b.rows[row.ID] = was
			continue
		}
		b.rows[row.ID] = bookRow{RowSum: row}
		ids = append(ids, row.ID)
	}
	return ids, true
}

// again reads what has changed, and compares what is known of all rows then with what one statement reads.
func (w *world) again(b *book) {
	w.t.Helper()
	rows, done, err := w.tasks.LiveAgain(w.t.Context(), b, func(t *reconcile.Task) bool {
		row := b.rows[t.ID]
		row.Task = *t
		b.rows[t.ID], b.read[t.ID] = row, true
		return true
	})
	if err != nil || !done || len(rows.Tasks) > 0 {
		w.t.Fatalf("done = %t, %d rows are kept: %v", done, len(rows.Tasks), err)
	}
	known, want := map[string]reconcile.Task{}, w.live()
	for id, row := range b.rows {
		row.AsOf = time.Time{}
		known[id] = row.Task
	}
	for id, t := range want {
		t.AsOf = time.Time{}
		want[id] = t
	}
	if diff := cmp.Diff(want, known); diff != "" {
		w.t.Fatalf("what is known after reading what has changed (-all rows +known):\n%s", diff)
	}
}

// An event that comes much later than its time is heard as well, by a reading of the next seconds.
func TestWhatCameLateIsHeardByAndBy(t *testing.T) {
	w, b := omoiosWorld(t), newBook()
	w.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', 'box')", id("1"))
	w.again(b)
	w.exec(`INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at)
		VALUES ('late', 'box', 'agent.heartbeat', now() - interval '30 seconds')`)
	w.tasks.signs.Load().late = w.tasks.signs.Load().late.Add(-signsOften)
	w.again(b)
}

// TestReadingWhatHasChangedIsReadingAll: rows that are not read again are as they were, whatever was written to them
// and of them in between, once or several times, in transactions that were committed or not.
func TestReadingWhatHasChangedIsReadingAll(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := &randomPlatform{world: omoiosWorld(t), Rand: rand.New(rand.NewPCG(seed, 43)), late: 4000}
			b, unread := newBook(), 0
			for range 40 {
				for range p.IntN(4) {
					p.adds()
				}
				for range p.IntN(3) {
					p.moves()
				}
				if p.IntN(5) == 0 {
					p.asked(always) // a full pass in between takes the news for itself
				}
				p.again(b)
				unread += len(b.rows) - len(b.read)
			}
			if unread < 5 {
				t.Errorf("%d rows were left unread in 40 readings: too few to show anything", unread)
			}
		})
	}
}

// TestWhichRowsAreReadAgain: a row is read again after each write to it that is committed, and no other.
func TestWhichRowsAreReadAgain(t *testing.T) {
	undone := errors.New("rolled back")
	write := func(w *world, end error, statements ...string) {
		err := pgx.BeginFunc(w.t.Context(), w.pool, func(tx pgx.Tx) error {
			for _, sql := range statements {
				if _, err := tx.Exec(context.WithoutCancel(w.t.Context()), sql); err != nil {
					return err
				}
			}
			return end
		})
		if err != nil && !errors.Is(err, undone) {
			w.t.Fatal(err)
		}
	}
	const one = " WHERE sandbox_id = 'box-1'"
	for name, c := range map[string]struct {
		then func(*world)
		want int
	}{
		"nothing":            {func(*world) {}, 0},
		"an update":          {func(w *world) { write(w, nil, "UPDATE program.tasks SET status = 'running'"+one) }, 1},
		"one that is undone": {func(w *world) { write(w, undone, "UPDATE program.tasks SET status = 'running'"+one) }, 0},
		"a lock":             {func(w *world) { write(w, nil, "SELECT FROM program.tasks"+one+" FOR UPDATE") }, 0},
		"two in one transaction": {func(w *world) {
			write(w, nil, "UPDATE program.tasks SET retry_count = 1"+one, "UPDATE program.tasks SET retry_count = 0"+one)
		}, 1},
		"two readings, two writes": {func(w *world) {
			write(w, nil, "UPDATE program.tasks SET error_message = 'a'"+one)
			write(w, nil, "UPDATE program.tasks SET error_message = NULL"+one)
		}, 1},
		"it leaves": {func(w *world) { write(w, nil, "UPDATE program.tasks SET status = 'completed'"+one) }, 0},
		"it is deleted and made again": {func(w *world) {
			write(w, nil, "CREATE TEMP TABLE was ON COMMIT DROP AS SELECT * FROM program.tasks"+one,
				"DELETE FROM program.tasks"+one,
				"INSERT INTO program.tasks SELECT * FROM was")
		}, 1},
		"an event of it": {func(w *world) {
			w.exec("INSERT INTO program.sandbox_events (sandbox_id, event_type) VALUES ('box-1', 'agent.heartbeat')")
		}, 1},
		"of nobody": {func(w *world) {
			w.exec("INSERT INTO program.sandbox_events (sandbox_id, event_type) VALUES ('box-x', 'agent.heartbeat')")
		}, 0},
		"the table is made anew": {func(w *world) { w.exec("VACUUM FULL tasks") }, 50},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := omoiosWorld(t), newBook()
			w.exec(fmt.Sprintf(addLive, 50))
			w.exec(`UPDATE tasks SET sandbox_id = 'box-' || row_number
				FROM (SELECT id AS of, row_number() OVER () FROM tasks) AS r WHERE id = of`)
			w.exec(`INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
				SELECT sandbox_id, 'agent.started', now() - interval '1 hour' FROM tasks`)
			w.again(b)
			w.again(b)
			if len(b.read) > 0 {
				t.Fatalf("%d rows are read although nothing changed", len(b.read))
			}
			c.then(w)
			if w.again(b); len(b.read) != c.want {
				t.Errorf("%d rows are read again, want %d", len(b.read), c.want)
			}
		})
	}
}

// TestWhoComparesRows: the presets compare, and so do a table without events and a view; where events can only be read
// with all rows nobody does.
func TestWhoComparesRows(t *testing.T) {
	plain, _ := uuidWorld(t)
	view := newWorld(t, `CREATE TABLE jobs (id text PRIMARY KEY, status text); CREATE TABLE more (id text, note text);
		CREATE VIEW both_of AS SELECT j.id, j.status, m.note FROM jobs AS j LEFT JOIN more AS m USING (id);
		INSERT INTO jobs VALUES ('1', 'running'), ('2', 'running'); INSERT INTO more VALUES ('1', 'a')`, mapping.Mapping{
		From: "both_of", Columns: map[string]string{"id": "id", "status": "status", "error": "note"},
		Statuses: map[string][]string{"running": {"running"}},
	})
	noIndex := newWorld(t, pgtest.OmoiOS+pgtest.OmoiOSProgram+"; DROP INDEX sandbox_events_created_at_idx",
		mapping.Mapping{Preset: "omoios"})
	further := newWorld(t, `CREATE TABLE jobs (id text PRIMARY KEY, status text); CREATE TABLE more (id text, note text);
		CREATE FUNCTION note_of(text) RETURNS text STABLE LANGUAGE sql AS 'SELECT note FROM public.more AS m WHERE m.id = $1';
		INSERT INTO jobs VALUES ('1', 'running'), ('2', 'running'); INSERT INTO more VALUES ('1', 'a')`, mapping.Mapping{
		Table: "jobs", Columns: map[string]string{"id": "id", "status": "status", "session": "(public.note_of(id))"},
		Statuses: map[string][]string{"running": {"running"}},
	})
	for name, w := range map[string]*world{"a table": plain, "a view": view, "an expression": further} {
		b := newBook()
		w.again(b)
		if w.again(b); len(b.read) > 0 {
			t.Errorf("%d rows of %s are read again", len(b.read), name)
		}
	}
	for name, w := range map[string]*world{"the view": view, "the expression": further} {
		b := newBook()
		w.again(b)
		w.again(b)
		w.exec("UPDATE more SET note = 'c'")
		if w.again(b); len(b.read) != 1 {
			t.Errorf("%d rows are read again after another table of %s changed, want 1", len(b.read), name)
		}
	}
	b := newBook()
	view.again(b)
	view.exec("INSERT INTO jobs VALUES ('3', 'running'); INSERT INTO more VALUES ('3', 'a'), ('3', 'a')")
	_, _, err := view.tasks.LiveAgain(t.Context(), b, always)
	if err != nil || !b.read["3"] && len(b.rows) != 3 {
		t.Errorf("a row that comes twice is not noticed: %v, %v", b.rows, err)
	}
	if _, done, err := noIndex.tasks.LiveAgain(t.Context(), newBook(), always); done || err != nil {
		t.Errorf("without an index on the time of events rows are compared: %t, %v", done, err)
	}
}
