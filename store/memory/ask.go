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
func (g *Operators) Ask(ctx context.Context, by reconcile.Attribution, actions []reconcile.Action, withdraw []string,
) ([]reconcile.Action, error) {
	var asked []reconcile.Action
	err := g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		if err := g.checkAsked(actions, withdraw); err != nil {
			return nil, err
		}
		lines := g.takeBack(by, append(slices.Clone(withdraw), g.givingWay(actions, now)...), now)
		requested := make([]reconcile.Action, len(actions))
		for i, a := range actions {
			requested[i] = g.seals.SignAction(protocol.Requested(a, by, now))
		}
		added := g.putActions(requested)
		for _, a := range requested {
			if added[a.ID] {
				asked = append(asked, a)
				lines = append(lines, line{a.Subject, protocol.RequestedFor(a)})
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
	for _, requested := range actions {
		for _, a := range sorted(g.actions, byPlan, func(a action) bool { return sameStep(a.Action, requested) }) {
			if a.GivesWay(now) {
				ids = append(ids, a.ID)
			}
		}
	}
	return ids
}

// takeBack withdraws steps that nobody has begun.
func (g *tables) takeBack(by reconcile.Attribution, ids []string, now time.Time) []line {
	lines := make([]line, 0, len(ids))
	for _, id := range ids {
		a := g.actions[id]
		a.How, a.WaitsFor = reconcile.HowTakenBack, nil
		g.close(a, reconcile.OutcomeWithdrawn, reconcile.WithdrawnBy(by), now)
		lines = append(lines, line{a.Subject, protocol.TakenBack(a.Action)})
	}
	return lines
}

// Note writes into the history of a subject what an operator did or asked for.
func (g *Operators) Note(ctx context.Context, by reconcile.Attribution, subject, what string) error {
	return g.operatorRequest(ctx, by, func(time.Time) ([]line, error) { return []line{{subject, what}}, nil })
}
