package tasks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

func stateNames() []string {
	out := make([]string, 0, len(mapping.TaskStates))
	for _, s := range mapping.TaskStates {
		out = append(out, string(s))
	}
	return out
}

// statuses maps the platform's own words. Where a state expression is mapped it decides,
// and the words are only checked.
func (c *compiler) statuses() {
	for _, name := range slices.Sorted(maps.Keys(c.m.Statuses)) {
		if !slices.Contains(stateNames(), name) {
			c.wrong("tasks.statuses."+name, "no such state", text.Unknown(name, stateNames()))
		}
	}
	for _, state := range mapping.TaskStates {
		c.statusesOf(state)
	}
	if len(c.out.live) == 0 && c.out.byStatus() {
		c.wrong("tasks.statuses", "no status is pending, assigned or running",
			"name the statuses of live tasks, or map tasks.columns.state")
	}
	if c.out.columns["state"] != "" {
		c.out.Words = c.out.live
		c.out.live = []string{string(reconcile.TaskPending), string(reconcile.TaskAssigned), string(reconcile.TaskRunning)}
	}
}

func (c *compiler) statusesOf(state reconcile.TaskState) {
	key := "tasks.statuses." + string(state)
	for _, status := range c.m.Statuses[string(state)] {
		other, taken := c.out.states[status]
		switch {
		case status == "":
			c.wrong(key, "has an empty status", "")
		case !text.Storable(status):
			c.wrong(key, fmt.Sprintf("%q is not plain text", status), "")
		case taken && other != state:
			c.wrong(key, fmt.Sprintf("%q already means %s", status, other), "a status can have one state only")
		case !taken:
			c.out.states[status] = state
			if state.Live() {
				c.out.live = append(c.out.live, status)
			}
		}
	}
}

// change compiles what a fail or a requeue sets. The reason must be written somewhere:
// its mark is how a retry after a crash knows that the write was its own.
func (c *compiler) change(key string, r mapping.RowChange, step reconcile.Step, state reconcile.TaskState) {
	if r.Call {
		if r.Status != "" || len(r.Set) > 0 || len(r.SQL) > 0 {
			c.wrong(key+".call", "is given together with what we would write", "remove status, set and sql, or call")
		}
		c.out.calls[step] = state
		return
	}
	if r.Status == "" && len(r.Set) == 0 && len(r.SQL) == 0 {
		return
	}
	ch := change{status: r.Status, state: state}
	if r.Status != "" || len(r.SQL) == 0 {
		c.changeStatus(key, r.Status, state)
	}
	for _, column := range slices.Sorted(maps.Keys(r.Set)) {
		if r.Set[column] != "" {
			if name := mapping.PlainName(column); name == c.out.plain["id"] || name == c.out.plain["status"] {
				c.wrong(key+".set."+column, "sets the id or the status", "the status is set by `status`")
			}
			ch.sets = append(ch.sets, c.assignment(key+".set."+column, column, r.Set[column]))
		}
	}
	for i, sql := range r.SQL {
		e := sqltext.ScanStatement(sql)
		if e.Problem != "" {
			c.wrong(fmt.Sprintf("%s.sql[%d]", key, i), "the statement "+e.Problem, "")
		}
		ch.after = append(ch.after, statement{SQL: e.SQL(), named: e.Named})
	}
	said := slices.ContainsFunc(ch.sets, func(a assignment) bool { return a.reason }) ||
		slices.ContainsFunc(ch.after, func(s statement) bool { return s.named["reason"] })
	if !said && step == reconcile.StepFail { // who is handed out again has no error to keep
		c.wrong(key+".set", "no column is set to @reason",
			`add the column that keeps the error, as in error_message: "@reason", or a statement of sql that notes @reason`)
	}
	c.out.changes[step] = ch
}

func (c *compiler) changeStatus(key, status string, state reconcile.TaskState) {
	switch known := c.out.states[status]; {
	case status == "":
		c.wrong(key+".status", "is missing", "name the status that the row gets, or write what it is computed from by sql")
	case state == reconcile.TaskFailed && known.Terminal():
	case known != state && (known != reconcile.TaskUnknown || c.out.byStatus()):
		c.wrong(key+".status", fmt.Sprintf("%q is not one of tasks.statuses.%s", status, state),
			fmt.Sprintf("use one of %q", c.m.Statuses[string(state)]))
	}
}

func (c *compiler) assignment(key, column, sql string) assignment {
	if strings.HasPrefix(column, `"`) {
		column = mapping.PlainName(column) // as tasks.columns names one with capitals
	}
	a := assignment{name: column, Column: store.Quoted(column)}
	if column == "" || !text.Storable(column) {
		c.wrong(key, "is no column name", "")
	}
	e := sqltext.Scan(sql)
	if e.Problem != "" {
		c.wrong(key, "the expression "+e.Problem, "")
	}
	a.SQL, a.reason = e.SQL(), e.Named["reason"]
	return a
}

// events compiles the events section. Without a table there are none.
func (c *compiler) events() {
	e := c.m.Events
	if !e.Mapped() {
		if len(e.Columns) > 0 || e.Write {
			c.wrong("events.table", "is missing", "name the table as schema.table")
		}
		return
	}
	out := &compiledEvents{columns: map[string]string{}, plain: map[string]string{}, narrowed: map[string][]narrowedType{}}
	if e.Table != "" || e.Write {
		out.table = c.relation("events.table", e.Table)
	}
	out.source = out.table
	if e.From != "" {
		out.source = c.sql("events.from", e.From).Whole()
	}
	for _, name := range slices.Sorted(maps.Keys(e.Columns)) {
		if !mapping.IsField(mapping.EventFields, name) {
			c.wrong("events.columns."+name, "no such field", text.Unknown(name, mapping.Names(mapping.EventFields)))
			continue
		}
		c.eventColumn(out, name)
	}
	c.eventRest(out)
	c.out.events = out
}

// eventColumn names the table in front of a column: a name that the events do not have
// must never be found in the tasks instead.
func (c *compiler) eventColumn(out *compiledEvents, name string) {
	text := c.m.Events.Columns[name]
	if text == "" {
		return
	}
	sql, column := c.value("events.columns."+name, text)
	if column != "" {
		out.plain[name] = column
		sql = "e." + sql
	}
	out.columns[name] = sql
}

func (c *compiler) eventRest(out *compiledEvents) {
	out.byTask = out.columns["task"] != "" && (out.columns["sandbox"] == "" || c.out.columns["sandbox"] == "")
	for _, name := range []string{"sandbox", "type", "at"} {
		if out.columns[name] == "" && !(out.byTask && name == "sandbox") {
			c.wrong("events.columns."+name, "is missing", "name the column")
		}
	}
	for name := range out.columns {
		if c.m.Events.Write && out.plain[name] == "" && name != "task" { // not needed: the data names the task
			c.wrong("events.columns."+name, "is an expression, and events.write needs a column", "name the column")
		}
	}
	if c.out.columns["sandbox"] == "" && !out.byTask {
		c.wrong("tasks.columns.sandbox", "is missing, and events are found by it",
			"name the column, or events.columns.task, or map no events")
	}
	c.eventTypes(out)
	c.eventSets(out)
}

// written are the columns of an event that we add, in order.
func (e *compiledEvents) written() []string {
	var out []string
	for _, name := range mapping.Names(mapping.EventFields) {
		if column := e.plain[name]; column != "" {
			out = append(out, column)
		}
	}
	for _, a := range e.sets {
		out = append(out, a.name)
	}
	return out
}

// eventSets compiles what else is set in an event that sandkeeper adds.
func (c *compiler) eventSets(out *compiledEvents) {
	for _, column := range slices.Sorted(maps.Keys(c.m.Events.Set)) {
		key, text := "events.set."+column, c.m.Events.Set[column]
		for _, name := range mapping.Names(mapping.EventFields) {
			if out.plain[name] == column {
				c.wrong(key, "is events.columns."+name+", which sandkeeper sets itself", "remove it here")
			}
		}
		if text != "" {
			out.sets = append(out.sets, c.assignment(key, column, text))
		}
	}
}
