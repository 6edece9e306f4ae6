package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ownRoles is the fix for a ledger that others reach.
const ownRoles = "the roles of deploy/grants_ledger.sql, with a login for the ledger alone"

// A reach is who has what over the ledger.
type reach struct {
	Owner, Login                  string
	Owned, Superuser              bool
	Creators, Triggers, Strangers []string
	Planters                      []string // may make triggers on its tables, and own none of them
}

// Check says who else may change the ledger, or run something of his in our name.
func (g *Schema) Check(ctx context.Context) []reconcile.CheckResult {
	r, err := reachOf(ctx, g.pool)
	if err != nil {
		return []reconcile.CheckResult{{What: "authority", Said: err.Error()}}
	}
	lines := r.lines()
	if err := g.unreached(ctx, g.pool); err != nil {
		lines = append(lines, reconcile.CheckResult{What: "tasks login", Said: err.Error()})
	}
	return lines
}

func reachOf(ctx context.Context, q querier) (reach, error) {
	rows, err := q.Query(ctx, queries["reach"])
	if err != nil {
		return reach{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[reach])
}

func (r reach) lines() []reconcile.CheckResult {
	owner := reconcile.CheckResult{What: "owner", OK: true, Said: r.Owner + " owns it, and this login may not act as that"}
	switch {
	case r.Superuser:
		owner.Said, owner.Fix = "this login is a superuser: nothing keeps it from changing the record", ownRoles
	case r.Owned:
		owner.Said, owner.Fix = "this login may act as "+r.Owner+", who owns it, and could change the record", ownRoles
	}
	out := append([]reconcile.CheckResult{owner}, r.wrong()...)
	if len(r.Planters) > 0 {
		to := strings.ReplaceAll(strings.Join(r.Planters, ", "), "everybody", "PUBLIC")
		out = append(out, reconcile.CheckResult{What: "planters", OK: true,
			Said: strings.Join(r.Planters, ", ") + " may make triggers on its tables, which run with what we write",
			Fix:  "REVOKE TRIGGER ON ALL TABLES IN SCHEMA sandkeeper FROM " + to})
	}
	return out
}

// wrong is what lets somebody else run things in our name.
func (r reach) wrong() (out []reconcile.CheckResult) {
	if len(r.Creators) > 0 {
		from := strings.ReplaceAll(strings.Join(r.Creators, ", "), "everybody", "PUBLIC")
		out = append(out, reconcile.CheckResult{What: "creators",
			Said: strings.Join(r.Creators, ", ") + " may create in the schema sandkeeper",
			Fix:  "REVOKE CREATE ON SCHEMA sandkeeper FROM " + from})
	}
	if len(r.Triggers) > 0 {
		out = append(out, reconcile.CheckResult{What: "triggers",
			Said: "somebody else's run with what we write: " + strings.Join(r.Triggers, ", "),
			Fix:  "DROP " + strings.Join(r.Triggers, "; DROP ") + "; and find out who made them"})
	}
	if len(r.Strangers) > 0 {
		first, _, _ := strings.Cut(r.Strangers[0], " of ")
		out = append(out, reconcile.CheckResult{What: "strangers",
			Said: "in the schema of " + r.Owner + ", but not his: " + strings.Join(r.Strangers, ", "),
			Fix:  "DROP " + first + ", or ALTER " + first + " OWNER TO " + r.Owner + " if you know it"})
	}
	return out
}

// refusal is why this login should not migrate what is there; nil where it may.
func (r reach) refusal() error {
	wrong := r.wrong()
	if !r.Owned {
		wrong = append(wrong, reconcile.CheckResult{What: "owner",
			Said: "the schema sandkeeper belongs to " + r.Owner + ", and " + r.Login + " may not act as that",
			Fix: "migrate as " + r.Owner + "; or, if you know who made it, ALTER SCHEMA sandkeeper OWNER TO " +
				r.Login})
	}
	var errs []error
	for _, w := range wrong {
		errs = append(errs, fmt.Errorf("refused, nothing was changed: %s: %s; fix: %s", w.What, w.Said, w.Fix))
	}
	return errors.Join(errs...)
}

// unreached refuses a ledger that the login of the tasks could write to: what a trigger of the task table runs in its
// name could then ask for something in an operator's.
func (g *Schema) unreached(ctx context.Context, q querier) error {
	if g.tasksLogin == "" {
		return nil
	}
	var reached bool
	err := one(ctx, q, "reached", pgx.StrictNamedArgs{"login": g.tasksLogin}, &reached)
	if err != nil || !reached {
		return err
	}
	login := pgx.Identifier{g.tasksLogin}.Sanitize()
	return fmt.Errorf("the login of tasks.database, %s, can write to the ledger; "+
		"fix: REVOKE ALL ON ALL TABLES IN SCHEMA sandkeeper FROM %s, and the roles from it that have it", login, login)
}
