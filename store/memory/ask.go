package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Ask writes down actions that an operator asks for, all or none, takes back the steps in
// withdraw and those that give way, and returns the actions that are new.
func (g *Ledger) Ask(ctx context.Context, by reconcile.Signature, actions []reconcile.Action, withdraw []string,
) ([]reconcile.Action, error) {
	var asked []reconcile.Action
	err := g.wish(ctx, by, func(now time.Time) ([]told, error) {
		if err := g.checkAsked(actions, withdraw); err != nil {
			return nil, err
		}
		lines := g.takeBack(by, append(slices.Clone(withdraw), g.givingWay(actions, now)...), now)
		wished := make([]reconcile.Action, len(actions))
		for i, a := range actions {
			wished[i] = protocol.Wished(a, by, now)
		}
		added := g.putActions(wished)
		for _, a := range wished {
			if added[a.ID] {
				asked = append(asked, a)
				lines = append(lines, told{a.Subject, protocol.WishedFor(a)})
			}
		}
		return lines, nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	return asked, nil
}

// checkAsked refuses what cannot be done as a whole.
func (g *actionTable) checkAsked(actions []reconcile.Action, withdraw []string) error {
	if err := protocol.CheckAsked(actions); err != nil {
		return err
	}
	for _, a := range actions {
		if err := checkAction(a); err != nil {
			return fmt.Errorf("action %s: %w", a.ID, err)
		}
	}
	for _, id := range withdraw {
		a, found := g.actions[id]
		if !found {
			return fmt.Errorf("withdraw action %s: %w", id, reconcile.ErrNotFound)
		}
		if err := protocol.CheckWithdrawable(a.Action); err != nil {
			return err
		}
	}
	return nil
}

// givingWay are the open ends that give way to those that are asked for now.
func (g *actionTable) givingWay(actions []reconcile.Action, now time.Time) []string {
	var ids []string
	for _, wished := range actions {
		for _, a := range sorted(g.actions, byPlan, func(a action) bool { return sameStep(a.Action, wished) }) {
			if a.GivesWay(now) {
				ids = append(ids, a.ID)
			}
		}
	}
	return ids
}

// takeBack withdraws steps that nobody has begun.
func (g *tables) takeBack(by reconcile.Signature, ids []string, now time.Time) []told {
	lines := make([]told, 0, len(ids))
	for _, id := range ids {
		a := g.actions[id]
		g.close(a, reconcile.OutcomeWithdrawn, reconcile.WithdrawnBy(by), now)
		lines = append(lines, told{a.Subject, protocol.TakenBack(a.Action)})
	}
	return lines
}

// Note writes into the history of a subject what an operator did or asked for.
func (g *Ledger) Note(ctx context.Context, by reconcile.Signature, subject, what string) error {
	return g.wish(ctx, by, func(time.Time) ([]told, error) { return []told{{subject, what}}, nil })
}
