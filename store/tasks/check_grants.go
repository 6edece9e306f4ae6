package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store"
)

// A grant is a privilege on columns of a table.
type grant struct {
	privilege, table string
	columns          []string
}

// mayUpdate looks for what the role may not do and a repair needs.
func (c *check) mayUpdate(ctx context.Context) bool {
	return c.granted(ctx, grant{"UPDATE", c.plan.table, c.plan.writtenNames()})
}

// mayInsert does so for the events.
func (c *check) mayInsert(ctx context.Context) bool {
	if e := c.plan.events; e != nil && c.plan.mapping.Events.Write {
		return c.granted(ctx, grant{"INSERT", e.table, e.written()})
	}
	return false
}

// granted reports whether the role has the privilege, and adds the line that says so.
func (c *check) granted(ctx context.Context, g grant) bool {
	if len(g.columns) == 0 {
		return false
	}
	what := "grant " + g.privilege
	var lacking []string
	if !c.step(ctx, what, func(tx pgx.Tx, _ time.Time) error {
		rows, err := tx.Query(ctx, queries["ungranted"],
			pgx.StrictNamedArgs{"relation": g.table, "columns": g.columns, "privilege": g.privilege})
		if err != nil {
			return err
		}
		lacking, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}) {
		return false
	}
	if len(lacking) == 0 {
		c.ok(what, "on "+g.table)
		return true
	}
	for i, name := range lacking {
		lacking[i] = store.Quoted(name)
	}
	role, columns := c.pool.Config().ConnConfig.User, strings.Join(lacking, ", ")
	c.bad(what, fmt.Sprintf("the role %s lacks it on %s (%s): nothing can be repaired there", role, g.table, columns),
		fmt.Sprintf("GRANT %s (%s) ON %s TO %s", g.privilege, columns, g.table, store.Quoted(role)))
	return false
}
