package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// elsewhere warns of tables that the role may write to and no repair does: a stolen password reaches as far.
func (c *check) elsewhere(ctx context.Context) {
	const what = "other tables"
	needed := []string{}
	if c.plan.table != "" {
		needed = append(needed, c.plan.table)
	}
	if e := c.plan.events; e != nil && c.plan.mapping.Events.Write {
		needed = append(needed, e.table)
	}
	var tables []string
	if !c.step(ctx, what, func(tx pgx.Tx, _ time.Time) error {
		rows, err := tx.Query(ctx, queries["elsewhere"], pgx.StrictNamedArgs{"tables": needed})
		if err != nil {
			return err
		}
		tables, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}) {
		return
	}
	tables = slices.DeleteFunc(tables, c.plan.repairs)
	if len(tables) == 0 {
		return
	}
	login := pgx.Identifier{c.pool.Config().ConnConfig.User}.Sanitize()
	said := fmt.Sprintf("may write to %d that no repair needs: %s", len(tables),
		strings.Join(tables[:min(3, len(tables))], ", "))
	if len(tables) > 3 {
		said += " and others"
	}
	c.warn(what, said, "REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON "+strings.Join(tables, ", ")+" FROM "+login+
		" (or the role that has it); who owns a table keeps it: "+ownRole)
}

// repairs reports whether a statement of fail.sql or requeue.sql has the table's name in it.
func (c *Compiled) repairs(table string) bool {
	_, name, _ := strings.Cut(table, ".")
	name = strings.Trim(name, `"`)
	for _, ch := range c.changes {
		if slices.ContainsFunc(ch.after, func(s statement) bool { return strings.Contains(s.SQL, name) }) {
			return true
		}
	}
	return false
}
