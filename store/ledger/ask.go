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
func (g *Ledger) Ask(ctx context.Context, by reconcile.Signature, actions []reconcile.Action, withdraw []string,
) ([]reconcile.Action, error) {
	if err := protocol.CheckAsked(actions); err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	var asked []reconcile.Action
	err := g.wish(ctx, by, func(tx pgx.Tx, now time.Time) (lines []told, err error) {
		if lines, err = takeBack(ctx, tx, by, withdraw, now); err != nil {
			return nil, err
		}
		way, err := makeWay(ctx, tx, by, actions, now)
		if err != nil {
			return nil, err
		}
		lines = append(lines, way...)
		wished := column(actions, func(a reconcile.Action) reconcile.Action { return protocol.Wished(a, by, now) })
		if asked, err = planAsked(ctx, tx, wished); err != nil {
			return nil, err
		}
		return append(lines, column(asked, func(a reconcile.Action) told {
			return told{a.Subject, protocol.WishedFor(a)}
		})...), nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	return asked, nil
}

// takeBack withdraws steps that nobody has begun.
func takeBack(ctx context.Context, tx pgx.Tx, by reconcile.Signature, ids []string, now time.Time) ([]told, error) {
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
	return withdrawAsked(ctx, tx, by, found, now)
}

// makeWay withdraws the ends that give way to those that are asked for now.
func makeWay(ctx context.Context, tx pgx.Tx, by reconcile.Signature, actions []reconcile.Action, now time.Time,
) ([]told, error) {
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
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(a reconcile.Action) bool { return !a.GivesWay(now) })
	return withdrawAsked(ctx, tx, by, open, now)
}

// withdrawAsked withdraws steps that are locked, and says so.
func withdrawAsked(ctx context.Context, tx pgx.Tx, by reconcile.Signature, steps []reconcile.Action, now time.Time,
) ([]told, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	_, err := exec(ctx, tx, "ask_withdraw", pgx.StrictNamedArgs{
		"ids":    column(steps, func(a reconcile.Action) string { return a.ID }),
		"detail": clean(protocol.WithdrawnBy(by)), "now": now,
	})
	return column(steps, func(a reconcile.Action) told { return told{a.Subject, protocol.TakenBack(a)} }), err
}

// planAsked plans actions, first steps before later ones, and returns those that are new.
func planAsked(ctx context.Context, tx pgx.Tx, actions []reconcile.Action) ([]reconcile.Action, error) {
	puts, err := actionWrites(reconcile.Record{Actions: actions}, time.Time{})
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
func (g *Ledger) Note(ctx context.Context, by reconcile.Signature, subject, what string) error {
	err := g.wish(ctx, by, func(pgx.Tx, time.Time) ([]told, error) { return []told{{subject, what}}, nil })
	if err != nil {
		return fmt.Errorf("note on %s: %w", subject, err)
	}
	return nil
}
