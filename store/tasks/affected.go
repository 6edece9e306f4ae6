package tasks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// marks is what rows are searched by that carry a mark of ours.
const marks = "%[sandkeeper %]%"

// RunAgain is SQL that a person may run to have tasks run again that sandkeeper failed: what
// tasks.requeue sets, on those of the rows that still are as sandkeeper left them. Without
// tasks.requeue nobody knows how a task is run again, and the SQL only reads the rows.
// Nothing here runs it. why ends up where the mapping writes the reason.
func (c *Compiled) RunAgain(ids []string, why string) string {
	var b strings.Builder
	where := c.stillOurs(ids)
	requeue, known := c.changes[reconcile.StepRequeue]
	switch {
	case !known:
		return "-- tasks.requeue is not configured, so sandkeeper does not know how a task is run again.\n" + c.shown(where)
	case len(requeue.after) > 0:
		return "-- tasks.requeue.sql is more than one UPDATE: run its statements for each of these.\n" + c.shown(where)
	}
	var sets []string
	if requeue.status != "" {
		sets = append(sets, c.columns["status"]+" = "+store.Literal(requeue.status))
	}
	for _, a := range requeue.sets {
		sets = append(sets, fmt.Sprintf("%s = (%s)", a.Column, inlined(a.SQL, why)))
	}
	fmt.Fprintf(&b, "-- Runs tasks again that sandkeeper failed, as tasks.requeue says. It changes only rows\n"+
		"-- that still are as sandkeeper left them, and shows their ids.\n")
	if left := c.untouched(); len(left) > 0 {
		fmt.Fprintf(&b, "-- Left as sandkeeper's own write set them: %s\n", strings.Join(left, ", "))
	}
	id := c.columns["id"]
	if c.key != "" {
		where = fmt.Sprintf("WHERE (%s)::text IN (SELECT (%s)::text FROM %s\n%s)", c.key, id, c.from.SQL, where)
		id = c.key
	}
	fmt.Fprintf(&b, "UPDATE %s\nSET %s\n%s\nRETURNING %s;\n", c.table, strings.Join(sets, ",\n    "), where, id)
	return b.String()
}

// shown is SQL that reads rows.
func (c *Compiled) shown(where string) string {
	return fmt.Sprintf("-- These are the rows that still are as sandkeeper left them:\nSELECT *\nFROM %s\n%s;\n",
		c.from.SQL, where)
}

// stillOurs is the condition that a row is one of these and as our own fail left it.
func (c *Compiled) stillOurs(ids []string) string {
	var list []string
	for chunk := range slices.Chunk(ids, 2) {
		quoted := make([]string, len(chunk))
		for i, id := range chunk {
			quoted[i] = store.Literal(id)
		}
		list = append(list, strings.Join(quoted, ", "))
	}
	where := fmt.Sprintf("WHERE %s IN (\n    %s)", c.columns["id"], strings.Join(list, ",\n    "))
	if fail := c.changes[reconcile.StepFail]; fail.status != "" {
		where += fmt.Sprintf("\n  AND %s = %s", c.columns["status"], store.Literal(fail.status))
	}
	if deleted := c.columns["deleted_at"]; deleted != "" {
		where += "\n  AND " + c.notDeleted(deleted)
	}
	if c.reasonColumn() == "" {
		return where
	}
	return where + fmt.Sprintf("\n  AND (%s)::text LIKE %s", c.reasonColumn(), store.Literal(marks))
}

// reasonColumn is where a fail leaves its reason with its mark.
func (c *Compiled) reasonColumn() string {
	if c.from.apart {
		return c.columns["error"]
	}
	for _, a := range c.changes[reconcile.StepFail].sets {
		if a.reason {
			return a.Column
		}
	}
	return c.columns["error"]
}

// untouched are the columns that fail sets and requeue does not.
func (c *Compiled) untouched() []string {
	var left []string
	for _, a := range c.changes[reconcile.StepFail].sets {
		again := func(b assignment) bool { return b.name == a.name }
		if !slices.ContainsFunc(c.changes[reconcile.StepRequeue].sets, again) {
			left = append(left, a.Column)
		}
	}
	return left
}

// inlined is an expression with the reason in its place; what is quoted stays as it is.
func inlined(sql, reason string) string {
	var b strings.Builder
	for len(sql) > 0 {
		at := strings.IndexAny(sql, `'"@`)
		if at < 0 {
			break
		}
		b.WriteString(sql[:at])
		sql = sql[at:]
		n := 1
		switch rest, ours := strings.CutPrefix(sql, sqltext.Words["reason"]); {
		case ours:
			b.WriteString(store.Literal(reason) + "::text")
			sql, n = rest, 0
		case sql[0] != '@':
			n = 2 + strings.IndexByte(sql[1:], sql[0])
		}
		b.WriteString(sql[:n])
		sql = sql[n:]
	}
	return b.String() + sql
}
