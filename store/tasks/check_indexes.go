package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// indexes looks for the indexes that keep a pass from reading the history.
func (c *check) indexes(ctx context.Context) {
	switch status := c.plan.plain["status"]; {
	case !c.plan.byStatus() || c.plan.from.apart:
	case status == "":
		c.warn("index on the status", "it is an expression, which every pass computes for each row",
			"narrow the rows by tasks.where, or make an index on the expression")
	default:
		c.index(ctx, "index on the status", c.plan.table, status, "each pass")
	}
	if sandbox := c.plan.plain["sandbox"]; sandbox != "" && !c.plan.from.apart {
		c.index(ctx, sandboxIndex, c.plan.table, sandbox, "each look for the row of a sandbox that no live task explains")
	}
	if c.plan.events == nil {
		return
	}
	e := c.plan.events
	if e.source != e.table {
		return // whether a query is quick is not told by one index
	}
	c.index(ctx, "index on the events", e.table, e.key(), "each pass")
	c.newsIndex(ctx, e)
	c.typeIndex(e)
	of, by := "sandbox", "sandbox"
	if e.byTask {
		of, by = "task", "id"
	}
	if task, event := c.s.cat.fields[by], c.s.cat.events[of]; !task.like(event) {
		c.bad("events.columns."+of,
			fmt.Sprintf("it is %s and tasks.columns.%s is %s: no index can be used", event.name, by, task.name),
			"give both columns one type")
	}
}

// newsIndex looks for what finds new events: without it each pass of `run` goes through all events of each live task.
// That costs much only where tasks have many, and is no reason to fail.
func (c *check) newsIndex(ctx context.Context, e *compiledEvents) {
	const what = "index on the events' time"
	column := e.plain["at"]
	if column == "" {
		return
	}
	var found bool
	if !c.step(ctx, what, func(tx pgx.Tx, _ time.Time) (err error) {
		found, err = hasIndex(ctx, tx, e.table, column, true)
		return err
	}) {
		return
	}
	if found {
		c.ok(what, e.table+" has one")
		return
	}
	c.adviseIndex(what, e.table, "each pass goes through all events of each live task", column)
}

// typeIndex looks for what has the events of a worker read from type to type, where workers have many.
func (c *check) typeIndex(e *compiledEvents) {
	const what = "index on the events' types"
	columns, each := e.byType(c.s.cat.events), c.s.cat.eventsEach
	switch {
	case columns == nil || each < eventsEach:
	case c.s.cat.typeIndex:
		c.ok(what, e.table+" has one")
	default:
		without := fmt.Sprintf("who reads all events of a worker goes through about %.0f", each)
		c.adviseIndex(what, e.table, without, columns...)
	}
}

// adviseIndex tells of an index that would help, and is no reason to fail.
func (c *check) adviseIndex(what, table, without string, columns ...string) {
	for i, column := range columns {
		columns[i] = store.Quoted(column)
	}
	list := strings.Join(columns, ", ")
	c.lines = append(c.lines, reconcile.CheckResult{
		What: what, OK: true,
		Said: fmt.Sprintf("%s has none that begins with %s: %s", table, list, without),
		Fix:  fmt.Sprintf("%s ON %s (%s)", c.createIndex(table), table, list),
	})
}

// createIndex is how an index is made: PostgreSQL refuses to do it concurrently over all partitions.
func (c *check) createIndex(table string) string {
	if slices.Contains(c.parted, table) {
		return "CREATE INDEX"
	}
	return "CREATE INDEX CONCURRENTLY"
}

// sandboxIndex is one that no pass of a healthy fleet needs: that there is none is no reason to fail.
const sandboxIndex = "index on the sandbox"

// index looks for one that begins with a column; without it somebody reads the whole table.
func (c *check) index(ctx context.Context, what, table, column, who string) {
	if column == "" {
		c.bad(what, "an expression is mapped, which every pass computes for each row", "map a column, with an index")
		return
	}
	var found bool
	if !c.step(ctx, what, func(tx pgx.Tx, _ time.Time) error {
		var err error
		found, err = indexed(ctx, tx, table, column)
		return err
	}) {
		return
	}
	if found {
		c.ok(what, table+" has one")
		return
	}
	// The template ships without it and is small at first: that is no reason to fail.
	c.lines = append(c.lines, reconcile.CheckResult{
		What: what, OK: what == sandboxIndex || c.plan.mapping.Preset == mapping.CodingAgentName,
		Said: fmt.Sprintf("%s has none that begins with %s: %s reads the whole table", table, store.Quoted(column), who),
		Fix:  fmt.Sprintf("%s ON %s (%s)", c.createIndex(table), table, store.Quoted(column)),
	})
}
