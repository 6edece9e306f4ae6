package tasks

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A source is what task rows are read from: the table, or what tasks.from says in its place, as the alias task.
type source struct {
	SQL     string // what stands behind FROM
	Version string // SQL of what every change of a row changes
	apart   bool   // it is not the table that is written
}

// isQuery finds a query where a view may be named.
var isQuery = regexp.MustCompile(`(?is)^\s*(SELECT|WITH)\b`)

// from compiles where the rows are, and how the row of the table is found that belongs to one of them.
func (c *compiler) from() {
	c.out.from = source{SQL: c.out.table, Version: "xmin::text"}
	if strings.TrimSpace(c.m.From) == "" {
		if c.m.Key != "" {
			c.wrong("tasks.key", "is only needed beside tasks.from", "remove it")
		}
		return
	}
	const key = "tasks.from"
	// Whatever a view joins, it has no version of its own: the row as text is one.
	c.out.from = source{Version: "md5(ROW(task.*)::text)", apart: true}
	if isQuery.MatchString(c.m.From) {
		c.out.from.SQL = c.sql(key, c.m.From).Whole() + " AS task"
	} else {
		c.out.view = c.relation(key, c.m.From)
		c.out.from.SQL = c.out.view + " AS task"
	}
	c.key()
}

// key compiles how the row that is written is found by the task's id.
func (c *compiler) key() {
	said := c.m.Key
	if said == "" && !sqltext.InParentheses(c.m.Columns["id"]) {
		said = c.m.Columns["id"]
	}
	switch {
	case !c.writes():
	case c.m.Table == "":
		c.wrong("tasks.table", "is missing: a repair does not write to tasks.from",
			"name the table that is written, as schema.table")
	case said == "":
		c.wrong("tasks.key", "is missing", "name the column of tasks.table that holds the task's id")
	default:
		c.out.key, _ = c.value("tasks.key", said)
	}
}

// writes reports whether the mapping has a repair.
func (c *compiler) writes() bool {
	return slices.ContainsFunc([]mapping.RowChange{c.m.Fail, c.m.Requeue}, func(r mapping.RowChange) bool {
		return r.Status != "" || len(r.Set) > 0 || len(r.SQL) > 0
	})
}

// onceEach leaves one row of each id. Two rows of one id are no task: a join that repeats rows says of each of them
// what may be true of another. What is left is in no state, is shown, and nothing is judged from it.
func (s source) onceEach(tasks []reconcile.Task) []reconcile.Task {
	if !s.apart {
		return tasks
	}
	first := make(map[string]int, len(tasks))
	out := tasks[:0]
	for _, t := range tasks {
		if i, twice := first[t.ID]; twice {
			if !strings.HasSuffix(out[i].Status, repeated) {
				out[i].State, out[i].Status = reconcile.TaskUnknown, out[i].Status+repeated
			}
			continue
		}
		first[t.ID] = len(out)
		out = append(out, t)
	}
	return out
}

// repeated is what the status of a row says that is not alone.
const repeated = " (tasks.from gives several rows of this id)"

// reads is the relation that tasks are read from, to name it.
func (c *Compiled) reads() string { return store.First(c.view, c.table) }

// tableOrNull is the written table; NULL where nothing is.
func (c *Compiled) tableOrNull() any {
	if c.table == "" {
		return nil
	}
	return c.table
}
