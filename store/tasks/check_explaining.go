package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store"
)

// explainers looks whether the further tables that explain sandboxes can be asked. A table
// that cannot be read would let the sandboxes that it explains look like nobody's.
func (c *check) explainers(ctx context.Context) {
	for i := range c.plan.explainers {
		c.explainer(ctx, &c.plan.explainers[i])
	}
}

func (c *check) explainer(ctx context.Context, e *explainer) {
	var r *relation
	var near string
	if !c.step(ctx, e.config+".table", func(tx pgx.Tx, _ time.Time) error {
		var err error
		if r, err = readRelation(ctx, tx, e.table); err != nil || r != nil {
			return err
		}
		near, err = nearTable(ctx, tx, e.table)
		return err
	}) {
		return
	}
	switch {
	case r == nil:
		c.bad(e.config+".table", e.table+" does not exist", near)
	case r.Hidden:
		c.bad(e.config+".table", "row security hides rows of "+e.table+" from this role: what is hidden explains nothing",
			"give the role a policy that shows every row, or BYPASSRLS")
	case !slices.Contains(r.Columns, e.name):
		c.bad(e.config+".key", fmt.Sprintf("%s has no column %q", e.table, e.name), text.Unknown(e.name, r.Columns))
	default:
		c.explains(ctx, e)
	}
}

// explains asks the table for nothing, which needs all that asking for something needs.
func (c *check) explains(ctx context.Context, e *explainer) {
	err := c.begin(ctx, taskRead, func(tx pgx.Tx, _ time.Time) error {
		_, err := e.explaining(ctx, tx, nil)
		return err
	})
	var refused *pgconn.PgError
	switch {
	case err == nil:
		c.ok(e.config, e.table+" can be asked what it explains")
	case errors.As(err, &refused) && refused.Code == "42501":
		role := c.pool.Config().ConnConfig.User
		c.bad(e.config, store.OneLine(err), fmt.Sprintf("GRANT SELECT ON %s TO %s", e.table, store.Quoted(role)))
	default:
		c.bad(e.config, store.OneLine(err), "correct "+e.config+".where")
	}
}
