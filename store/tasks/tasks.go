package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

// Tasks is the user's task table, read and written by its mapping. It may be used by
// several goroutines.
type Tasks struct {
	pool *pgxpool.Pool
	plan *Compiled
	now  func() time.Time // this machine's clock; only Check compares it
	log  *slog.Logger     // told of what a write leaves undone; nil for the program's own

	ledger   LedgerBeside
	onlyLook bool // Check tries no write, also none that it would roll back

	after time.Duration // how long a worker may be silent; only Check compares it

	caller Caller // nil where the config has no call

	size atomic.Int64 // rows of the last read of all live tasks: the next will have about as many

	byAndBy atomic.Bool // one statement did not do for the live rows and their events

	remembers bool                  // what was read of events is gone on from
	signs     atomic.Pointer[signs] // what [Tasks.LiveBut] knows of events; nil before it has read any, and while it reads

	seed    int64                 // of the sums of rows
	still   atomic.Bool           // no row had changed at the last comparison
	heardBy atomic.Pointer[signs] // that [Tasks.LiveAgain] was last told by what was heard

	creators atomic.Pointer[[]string] // who may create in schemas of the login's path, which are left out for it

	mu    sync.Mutex
	known *statements        // nil until the catalog was read, and again when it no longer fits
	past  *historyStatements // nil until a history was read
	told  map[string]string  // rows that could not be read, and why
}

var _ reconcile.Tasks = (*Tasks)(nil)

// OnlyLook has [Tasks.Check] try no write, also none that it would roll back.
func (t *Tasks) OnlyLook() { t.onlyLook = true }

// RememberEvents has [Tasks.LiveBut] remember what it read of events, in 100 bytes of memory for each task: the next
// one reads what came since.
func (t *Tasks) RememberEvents() { t.remembers = true }

// NewTasks is the task table behind the pool. The clock is this machine's, which
// [Tasks.Check] compares with the database's; nothing else is timed by it.
func NewTasks(pool *pgxpool.Pool, c *Compiled, clock func() time.Time) *Tasks {
	if clock == nil {
		clock = time.Now
	}
	return &Tasks{pool: pool, plan: c, now: clock, told: map[string]string{}, seed: newSeed()}
}

// ReportTo names the log that is told of what a write leaves undone.
func (t *Tasks) ReportTo(log *slog.Logger) { t.log = log }

// SilentAfter says how long a worker may be silent by the rules, for [Tasks.Check] to compare with what it sees.
func (t *Tasks) SilentAfter(after time.Duration) { t.after = after }

// Clock reads the task database's now and whether it is fit to be judged from.
func (t *Tasks) Clock(ctx context.Context) (reconcile.TaskClock, error) {
	sql, err := render("clock", map[string]string{"Table": t.plan.from.SQL})
	if err != nil {
		return reconcile.TaskClock{}, err
	}
	var c reconcile.TaskClock
	err = t.begin(ctx, taskRead, func(tx pgx.Tx, now time.Time) error {
		c.Now = now
		return tx.QueryRow(ctx, sql).Scan(&c.Standby, &c.Empty)
	})
	if err != nil {
		return reconcile.TaskClock{}, t.plain("read the task database's clock", err)
	}
	return c, nil
}

// Live reads the tasks that are not terminal and pass the `where` of the config.
func (t *Tasks) Live(ctx context.Context) (reconcile.Rows, error) {
	all := func(s *statements) (query, error) {
		return query{sql: s.live, args: s.withLive(s.readArgs()), size: int(t.size.Load())}, nil
	}
	rows, err := t.rows(ctx, "read the live tasks", all)
	if tookTooLong(err) && ctx.Err() == nil && !t.byAndBy.Swap(true) {
		rows, err = t.rows(ctx, "read the live tasks", all)
	}
	t.size.Store(int64(len(rows.Tasks)))
	return rows, err
}

// LiveBut reads the same, and leaves out those rows of which plain says that they are. What was read of events before
// is remembered: plain is asked of a row with what is known and what came since, where that can be looked up. Where it
// says no it is asked once more, of the row with all its events, which is kept.
func (t *Tasks) LiveBut(ctx context.Context, plain func(*reconcile.Task) bool) (reconcile.Rows, error) {
	rows, done, err := t.liveNews(ctx, plain)
	if done || err != nil {
		return rows, err
	}
	rows, err = t.atOnce(ctx, func(s *statements) (query, error) {
		return query{sql: s.live, args: s.withLive(s.readArgs()), plain: plain}, nil
	})
	rows.Tasks = t.plan.from.onceEach(rows.Tasks)
	return rows, err
}

// Expect says how many live tasks there are likely to be, before any were read.
func (t *Tasks) Expect(n int) { t.size.CompareAndSwap(0, int64(n)) }

// ByID reads rows by key whatever their status. A row that was asked for in another
// spelling of its id (a uuid in upper case) comes back under that spelling too, so that
// it never looks absent.
func (t *Tasks) ByID(ctx context.Context, ids []string) (reconcile.Rows, error) {
	return t.rows(ctx, "read tasks by id", func(s *statements) (query, error) {
		q := query{lookup: s.cat.fields["id"].parse(ids), spelled: true}
		return s.byKey(q, s.cat.fields["id"].among(s.plan.columns["id"], "keys"))
	})
}

// BySandbox reads rows whatever their status, whose sandbox column holds one of the keys.
func (t *Tasks) BySandbox(ctx context.Context, keys []string) (reconcile.Rows, error) {
	return t.rows(ctx, "read tasks by sandbox", func(s *statements) (query, error) {
		column, mapped := s.plan.columns["sandbox"]
		if !mapped {
			return query{}, nil
		}
		q := query{lookup: s.cat.fields["sandbox"].parse(keys)}
		return s.byKey(q, s.cat.fields["sandbox"].among("("+column+")", "keys"))
	})
}

// A query is one read. Without SQL nothing is asked and nothing found.
type query struct {
	sql     string
	args    pgx.StrictNamedArgs
	size    int    // rows that are expected
	among   string // the condition that a row is one of the keys; "" for all live tasks
	lookup  lookup
	plain   func(*reconcile.Task) bool // those that are left out; nil for none
	spelled bool                       // rows come back under the spellings that were asked for
}

func (s *statements) byKey(q query, where string) (query, error) {
	if len(q.lookup.keys) == 0 {
		return q, nil
	}
	sql, err := s.read(where)
	q.among, q.sql, q.args, q.size = where, sql, s.readArgs(), min(len(q.lookup.keys), 1024)
	q.args["keys"] = q.lookup.keys
	return q, err
}

// rows runs one read in its own transaction, and once more by pieces when the values of some row cannot be read.
func (t *Tasks) rows(ctx context.Context, doing string, ask func(*statements) (query, error)) (reconcile.Rows, error) {
	out, err := t.atOnce(ctx, ask)
	if _, bad := unreadable(err); bad {
		out, err = t.byPieces(ctx, ask, err)
	}
	out.Tasks = t.plan.from.onceEach(out.Tasks)
	if err != nil {
		return reconcile.Rows{}, t.plain(doing, err)
	}
	return out, nil
}

func (t *Tasks) atOnce(ctx context.Context, ask func(*statements) (query, error)) (reconcile.Rows, error) {
	var out reconcile.Rows
	err := t.begin(ctx, taskRead, func(tx pgx.Tx, now time.Time) error {
		s, err := t.statements(ctx, tx)
		if err != nil {
			return err
		}
		q, err := ask(s)
		if err != nil {
			return err
		}
		out.Now, out.Unparsable = now, q.lookup.unparsable
		if q.sql == "" {
			return nil
		}
		if q.lookup.keys == nil && s.apart.rows != "" && (s.apart.many || t.byAndBy.Load()) {
			out.Tasks, err = (&newsReader{s: s, tx: tx, now: now, plain: q.plain}).read(ctx)
			return err
		}
		out.Tasks, err = s.scan(ctx, tx, q, now)
		return err
	})
	return out, err
}

var (
	taskRead  = pgx.TxOptions{BeginQuery: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + queries["begin"]}
	taskWrite = pgx.TxOptions{BeginQuery: "BEGIN ISOLATION LEVEL READ COMMITTED; " + queries["begin"]}
	// What a repair of several tables overwrites must be what was read: a row that somebody changed meanwhile is refused,
	// and the repair is tried again later. Nothing is waited for, because what came meanwhile would not be seen.
	taskWrites = pgx.TxOptions{BeginQuery: "BEGIN ISOLATION LEVEL REPEATABLE READ; " + queries["begin"]}
)

// begin runs a transaction that knows the database's now, which is never later than what
// it reads, and looks names up only where nobody else may create.
func (t *Tasks) begin(ctx context.Context, o pgx.TxOptions, do func(pgx.Tx, time.Time) error) error {
	err := pgx.BeginTxFunc(ctx, t.pool, o, func(tx pgx.Tx) error {
		var now time.Time
		var creators []string
		var set string
		args := pgx.StrictNamedArgs{"timezone": store.First(t.plan.mapping.Timezone, "UTC"), "relation": t.plan.tableOrNull()}
		if err := tx.QueryRow(ctx, queries["session"], args).
			Scan(&now, &creators, &set, &set, &set, &set, &set); err != nil {
			return notPrepared{fmt.Errorf("prepare the transaction: %w", err)}
		}
		t.creators.Store(&creators)
		if err := reconcile.TooLate(ctx); err != nil {
			return err
		}
		return do(tx, now)
	})
	if unfit(err) {
		t.forget()
	}
	return err
}

// creatorsLeftOut is who may create in schemas of the login's path, as "dave in public", by the last transaction.
func (t *Tasks) creatorsLeftOut() []string {
	if creators := t.creators.Load(); creators != nil {
		return *creators
	}
	return nil
}

// statements reads the catalog once.
func (t *Tasks) statements(ctx context.Context, tx pgx.Tx) (*statements, error) {
	t.mu.Lock()
	known := t.known
	t.mu.Unlock()
	if known != nil {
		return known, nil
	}
	cat, err := readCatalog(ctx, tx, t.plan)
	if err != nil {
		return nil, err
	}
	if known, err = newStatements(t.plan, cat, t.logger()); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = known
	return known, nil
}

// forget makes the next statement read the catalog again.
func (t *Tasks) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = nil
}
