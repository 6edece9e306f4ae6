package tasks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// columns looks at each mapped column by itself, so that one mistake does not hide the
// next, and then at the statements as a whole.
func (c *check) columns(ctx context.Context) bool {
	before := len(c.lines)
	c.columnsOf(ctx, checked{key: "tasks.columns.", fields: mapping.TaskFields, table: c.plan.from.SQL,
		columns: c.plan.columns, plain: c.plan.plain, query: c.plan.from.apart})
	c.setColumnsOf(ctx)
	if e := c.plan.events; e != nil {
		c.columnsOf(ctx, checked{key: "events.columns.", fields: mapping.EventFields, table: e.source, alias: " AS e",
			columns: e.columns, plain: e.plain, query: e.source != e.table})
	}
	if len(c.lines) > before || !c.fits(ctx) {
		return false
	}
	n := len(c.plan.columns)
	if c.plan.events != nil {
		n += len(c.plan.events.columns)
	}
	c.ok("columns", fmt.Sprintf("%d mapped columns exist and their types fit", n))
	return true
}

// A checked is a table with what is mapped of it.
type checked struct {
	key, table, alias string
	fields            []mapping.Field
	columns, plain    map[string]string
	query             bool // the table is a query, or a view
}

func (c *check) columnsOf(ctx context.Context, m checked) {
	var known []string
	if m.query {
		known = c.given(ctx, m)
	} else {
		known = c.known(ctx, m.table)
	}
	for _, f := range m.fields {
		sql, mapped := m.columns[f.Name]
		if !mapped {
			continue
		}
		if name, plain := m.plain[f.Name]; plain && !slices.Contains(known, name) {
			c.bad(m.key+f.Name, fmt.Sprintf("%s has no column %q", m.table, name), text.Unknown(name, known))
			continue
		}
		c.typeOf(ctx, m, f, sql)
	}
}

// known are the columns that a table has.
func (c *check) known(ctx context.Context, table string) []string {
	var columns []string
	c.step(ctx, table, func(tx pgx.Tx, _ time.Time) error {
		r, err := readRelation(ctx, tx, table)
		if r != nil {
			columns = r.Columns
		}
		return err
	})
	return columns
}

// given are the columns that a query has.
func (c *check) given(ctx context.Context, m checked) (columns []string) {
	c.step(ctx, m.key, func(tx pgx.Tx, _ time.Time) error {
		rows, err := tx.Query(ctx, "SELECT * FROM "+m.table+m.alias+" LIMIT 0", pgx.QueryExecModeDescribeExec)
		if err != nil {
			return err
		}
		defer rows.Close()
		for _, f := range rows.FieldDescriptions() {
			columns = append(columns, f.Name)
		}
		return nil
	})
	return columns
}

func (c *check) typeOf(ctx context.Context, m checked, f mapping.Field, sql string) {
	var t columnType
	read := c.step(ctx, m.key+f.Name, func(tx pgx.Tx, _ time.Time) error {
		types, err := describe(ctx, tx, m.table+m.alias, map[string]string{f.Name: sql})
		t = types[f.Name]
		return err
	})
	if !read {
		return
	}
	if fix := misfit(f, t, sql); fix != "" {
		c.bad(m.key+f.Name, fmt.Sprintf("%s is %s, which does not fit", sql, t.name), fix)
	}
}

// misfit is what to write instead when a type does not fit the field, "" when it does.
func misfit(f mapping.Field, t columnType, sql string) string {
	switch {
	case f.Name == "id" && !t.keyed() && !t.text():
		return "ids are uuid, bigint, integer, text or varchar"
	case f.Name == "data" && !t.text() && t.oid != pgtype.JSONOID && t.oid != pgtype.JSONBOID:
		return "the data of an event is jsonb, json or text"
	case f.Kind == mapping.Moment && !t.moment():
		return "a time is needed: timestamptz, timestamp or date, or an expression like (to_timestamp(" + sql + "))"
	case f.Kind == mapping.Span && t.oid != pgtype.IntervalOID:
		return "an interval is needed: an expression like (" + sql + " * interval '1 second')"
	case f.Kind == mapping.Number && !t.integer():
		return "an integer is needed: an expression like (" + sql + "::integer)"
	}
	return ""
}

func (t columnType) moment() bool {
	return t.oid == pgtype.TimestamptzOID || t.oid == pgtype.TimestampOID || t.oid == pgtype.DateOID
}

// setColumnsOf looks at the columns that fail and requeue set.
func (c *check) setColumnsOf(ctx context.Context) {
	if len(c.plan.changes) == 0 {
		return
	}
	known := c.known(ctx, c.plan.table)
	for _, step := range slices.Sorted(maps.Keys(c.plan.changes)) {
		for _, a := range c.plan.changes[step].sets {
			if !slices.Contains(known, a.name) {
				c.bad(fmt.Sprintf("tasks.%s.set.%s", step, a.name), fmt.Sprintf("%s has no column %q", c.plan.table, a.name),
					text.Unknown(a.name, known))
			}
		}
	}
}

// fits has the server parse every statement as it will be run, without running one. So it
// also sees what is set to a value of another type.
func (c *check) fits(ctx context.Context) bool {
	if !c.step(ctx, "columns", func(tx pgx.Tx, _ time.Time) error {
		s, err := c.Tasks.statements(ctx, tx)
		c.s = s
		return err
	}) {
		return false
	}
	for _, part := range c.s.cat.without {
		c.ok("tasks."+part, "the preset's own is left out: this role cannot read what it reads besides "+c.plan.table+
			" (deploy/grants_tasks.sql has the grants)")
	}
	good := c.parses(ctx, "tasks.where and columns", func() (string, error) { return c.s.live, nil })
	for step, change := range c.plan.changes {
		if change.status == "" && len(change.sets) == 0 {
			continue // its statements are tried on a live row
		}
		w := &reconcile.Write{Step: step, Refutable: true}
		good = c.parses(ctx, fmt.Sprintf("tasks.%s", step), func() (string, error) { return c.s.write(w) }) && good
	}
	if c.plan.mapping.Events.Write {
		good = c.parses(ctx, "events.write", c.s.event) && good
	}
	return good
}

func (c *check) parses(ctx context.Context, what string, sql func() (string, error)) bool {
	return c.step(ctx, what, func(tx pgx.Tx, _ time.Time) error {
		text, err := sql()
		if err != nil {
			return err
		}
		numbered, _, err := pgx.NamedArgs{}.RewriteQuery(ctx, tx.Conn(), text, nil)
		if err != nil {
			return err
		}
		_, err = tx.Conn().PgConn().Prepare(ctx, "", numbered, nil)
		return err
	})
}

// shape looks at what the guarded write relies on.
func (c *check) shape(ctx context.Context) {
	id := c.plan.plain["id"]
	if c.plan.from.apart {
		c.once(ctx)
	} else if c.plan.id != nil {
		c.tupleIndex(ctx)
	} else if id == "" {
		c.warn("tasks.columns.id", "it is an expression: a write that meets two rows is refused, and each look at one row "+
			"reads the table", fmt.Sprintf("CREATE UNIQUE INDEX CONCURRENTLY ON %s ((%s))", c.plan.table, c.plan.columns["id"]))
	} else {
		c.unique(ctx, "tasks.columns.id", id)
	}
	for step, ch := range c.plan.changes {
		c.room(step, ch)
	}
}

// tupleIndex looks for the index by which one row of several columns is found.
func (c *check) tupleIndex(ctx context.Context) {
	parts, _ := c.s.cat.fields["id"].comparable("")
	first := ""
	if len(parts) > 0 {
		first = sqltext.Tuple(c.plan.mapping.Columns["id"])[0]
	}
	if first == "" || sqltext.InParentheses(first) {
		c.warn("tasks.columns.id", "its first part is no column of a text, a number or a uuid: each look at one row reads "+
			"the table", "put such a column first")
		return
	}
	c.index(ctx, "index on tasks.columns.id", c.plan.table, mapping.PlainName(first), "each pass")
}

// once looks whether what is read has each task once, and whether the row that is written is found by its key alone.
func (c *check) once(ctx context.Context) {
	var twice []string
	read := c.step(ctx, "tasks.from", func(tx pgx.Tx, _ time.Time) error {
		sql, err := render("twice", map[string]any{"ID": c.plan.columns["id"], "From": c.plan.from.SQL, "Live": c.s.alive()})
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sql, c.s.withLive(pgx.StrictNamedArgs{}))
		if err != nil {
			return err
		}
		twice, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	switch {
	case !read:
	case len(twice) > 0:
		c.bad("tasks.from", fmt.Sprintf("gives several rows of one id, as of %q: nothing is judged from these", twice),
			"join what has one row for each task, as by DISTINCT ON or LATERAL (… ORDER BY … LIMIT 1)")
	default:
		c.ok("tasks.from", "has each live task once")
	}
	if key, problem := sqltext.Identifier(c.plan.key); c.plan.key != "" && problem == "" && len(key) == 1 {
		c.unique(ctx, "tasks.key", key[0])
	}
}

// unique looks for what keeps two rows from having one id.
func (c *check) unique(ctx context.Context, what, id string) {
	var unique, parted bool
	c.step(ctx, what, func(tx pgx.Tx, _ time.Time) error {
		args := pgx.StrictNamedArgs{"relation": c.plan.table, "column": id}
		return tx.QueryRow(ctx, queries["unique"], args).Scan(&unique, &parted)
	})
	said := fmt.Sprintf("no index makes %q unique: a write that meets two rows is refused", id)
	switch {
	case unique:
	case parted: // PostgreSQL has no index over all partitions without the columns that part them
		c.warn(what, said, "see that no two partitions can have one value, as where it comes from one sequence")
	default:
		c.bad(what, said, fmt.Sprintf("CREATE UNIQUE INDEX CONCURRENTLY ON %s (%s)", c.plan.table, store.Quoted(id)))
	}
}

// shortest is how many characters a reason needs to say anything before its mark.
const shortest = 120

func (c *check) room(step reconcile.Step, ch change) {
	if limit := c.s.reasonLimit(ch); limit > 0 && limit < shortest {
		c.bad(
			fmt.Sprintf("tasks.%s.set", step),
			fmt.Sprintf("the reason's column holds %d characters: reasons are cut short", limit),
			"use a column of type text for @reason",
		)
	}
	status := c.s.cat.fields["status"]
	if ch.status != "" && status.enum() && !slices.Contains(status.labels, ch.status) {
		c.bad(fmt.Sprintf("tasks.%s.status", step), fmt.Sprintf("%s has no label %q", status.name, ch.status),
			text.Unknown(ch.status, status.labels))
	}
}
