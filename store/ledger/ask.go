package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Ask writes down actions that an operator asks for, all or none, and returns those that
// are new: what is open already for the same thing stays as it is, unless it gives way. The
// steps in withdraw are taken back first; when one of them was begun or is over, nothing is
// asked for.
func (g *Operators) Ask(ctx context.Context, by reconcile.Attribution, actions []reconcile.Action, withdraw []string,
) ([]reconcile.Action, error) {
	if err := protocol.CheckAsked(actions); err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	var asked []reconcile.Action
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		if _, err := exec(ctx, tx, "plan_lock", nil); err != nil {
			return nil, err
		}
		ends, err := lockEnds(ctx, tx, actions, withdraw, now)
		if err != nil {
			return nil, err
		}
		ids := column(ends, func(a reconcile.Action) string { return a.ID })
		if _, err := exec(ctx, tx, "ask_withdraw", pgx.StrictNamedArgs{
			"ids": ids, "detail": clean(reconcile.WithdrawnBy(by)), "how": string(reconcile.HowTakenBack), "now": now,
		}); err != nil {
			return nil, err
		}
		wished := column(actions, func(a reconcile.Action) reconcile.Action {
			return g.seals.Load().SignAction(protocol.Requested(a, by, now))
		})
		if asked, err = planAsked(ctx, tx, wished); err != nil {
			return nil, err
		}
		lines := column(ends, func(a reconcile.Action) line { return line{a.Subject, protocol.TakenBack(a)} })
		lines = append(lines, column(asked, func(a reconcile.Action) line {
			return line{a.Subject, protocol.RequestedFor(a)}
		})...)
		return lines, execAll(ctx, tx, []write{countWithdrawn(ids)})
	})
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	return asked, nil
}

// lockEnds locks the steps that end with what is asked for: those that are taken back, which
// nobody may have begun, and the ends that give way.
func lockEnds(ctx context.Context, tx pgx.Tx, actions []reconcile.Action, withdraw []string, now time.Time,
) ([]reconcile.Action, error) {
	back, err := lockTakenBack(ctx, tx, withdraw)
	if err != nil {
		return nil, err
	}
	way, err := lockGivingWay(ctx, tx, actions, now)
	return append(back, slices.DeleteFunc(way, func(a reconcile.Action) bool {
		return slices.Contains(withdraw, a.ID)
	})...), err
}

func lockTakenBack(ctx context.Context, tx pgx.Tx, ids []string) ([]reconcile.Action, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := all(ctx, tx, "ask_lock", pgx.StrictNamedArgs{"ids": ids}, scanAction)
	if err != nil {
		return nil, err
	}
	known := column(found, func(a reconcile.Action) string { return a.ID })
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("withdraw action %s: %w", id, reconcile.ErrNotFound)
		}
	}
	for _, a := range found {
		if err := protocol.CheckWithdrawable(a); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func lockGivingWay(ctx context.Context, tx pgx.Tx, actions []reconcile.Action, now time.Time,
) ([]reconcile.Action, error) {
	ends := slices.DeleteFunc(slices.Clone(actions), func(a reconcile.Action) bool {
		return a.Step != reconcile.StepTerminate
	})
	if len(ends) == 0 {
		return nil, nil
	}
	open, err := all(ctx, tx, "ask_same", pgx.StrictNamedArgs{
		"providers": column(ends, func(a reconcile.Action) string { return clean(a.Provider) }),
		"sandboxes": column(ends, func(a reconcile.Action) string { return clean(a.Sandbox) }),
	}, scanAction)
	return slices.DeleteFunc(open, func(a reconcile.Action) bool { return !a.GivesWay(now) }), err
}

// planAsked plans actions, first steps before later ones, and returns those that are new.
func planAsked(ctx context.Context, tx pgx.Tx, actions []reconcile.Action) ([]reconcile.Action, error) {
	puts, err := planWrites(actions)
	if err != nil {
		return nil, err
	}
	planned := map[string]bool{}
	for _, put := range puts {
		ids, err := all(ctx, tx, put.query, put.args, scanText)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			planned[id] = true
		}
	}
	return slices.DeleteFunc(actions, func(a reconcile.Action) bool { return !planned[a.ID] }), nil
}

// Note writes into the history of a subject what an operator did or asked for.
func (g *Operators) Note(ctx context.Context, by reconcile.Attribution, subject, what string) error {
	err := g.operatorRequest(ctx, by, func(pgx.Tx, time.Time) ([]line, error) { return []line{{subject, what}}, nil })
	if err != nil {
		return fmt.Errorf("note on %s: %w", subject, err)
	}
	return nil
}
