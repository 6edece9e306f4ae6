package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// statuses looks for statuses in the table that the mapping does not know: rows that have
// one are shown and never judged.
func (c *check) statuses(ctx context.Context) {
	column, key, unmapped := c.plan.columns["state"], "tasks.columns.state", c.plan.unknownState
	if c.plan.byStatus() {
		column, key, unmapped = c.plan.columns["status"], "tasks.statuses", c.plan.unknownStatus
	}
	var found []string
	if !c.step(ctx, key, func(tx pgx.Tx, _ time.Time) error {
		var err error
		found, err = c.found(ctx, tx, column)
		return err
	}) {
		return
	}
	unknown := slices.DeleteFunc(slices.Clone(found), func(s string) bool { return !unmapped(s) })
	slices.Sort(unknown)
	if len(unknown) > 0 {
		c.bad(key, fmt.Sprintf("the table has values that mean no state: %q; their rows are never judged", unknown),
			"add each to the state that it means")
		return
	}
	if never := c.never(found); len(found) > 0 && len(never) > 0 {
		c.ok(key, fmt.Sprintf("every status in the table is mapped; no row has %q", never))
		return
	}
	c.ok(key, "every status in the table is mapped")
}

// never are the statuses of the config that no row has.
func (c *check) never(found []string) []string {
	if !c.plan.byStatus() || c.plan.mapping.Preset != "none" {
		return nil
	}
	known := maps.Clone(c.plan.states)
	for _, status := range found {
		delete(known, status)
	}
	return slices.Sorted(maps.Keys(known))
}

// byStatus reports whether a row's state follows from its status as tasks.statuses maps it. A
// preset's own state expression only divides what they mean.
func (c *Compiled) byStatus() bool { return c.columns["state"] == "" || c.mapping.Split }

func (c *Compiled) unknownStatus(word string) bool { return c.states[word] == reconcile.TaskUnknown }

func (c *Compiled) unknownState(word string) bool {
	return c.stateOf(word, word) == reconcile.TaskUnknown
}

func (c *check) found(ctx context.Context, tx pgx.Tx, column string) ([]string, error) {
	looked := false
	if c.plan.byStatus() && !c.plan.from.apart {
		var err error
		if looked, err = indexed(ctx, tx, c.plan.table, c.plan.plain["status"]); err != nil {
			return nil, err
		}
	}
	sql, err := render("statuses", map[string]any{"Column": column, "Table": c.plan.from.SQL, "Indexed": looked})
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// clocks looks at each mapped clock in the live rows: whether it is written, by whom, and how far apart.
func (c *check) clocks(ctx context.Context) {
	rows, err := c.Live(ctx)
	if err != nil {
		c.bad("live tasks", store.OneLine(err), c.fixOf(err))
		return
	}
	c.ok("live tasks", fmt.Sprintf("%d were read", len(rows.Tasks)))
	c.entries(&rows)
	c.stateClock(&rows)
	for _, clock := range taskClocks {
		if c.plan.columns[clock.name] != "" {
			h := healthOf(clock, &rows)
			c.clock("clock "+clock.name, h.newest, rows.Now, &h)
		}
	}
	c.startedUnstarted(&rows)
	if c.plan.events == nil {
		return
	}
	var event time.Time
	for _, t := range rows.Tasks {
		event = reconcile.Latest(event, t.Events.Newest())
	}
	c.clock("clock events", event, rows.Now, nil)
}

// stateClock says that nothing tells since when a task is in its state: what is stuck when the first pass begins is
// found only when it was watched for as long as its rule waits.
func (c *check) stateClock(rows *reconcile.Rows) {
	if c.plan.columns["state_since"] != "" || c.plan.columns["updated_at"] != "" || len(rows.Tasks) == 0 {
		return
	}
	c.warn("clock state_since", fmt.Sprintf("neither it nor updated_at is mapped: of %d live tasks, as %s, no row tells "+
		"since when it is in its state, so its time there counts from when a pass saw it first", len(rows.Tasks),
		named(rows.Tasks[0].ID)),
		"map what is written when the status changes: tasks.columns.state_since")
}

// startedUnstarted says that tasks whose worker has not begun have a start time: that of a column which is written with
// the row. Whoever waits there for a worker seems to have one, and assigned-stale never finds it.
func (c *check) startedUnstarted(rows *reconcile.Rows) {
	ids := startedAtBirth(rows)
	if len(ids) == 0 {
		return
	}
	c.warn("clock started_at", fmt.Sprintf("it is created_at in all %d live tasks that wait for their worker, as %s: "+
		"each seems to have begun, and assigned-stale finds none", len(ids), named(ids[0])),
		"map it only where the worker has begun, as started_at: (CASE WHEN status = 'running' THEN "+
			c.plan.columns["started_at"]+" END), or remove tasks.columns.started_at")
}

// startedAtBirth are the assigned tasks, when each of them has a start that was written with its row. Where one has
// none, or one of an earlier attempt, the column is written by whoever starts.
func startedAtBirth(rows *reconcile.Rows) (ids []string) {
	for i := range rows.Tasks {
		t := &rows.Tasks[i]
		if t.State != reconcile.TaskAssigned {
			continue
		}
		if t.StartedAt.IsZero() || t.CreatedAt.IsZero() || t.StartedAt.Sub(t.CreatedAt).Abs() > sameMoment {
			return nil
		}
		ids = append(ids, t.ID)
	}
	return ids
}

// maxAhead is by how much a clock may run ahead of the database's now before it is not
// trusted any more.
const maxAhead = 5 * time.Second

// clock is the line of one clock; h is nil for the events.
func (c *check) clock(what string, at, now time.Time, h *clockHealth) {
	age := now.Sub(at).Round(time.Second)
	switch {
	case at.IsZero() && (h == nil || h.rows == 0):
		c.ok(what, "no value yet")
	case !at.IsZero() && age < -maxAhead:
		said := fmt.Sprintf("runs %s ahead of the database's now", text.Duration(-age))
		if h != nil {
			said += fmt.Sprintf(" in %d of %d, as %s", len(h.ahead), len(h.ages), named(h.ahead[0]))
		}
		c.bad(what, said,
			fmt.Sprintf("is tasks.timezone (%s) the zone of columns without time zone? else correct the clock of who writes it",
				c.plan.mapping.Timezone))
	case h == nil:
		c.ok(what, fmt.Sprintf("newest value %s ago", text.Duration(max(age, 0))))
	default:
		said, fix := h.ill(c.after)
		if said == "" {
			c.ok(what, fmt.Sprintf("newest value %s ago; %s", text.Duration(max(age, 0)), h.said()))
			return
		}
		c.warn(what, said+" ("+h.said()+")", fix)
	}
}

// StatusesOf are the values of a status column, of a table that is not mapped yet.
func StatusesOf(ctx context.Context, pool *pgxpool.Pool, table, column string) ([]string, error) {
	c := &compiler{m: mapping.Mapping{Table: table}, out: &Compiled{plain: map[string]string{}}}
	c.table()
	sql, name := c.value("tasks.columns.status", column)
	if len(c.mistakes) > 0 {
		return nil, errors.Join(c.mistakes...)
	}
	var found []string
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		looked, err := indexed(ctx, tx, c.out.table, name)
		if err != nil {
			return err
		}
		query, err := render("statuses", map[string]any{"Column": sql, "Table": c.out.table, "Indexed": looked})
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, query)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the statuses of %s: %w", table, err)
	}
	return found, nil
}
