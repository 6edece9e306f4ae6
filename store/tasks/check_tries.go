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
	"github.com/sandkeeper/sandkeeper/store"
)

// tries does what a repair writes, each in a transaction of its own that is always rolled
// back: constraints and triggers say only then what they have against it.
func (c tryout) tries(ctx context.Context, mayUpdate, mayInsert bool) {
	for _, step := range []reconcile.Step{reconcile.StepFail, reconcile.StepRequeue} {
		if _, known := c.plan.changes[step]; known && mayUpdate {
			c.tryWrite(ctx, step)
		}
		if _, called := c.plan.calls[step]; called {
			c.ok(fmt.Sprintf("tasks.%s.call", step),
				"the platform is asked when it is due: a call cannot be tried without doing it")
		}
	}
	if c.plan.events != nil && c.plan.mapping.Events.Write && mayInsert {
		c.tryEvent(ctx)
	}
}

// errUndone ends a trial that went well.
var errUndone = errors.New("rolled back")

func (c tryout) undone(ctx context.Context, do func(tx pgx.Tx) error) error {
	err := c.begin(ctx, taskWrite, func(tx pgx.Tx, _ time.Time) error {
		var set string
		if err := tx.QueryRow(ctx, queries["patience"]).Scan(&set); err != nil {
			return err
		}
		if err := do(tx); err != nil {
			return err
		}
		return errUndone
	})
	if errors.Is(err, errUndone) {
		return nil
	}
	return err
}

// A sample is a live row that something is tried on.
type sample struct{ ID, Status, Sandbox string }

// sampled is nil when there is no live row that is free.
func (c tryout) sampled(ctx context.Context, tx pgx.Tx, lock bool) (*sample, error) {
	g := c.s.guard(&reconcile.Write{})
	sql, err := render("sample", map[string]any{"ID": c.plan.columns["id"], "Status": g.Status, "Sandbox": g.Sandbox,
		"Table": g.Table, "Live": g.Live, "Lock": lock && !c.plan.from.apart})
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sql, c.s.withLive(pgx.StrictNamedArgs{}))
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[sample])
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if lock {
		if free, err := c.s.lock(ctx, tx, found[0].ID, "SKIP LOCKED"); err != nil || !free {
			return nil, err
		}
	}
	return found[0], nil
}

// tried is the reason that a trial would write.
const tried = "a trial that is rolled back [sandkeeper check]"

// tryWrite fails or requeues a live row. Without one, only what is set to NULL is held
// against the table: no row that is over is ever written, not even so.
func (c tryout) tryWrite(ctx context.Context, step reconcile.Step) {
	what := "tasks." + string(step)
	written := reconcile.WriteMoved
	err := c.undone(ctx, func(tx pgx.Tx) error {
		row, err := c.sampled(ctx, tx, true)
		if err != nil || row == nil {
			return err
		}
		a, err := c.s.attempt(reconcile.Write{Step: step, Reason: tried, Lock: true,
			Task: reconcile.Task{ID: row.ID, Status: row.Status, Sandbox: row.Sandbox}})
		if err != nil {
			return err
		}
		version, err := a.update(ctx, tx)
		if version != "" {
			written = reconcile.WriteDone
		}
		return err
	})
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == "23502" && refused.ColumnName != "":
		c.badNull(step, refused.ColumnName)
	case err != nil:
		c.bad(what, store.OneLine(err), c.fixOf(err))
	case written == reconcile.WriteDone:
		c.ok(what, "was tried on a live row, and rolled back")
	default:
		c.nulls(ctx, step)
	}
}

func (c tryout) badNull(step reconcile.Step, column string) {
	c.bad(fmt.Sprintf("tasks.%s.set.%s", step, column), fmt.Sprintf("column %q of %s is NOT NULL and would become NULL",
		column, c.plan.table), fmt.Sprintf("set it to a value, or not at all: %s: {set: {%s: \"\"}}", step, column))
}

// nulls looks for what would be set to NULL where none may be.
func (c tryout) nulls(ctx context.Context, step reconcile.Step) {
	required, read := c.required(ctx, c.plan.table)
	if !read {
		return
	}
	good := true
	for _, a := range c.plan.changes[step].sets {
		null := strings.EqualFold(strings.Trim(a.SQL, "() "), "null")
		if null && slices.ContainsFunc(required, func(r requiredColumn) bool { return r.Name == a.name }) {
			c.badNull(step, a.name)
			good = false
		}
	}
	if good {
		c.ok("tasks."+string(step), "no live row is free to try it on: it was only parsed")
	}
}

// A requiredColumn takes no NULL.
type requiredColumn struct {
	Name, Type string
	Filled     bool // has a value by itself when it is not set
}

func (c tryout) required(ctx context.Context, table string) ([]requiredColumn, bool) {
	var out []requiredColumn
	read := c.step(ctx, table, func(tx pgx.Tx, _ time.Time) error {
		rows, err := tx.Query(ctx, queries["required"], pgx.StrictNamedArgs{"relation": table})
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowToStructByName[requiredColumn])
		return err
	})
	return out, read
}

// tryEvent adds an event. The catalog is asked first, which knows all columns that are
// missing, and no row is needed for it.
func (c tryout) tryEvent(ctx context.Context) {
	const what = "events.write"
	e := c.plan.events
	required, read := c.required(ctx, e.table)
	if !read {
		return
	}
	written := e.written()
	missing := slices.DeleteFunc(required, func(r requiredColumn) bool {
		return r.Filled || slices.Contains(written, r.Name)
	})
	for _, r := range missing {
		c.bad(what, fmt.Sprintf("column %q of %s is NOT NULL without a default", r.Name, e.table),
			fmt.Sprintf("set it: events: {set: {%s: %q}}", r.Name, r.likely()))
	}
	if len(missing) > 0 {
		return
	}
	row, err := c.addsEvent(ctx)
	var refused *pgconn.PgError
	switch {
	case err == nil:
		c.ok(what, "an event was added, and rolled back")
	case row == nil: // the sandbox is made up, which the table may well refuse
		c.ok(what, "there is no live task to try it for: "+store.OneLine(err))
	case errors.As(err, &refused):
		c.bad(what, store.OneLine(err), store.First(c.eventSentence(refused), c.fixOf(err)))
	default:
		c.bad(what, store.OneLine(err), "")
	}
}

// addsEvent adds an event of a live task, of a made-up one where there is none.
func (c tryout) addsEvent(ctx context.Context) (*sample, error) {
	var row *sample
	err := c.undone(ctx, func(tx pgx.Tx) error {
		var err error
		if row, err = c.sampled(ctx, tx, false); err != nil {
			return err
		}
		a := attempt{s: c.s, id: "0", reason: tried}
		a.Task.Sandbox = "sandkeeper-check"
		if row != nil {
			a.id = row.ID
			if row.Sandbox != "" {
				a.Task.Sandbox = row.Sandbox
			} else {
				row = nil
			}
		}
		return a.addEvent(ctx, tx)
	})
	return row, err
}

// likely is what a column of this kind may be set to.
func (r *requiredColumn) likely() string {
	text := strings.HasPrefix(r.Type, "character varying") || r.Type == "text"
	switch {
	case r.Type == "uuid":
		return "gen_random_uuid()"
	case text && (r.Name == "id" || strings.HasSuffix(r.Name, "_id")):
		return "gen_random_uuid()::text"
	case text:
		return "'system'"
	case strings.HasPrefix(r.Type, "timestamp"), r.Type == "date":
		return "@now"
	case r.Type == "boolean":
		return "false"
	case strings.HasPrefix(r.Type, "json"):
		return "'{}'"
	}
	return "0"
}

// tryout is the part of a [check] that tries the writes, and undoes them.
type tryout struct{ *check }

func (c *check) tryout() tryout { return tryout{c} }
