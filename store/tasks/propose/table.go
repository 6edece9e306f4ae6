package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var (
	taskTokens = []string{"task", "tasks", "job", "jobs", "run", "runs", "execution", "executions", "session",
		"sessions", "workspace",
		"workspaces", "sandbox", "sandboxes", "build", "builds", "instance", "instances"}
	otherTokens = []string{"event", "events", "log", "logs", "history", "archive", "audit", "migration", "migrations",
		"schema",
		"message", "messages", "setting", "settings", "queue", "queues", "schedule", "schedules", "cron", "crontab",
		"crontabs",
		"subscription", "version", "tag", "tags", "template", "templates", "user", "users", "known", "leader", "client",
		"peers",
		"periodic", "result", "results", "step", "steps", "dependency", "dependencies"}
)

// A candidate is a table that may be that of the tasks.
type candidate struct {
	*Table
	status *Column // nil where the state follows from locks
	states map[reconcile.TaskState][]string
	open   []string // statuses whose meaning is not clear
	score  int
	why    []string
}

// least is the score below which a table is not taken for that of the tasks.
const least = 8

// candidates are the tables that look like tasks, the best first.
func candidates(cat *Catalog) []*candidate {
	return slices.DeleteFunc(judged(cat), func(c *candidate) bool { return c.score < least })
}

// nearest names the table that is most like one of tasks, where none is enough like it; "" where nothing is.
func nearest(cat *Catalog) string {
	all := judged(cat)
	if len(all) == 0 || all[0].score <= 0 {
		return ""
	}
	return fmt.Sprintf(", the nearest is %s (%s), which is too little", all[0].SQL(), strings.Join(all[0].why, ", "))
}

// judged are the tables with an id and a status, the most like tasks first.
func judged(cat *Catalog) (out []*candidate) {
	for i := range cat.Tables {
		if c := judge(&cat.Tables[i]); c != nil {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.SQL(), b.SQL()))
	})
	return out
}

// judge scores a table, nil when it cannot be that of tasks.
func judge(t *Table) *candidate {
	c := &candidate{Table: t}
	if t.id() == "" || !c.readStates() && !c.locks() {
		return nil
	}
	c.points(t.nameScore(), "its name")
	for _, r := range fieldRules {
		found, weak := r.match(t, nil)
		if found == nil {
			continue
		}
		switch r.field {
		case "sandbox":
			c.points(map[bool]int{true: 2, false: 5}[weak], found.Name)
		case "started_at", "heartbeat_at", "attempts":
			c.points(2, found.Name)
		case "created_at", "ended_at", "error", "assigned_at", "due_at":
			c.points(1, found.Name)
		}
	}
	return c
}

func (c *candidate) points(n int, why string) {
	if c.score += n; n > 0 {
		c.why = append(c.why, why)
	}
}

func (t *Table) nameScore() int {
	score := 0
	words := tokens(t.Name)
	for _, w := range words {
		switch {
		case slices.Contains(otherTokens, w):
			score -= 4
		case slices.Contains(taskTokens, w):
			score = max(score, 0) + 3
		}
	}
	return min(score, 3)
}

// id is the column that names a task: the primary key, or where that has several columns, the one called id.
func (t *Table) id() string {
	fits := func(name string) bool { c := t.column(name); return c != nil && isKey(c.Type) }
	switch {
	case len(t.Primary) == 1 && fits(t.Primary[0]):
		return t.Primary[0]
	case len(t.Primary) != 1 && fits("id"):
		return "id"
	}
	return ""
}

// readStates finds the status column and what its words mean. A table of tasks knows some that live and some that
// are over.
func (c *candidate) readStates() bool {
	for _, name := range statusNames {
		for i := range c.Columns {
			column := &c.Columns[i]
			if flat(column.Name) != name || !isText(column.Type) && len(column.Labels) == 0 {
				continue
			}
			states, open := sortWords(c.words(column))
			live := len(states[reconcile.TaskPending]) + len(states[reconcile.TaskAssigned]) + len(states[reconcile.TaskRunning])
			if live == 0 {
				continue
			}
			c.status, c.states, c.open = column, states, open
			c.points(4, fmt.Sprintf("%s with statuses of tasks", column.Name))
			return true
		}
	}
	return false
}

// sortWords puts each status to the state that it means.
func sortWords(words []string) (states map[reconcile.TaskState][]string, open []string) {
	states = map[reconcile.TaskState][]string{}
	for _, w := range words {
		if state := stateOf(w); state == reconcile.TaskUnknown {
			open = append(open, w)
		} else {
			states[state] = append(states[state], w)
		}
	}
	return states, open
}

// locks reports whether rows are taken by a lock and deleted when they are done, as some queues do.
func (c *candidate) locks() bool {
	locked, attempts, most := c.first("lockedat"), c.first("attempts"), c.first("maxattempts")
	if locked == nil || attempts == nil || most == nil || !isMoment(locked.Type) {
		return false
	}
	c.points(4, "rows are taken by "+locked.Name)
	return true
}

// first is the column of a flat name.
func (t *Table) first(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return flat(c.Name) == name })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}
