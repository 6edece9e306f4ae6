package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ownRole is the fix for a role that may do more than it needs.
const ownRole = "give sandkeeper a login with the roles of deploy/grants_tasks.sql"

// A roleReach is what our role may do with the task table.
type roleReach struct {
	Superuser, Owner bool
	Further, Columns []string // privileges, and columns that it may change, beyond what is needed
}

// role looks whether the role may do more with the task table than a repair needs.
func (c *check) role(ctx context.Context) {
	if c.plan.table == "" {
		return
	}
	var r roleReach
	if !c.step(ctx, "role", func(tx pgx.Tx, _ time.Time) error {
		args := pgx.StrictNamedArgs{"relation": c.plan.table, "columns": list(c.plan.writtenNames())}
		rows, err := tx.Query(ctx, queries["role"], args)
		if err != nil {
			return err
		}
		r, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[roleReach])
		return err
	}) {
		return
	}
	if said := r.exceeds(c.plan.table); said != "" {
		c.warn("role", said, ownRole)
		return
	}
	c.ok("role", "may change of "+c.plan.table+" what a repair writes, and nothing else")
}

// path warns where names are not looked up, although the login's search path has it, because others could plant there
// what our statements call.
func (c *check) path() {
	creators := c.creatorsLeftOut()
	if len(creators) == 0 {
		c.ok("search path", "nobody else may create where this login looks names up")
		return
	}
	c.warn("search path", "no name is looked up where others may create: "+strings.Join(creators, ", "),
		"nothing where all names of the config have their schema; else REVOKE CREATE ON SCHEMA … FROM them, PUBLIC first")
}

// exceeds is what the role may do without needing it; "" when it is nothing.
func (r roleReach) exceeds(table string) string {
	switch {
	case r.Superuser:
		return "is a superuser: nothing in the database limits it"
	case r.Owner:
		return "is an owner of " + table + ": nothing in the database limits it there"
	}
	further := slices.Clone(r.Further)
	if len(r.Columns) > 0 {
		further = append(further, "UPDATE of "+strings.Join(r.Columns, ", "))
	}
	if len(further) == 0 {
		return ""
	}
	return "may do more with " + table + " than it needs: " + strings.Join(further, "; ")
}

// warn adds a line on something that works and could be better.
func (c *check) warn(what, said, fix string) {
	c.lines = append(c.lines, reconcile.CheckResult{What: what, OK: true, Said: said, Fix: fix})
}

// terminal says what keeps us from a task that is over: always the conditions of our own
// statement, and the database where it has the trigger of deploy/terminal_rows.sql.
func (c *check) terminal(ctx context.Context) {
	const what = "terminal rows"
	if len(c.plan.changes) == 0 {
		return
	}
	var trigger string
	if !c.step(ctx, what, func(tx pgx.Tx, _ time.Time) error {
		err := tx.QueryRow(ctx, queries["trigger"], pgx.StrictNamedArgs{"relation": c.plan.table}).Scan(&trigger)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	}) {
		return
	}
	switch odd := c.plan.misnamed(trigger); {
	case trigger == "":
		c.ok(what, "kept by the conditions of our own statement alone; "+
			"deploy/terminal_rows.sql makes the database refuse too")
	case odd != "":
		c.warn(what, "the trigger sandkeeper_guard "+odd,
			"run deploy/terminal_rows.sql again, with the statuses of the config")
	default:
		c.ok(what, "the database refuses to change them, by the trigger sandkeeper_guard")
	}
}

// misnamed compares the statuses in a trigger with those of the config. One that it does not
// let live keeps a repair from happening; one that it lets live is not protected.
func (c *Compiled) misnamed(trigger string) string {
	named := func(status string) bool {
		return strings.Contains(trigger, "'"+strings.ReplaceAll(status, "'", "''")+"'")
	}
	failed := c.changes[reconcile.StepFail].status
	for _, status := range slices.Sorted(maps.Keys(c.states)) {
		switch needed := c.states[status].Live() || status == failed; {
		case needed && !named(status):
			return fmt.Sprintf("does not know %q: it would refuse to repair such tasks", status)
		case !needed && named(status):
			return fmt.Sprintf("takes %q for a live status: it does not protect such tasks", status)
		}
	}
	return ""
}
