package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ownRoles is the fix for a ledger that others reach.
const ownRoles = "the roles of deploy/grants.sql, with a login for the ledger alone"

// A reach is who has what over the ledger.
type reach struct {
	Owner              string
	Owned, Superuser   bool
	Creators, Triggers []string
}

// Check says who else may change the ledger, or run something of his in our name.
func (g *Ledger) Check(ctx context.Context) []reconcile.CheckResult {
	rows, err := g.pool.Query(ctx, queries["reach"])
	if err != nil {
		return []reconcile.CheckResult{{What: "authority", Said: err.Error()}}
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[reach])
	if err != nil {
		return []reconcile.CheckResult{{What: "authority", Said: err.Error()}}
	}
	return r.lines()
}

func (r reach) lines() (out []reconcile.CheckResult) {
	owner := reconcile.CheckResult{What: "owner", OK: true, Said: r.Owner + " owns it, and this login may not act as that"}
	switch {
	case r.Superuser:
		owner.Said, owner.Fix = "this login is a superuser: nothing keeps it from changing the record", ownRoles
	case r.Owned:
		owner.Said, owner.Fix = "this login may act as "+r.Owner+", who owns it, and could change the record", ownRoles
	}
	out = append(out, owner)
	if len(r.Creators) > 0 {
		out = append(out, reconcile.CheckResult{What: "creators",
			Said: strings.Join(r.Creators, ", ") + " may create in the schema sandkeeper",
			Fix:  "REVOKE CREATE ON SCHEMA sandkeeper FROM " + strings.ReplaceAll(r.Creators[0], "everybody", "PUBLIC")})
	}
	if len(r.Triggers) > 0 {
		out = append(out, reconcile.CheckResult{What: "triggers",
			Said: fmt.Sprintf("somebody else's run with what we write: %s", strings.Join(r.Triggers, ", ")),
			Fix:  "DROP TRIGGER them, and find out who made them"})
	}
	return out
}
