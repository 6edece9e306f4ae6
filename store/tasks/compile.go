package tasks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A Compiled mapping is a [Mapping] that was checked and made SQL, once.
type Compiled struct {
	mapping mapping.Mapping
	table   string // "" where From is read and nothing written
	from    source
	view    string            // the relation that From names; "" where it is a query
	key     string            // SQL of the written table's id, where that is not what is read
	id      tuple             // the parts of columns.id, where it has several
	keys    tuple             // those of key
	where   string            // "" when nothing is narrowed
	columns map[string]string // field: SQL of its value
	plain   map[string]string // field: the column's name, where it is a column
	states  map[string]reconcile.TaskState
	live    []string // statuses, or canonical states where a state expression is mapped
	Words   []string // with Split: the statuses of live rows
	changes map[reconcile.Step]change
	calls   map[reconcile.Step]reconcile.TaskState // those that the platform is asked for, and what the row becomes
	events  *compiledEvents                        // nil without events

	explainers []explainer
	entries    entryNames
}

// A change is a compiled [RowChange].
type change struct {
	status string
	state  reconcile.TaskState // what the row must have become
	sets   []assignment
	after  []statement // in the same transaction, in this order
}

// A statement is one of fail.sql or requeue.sql.
type statement struct {
	SQL   string
	named map[string]bool // of @id and @reason, those that it names
}

// An assignment sets one column.
type assignment struct {
	Column string // quoted
	SQL    string
	name   string
	reason bool // names @reason
}

type compiledEvents struct {
	table    string            // "" where From is read and nothing written
	source   string            // what stands behind FROM
	byTask   bool              // events are found by the id of their task, and by nothing else
	columns  map[string]string // field: SQL of its value, with the alias e
	plain    map[string]string
	narrowed map[string][]narrowedType // kind of event: types that mean it under a condition
	sets     []assignment              // further columns of an event that we add
}

// A compiler collects every mistake before it gives up.
type compiler struct {
	m        mapping.Mapping
	out      *Compiled
	mistakes []error
}

// Compile makes a mapping, after [Mapping.WithPreset], into SQL. The error joins one
// [mapping.Error] for each mistake.
func Compile(m mapping.Mapping) (*Compiled, error) {
	c := &compiler{m: m, out: &Compiled{
		mapping: m, columns: map[string]string{}, plain: map[string]string{},
		states: map[string]reconcile.TaskState{}, changes: map[reconcile.Step]change{},
		calls: map[reconcile.Step]reconcile.TaskState{},
	}}
	c.preset()
	c.table()
	c.from()
	c.where()
	c.columns()
	c.statuses()
	c.attrs()
	c.change("tasks.fail", m.Fail, reconcile.StepFail, reconcile.TaskFailed)
	c.change("tasks.requeue", m.Requeue, reconcile.StepRequeue, reconcile.TaskPending)
	c.events()
	c.explainers()
	c.out.entries = namesOfEntries(m.Entries)
	if len(c.mistakes) > 0 {
		return nil, errors.Join(c.mistakes...)
	}
	return c.out, nil
}

func (c *compiler) wrong(key, problem, fix string) {
	c.mistakes = append(c.mistakes, &mapping.Error{Key: key, Problem: problem, Fix: fix})
}

func (c *compiler) preset() {
	if c.m.Preset != "" && !slices.Contains(mapping.Presets(), c.m.Preset) {
		c.wrong(
			"tasks.preset",
			fmt.Sprintf("no preset is called %q", c.m.Preset),
			"use one of "+strings.Join(mapping.Presets(), ", "),
		)
	}
	if strings.ContainsFunc(c.m.Timezone, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.wrong("tasks.timezone", fmt.Sprintf("%q is no time zone", c.m.Timezone), "use a name like Europe/Berlin")
	}
	if len(c.m.Notify) > 63 || !text.Storable(c.m.Notify) {
		c.wrong("tasks.notify", "a channel's name has at most 63 bytes", "")
	}
}

func (c *compiler) table() {
	if c.m.From != "" && c.m.Table == "" {
		return
	}
	c.out.table = c.relation("tasks.table", c.m.Table)
}

func (c *compiler) relation(key, text string) string {
	if text == "" {
		c.wrong(key, "is missing", "name the table as schema.table")
		return ""
	}
	parts, problem := sqltext.Identifier(text)
	if problem == "" && len(parts) > 2 {
		problem = fmt.Sprintf("%q has %d parts", text, len(parts))
	}
	if problem != "" {
		c.wrong(key, problem, "name the table as schema.table")
	}
	return parts.Sanitize()
}

func (c *compiler) where() {
	if strings.TrimSpace(c.m.Where) != "" {
		c.out.where = c.sql("tasks.where", c.m.Where).SQL()
	}
}

// sql checks an expression that is only read.
func (c *compiler) sql(key, text string) *sqltext.Expression {
	e := sqltext.Scan(text)
	if e.Problem == "" && e.Named["reason"] {
		e.Problem = "names @reason, which only fail.set and requeue.set know"
	}
	if e.Problem != "" {
		c.wrong(key, "the expression "+e.Problem, "")
	}
	return e
}

// value makes a column's name or an expression in parentheses into SQL. The name is ""
// for an expression.
func (c *compiler) value(key, text string) (sql, name string) {
	if sqltext.InParentheses(text) {
		return c.sql(key, text).Whole(), ""
	}
	parts, problem := sqltext.Identifier(text)
	if problem == "" && len(parts) > 1 {
		problem = fmt.Sprintf("%q has %d parts: a column of the table is named without it", text, len(parts))
	}
	if problem != "" {
		c.wrong(key, problem, "")
		return "", ""
	}
	return parts.Sanitize(), parts[0]
}

func (c *compiler) columns() {
	for _, name := range slices.Sorted(maps.Keys(c.m.Columns)) {
		key, said := "tasks.columns."+name, c.m.Columns[name]
		if !mapping.IsField(mapping.TaskFields, name) {
			c.wrong(key, "no such field", text.Unknown(name, mapping.Names(mapping.TaskFields)))
			continue
		}
		if said == "" {
			continue
		}
		if name == "id" && sqltext.Tuple(said) != nil {
			c.out.id = c.tuple(key, said)
			c.out.columns[name] = c.out.id.SQL()
			continue
		}
		sql, column := c.value(key, said)
		c.out.columns[name] = sql
		if column != "" {
			c.out.plain[name] = column
		}
	}
	if c.m.Columns["id"] == "" {
		c.wrong("tasks.columns.id", "is missing", "name the column")
	}
	written := c.m.Fail.Status != "" || c.m.Requeue.Status != ""
	if status := c.m.Columns["status"]; written || !sqltext.InParentheses(status) {
		c.mustBeColumn("tasks.columns.status", status)
	}
}

// mustBeColumn is for what is written or what finds the row.
func (c *compiler) mustBeColumn(key, text string) bool {
	switch {
	case text == "":
		c.wrong(key, "is missing", "name the column")
	case sqltext.InParentheses(text):
		c.wrong(key, "must be a column, not an expression", "name the column")
	default:
		return true
	}
	return false
}

func (c *compiler) attrs() {
	for _, name := range c.m.Attrs {
		if name == "" || !text.Storable(name) {
			c.wrong("rules", fmt.Sprintf("an override asks for the column %q", name), "")
		}
	}
}
