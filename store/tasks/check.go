package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
)

// A check collects the lines of `sandkeeper check` on the task database.
type check struct {
	*Tasks
	lines  []reconcile.CheckResult
	s      *statements // nil until the columns are known to fit
	parted []string    // the tables that have partitions
}

func (c *check) ok(what, said string) {
	c.lines = append(c.lines, reconcile.CheckResult{What: what, OK: true, Said: said})
}

func (c *check) bad(what, said, fix string) {
	c.lines = append(c.lines, reconcile.CheckResult{What: what, Said: said, Fix: fix})
}

// Check tests the mapping against the database as it is: one line for each thing that was
// tested, with the fix for what is wrong. It changes nothing: what it tries it rolls back.
func (t *Tasks) Check(ctx context.Context) []reconcile.CheckResult {
	c := &check{Tasks: t}
	if !c.connection(ctx) {
		return c.lines
	}
	if !c.relations(ctx) {
		c.path()
		return c.lines
	}
	if c.columns(ctx) {
		c.shape(ctx)
		c.statuses(ctx)
		c.indexes(ctx)
		c.clocks(ctx)
		c.explainers(ctx)
		if update, insert := c.mayUpdate(ctx), c.mayInsert(ctx); !c.onlyLook {
			c.tryout().tries(ctx, update, insert)
		}
		c.role(ctx)
		c.elsewhere(ctx)
		c.reach(ctx)
		c.path()
		c.terminal(ctx)
	}
	return c.lines
}

// step runs one part of the check in a transaction of its own, so that an error of it
// spoils no other.
func (c *check) step(ctx context.Context, what string, do func(tx pgx.Tx, now time.Time) error) bool {
	if err := c.begin(ctx, taskRead, do); err != nil {
		c.bad(what, store.OneLine(err), c.fixOf(err))
		return false
	}
	return true
}

// connection looks where the connection leads and compares the clocks.
func (c *check) connection(ctx context.Context) bool {
	var at struct {
		Version, Database, Role string
		Standby                 bool
	}
	before := c.Tasks.now()
	var skew, trip time.Duration
	answered := c.step(ctx, "task database", func(tx pgx.Tx, now time.Time) error {
		after := c.Tasks.now()
		trip = after.Sub(before)
		skew = now.Sub(before.Add(trip / 2))
		return tx.QueryRow(ctx, queries["connection"]).Scan(&at.Version, &at.Database, &at.Role, &at.Standby)
	})
	if !answered {
		return false
	}
	c.ok("task database", fmt.Sprintf("PostgreSQL %s, database %q as %s", at.Version, at.Database, at.Role))
	if at.Standby {
		c.bad(
			"task database role",
			"it is a standby, which may lag: nothing is judged from it",
			"point tasks.database at the primary",
		)
	}
	c.skew(skew, trip)
	return true
}

// maxSkew is how far the two machines' clocks may differ before people reading logs are
// misled. No verdict compares them.
const maxSkew = 2 * time.Second

func (c *check) skew(skew, trip time.Duration) {
	said := fmt.Sprintf("the task database's clock differs by %s from this machine's (±%s)",
		text.Duration(skew.Abs()), text.Duration(trip/2))
	if skew.Abs()-trip/2 > maxSkew {
		c.bad("clock skew", said, "synchronise both clocks (NTP)")
		return
	}
	c.ok("clock skew", said)
}

// relations looks whether the mapped tables are tables.
func (c *check) relations(ctx context.Context) bool {
	good := c.source(ctx)
	e := c.plan.events
	if e != nil && e.table != "" {
		good = c.relation(ctx, "events.table", e.table) && good
	}
	if e != nil && e.source != e.table {
		query := func() (string, error) { return "SELECT FROM " + e.source + " AS e", nil }
		good = c.parses(ctx, "events.from", query) && good
	}
	return good
}

// source looks at where the rows are read, and at the table that is written.
func (c *check) source(ctx context.Context) bool {
	good := true
	if c.plan.table != "" {
		good = c.relation(ctx, "tasks.table", c.plan.table)
	}
	switch {
	case !c.plan.from.apart:
	case c.plan.view != "":
		good = c.relation(ctx, "tasks.from", c.plan.view) && good
	default:
		good = c.parses(ctx, "tasks.from", func() (string, error) { return "SELECT FROM " + c.plan.from.SQL, nil }) && good
	}
	return good
}

// kinds are the kinds of relations in words.
var kinds = map[string]string{
	"r": "a table", "p": "a partitioned table", "f": "a foreign table", "v": "a view",
	"m": "a materialized view: rows are as old as its last REFRESH",
}

type relation struct {
	Kind    string
	Hidden  bool
	Columns []string
}

// readRelation is nil when there is no such relation.
func readRelation(ctx context.Context, tx pgx.Tx, name string) (*relation, error) {
	rows, err := tx.Query(ctx, queries["relation"], pgx.StrictNamedArgs{"relation": name})
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[relation])
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func (c *check) relation(ctx context.Context, what, name string) bool {
	var r *relation
	var near string
	read := c.step(ctx, what, func(tx pgx.Tx, _ time.Time) error {
		var err error
		if r, err = readRelation(ctx, tx, name); err != nil || r != nil {
			return err
		}
		near, err = nearTable(ctx, tx, name)
		return err
	})
	switch {
	case !read:
		return false
	case r == nil:
		c.bad(what, name+" does not exist", near)
		return false
	case r.Kind != "r" && r.Kind != "p" && what == "tasks.table":
		c.bad(what, name+" is not a table: a view's rows have no version to guard a write with",
			"map the table behind it, or the view as tasks.from")
		return false
	case r.Hidden:
		c.bad(what, "row security hides rows of "+name+" from this role: what is hidden would count as gone",
			"give the role a policy that shows every row, or BYPASSRLS")
		return true
	}
	if r.Kind == "p" {
		c.parted = append(c.parted, name)
	}
	c.ok(what, name+" is "+kinds[r.Kind])
	return true
}

// nearTable is the fix for a table that does not exist.
func nearTable(ctx context.Context, tx pgx.Tx, name string) (string, error) {
	rows, err := tx.Query(ctx, queries["relations"])
	if err != nil {
		return "", err
	}
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	bare := strings.ReplaceAll(name[strings.LastIndex(name, ".")+1:], `"`, "")
	if near := text.Nearest(bare, known); near != "" {
		return text.DidYouMean(near), nil
	}
	return "name an existing table, or another database in tasks.database", nil
}
