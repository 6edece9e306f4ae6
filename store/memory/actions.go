package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// putActions plans actions, first steps before later ones, which come only with them, and
// says which are new.
func (g *actionTable) putActions(planned []reconcile.Action) map[string]bool {
	added := map[string]bool{}
	for _, a := range planned {
		if a.Seq == 0 {
			added[a.ID] = g.plan(a) || added[a.ID]
		}
	}
	for _, a := range planned {
		first, found := g.actions[a.Remedy]
		lost := first.Outcome == reconcile.OutcomeWithdrawn || first.Outcome == reconcile.OutcomeFailed
		//guard:put-after-first P2
		if a.Seq > 0 && found && !lost {
			added[a.ID] = g.plan(a) || added[a.ID]
		}
	}
	return added
}

// plan adds an action unless one is open already for its subject and step.
func (g *actionTable) plan(a reconcile.Action) bool {
	if _, known := g.actions[a.ID]; known {
		return false
	}
	for _, open := range g.actions {
		//guard:put-once once
		if !open.Outcome.Closed() && sameStep(open.Action, a) {
			return false
		}
	}
	a.Outcome, a.Detail, a.Attempts = reconcile.OutcomePending, "", 0
	a.ClaimedAt, a.ClaimedBy, a.ClaimEnds = time.Time{}, "", time.Time{}
	a.ActedAt, a.FirstActed, a.AskedAt, a.Asks = time.Time{}, time.Time{}, time.Time{}, 0
	a.ClosedAt, a.Announce = time.Time{}, false
	g.actions[a.ID] = action{Action: copied(a)}
	return true
}

// sameStep reports whether two actions would do the same: a sandbox is ended, stopped or
// woken once, whatever the subject.
func sameStep(a, b reconcile.Action) bool {
	if a.Step != b.Step {
		return false
	}
	if protocol.OnSandbox(a.Step) {
		return a.Provider == b.Provider && a.Sandbox == b.Sandbox
	}
	return a.Subject == b.Subject
}

// withdraw closes planned actions that nobody claimed, and the later steps of those that
// were a remedy's first.
func (g *tables) withdraw(ids []string, now time.Time) {
	idle := func(a action) bool {
		return a.ClaimedBy == "" && a.Attempts == 0 && a.Outcome == reconcile.OutcomePending
	}
	for _, id := range ids {
		//guard:withdraw-idle lost
		//guard:withdraw-wish lost
		if a, found := g.actions[id]; found && idle(a) && a.Author == "" {
			g.close(a, reconcile.OutcomeWithdrawn, "the finding no longer holds", now)
		}
	}
	for _, id := range ids {
		if g.actions[id].Outcome != reconcile.OutcomeWithdrawn || g.actions[id].ClosedAt != now {
			continue
		}
		for _, a := range g.steps(id) {
			if idle(a) {
				g.close(a, reconcile.OutcomeWithdrawn, "the first step was withdrawn", now)
			}
		}
	}
}

func (g *tables) close(a action, o reconcile.Outcome, detail string, now time.Time) {
	a.Outcome, a.Detail, a.ClosedAt = o, detail, now
	a.ClaimedBy, a.ClaimEnds = "", time.Time{}
	g.actions[a.ID] = a
	g.count("actions", a.Rule, a.Provider, string(a.Step)+":"+string(o))
}

// steps are the steps of a remedy, in order.
func (g *actionTable) steps(remedy string) []action {
	return sorted(g.actions, byPlan, func(a action) bool { return a.Remedy == remedy })
}

func byPlan(a, b action) int {
	return cmp.Or(a.PlannedAt.Compare(b.PlannedAt), cmp.Compare(a.Remedy, b.Remedy), cmp.Compare(a.Seq, b.Seq),
		cmp.Compare(a.ID, b.ID))
}

// OpenActions reads the actions that are not closed, of these remedies or of all, oldest remedy first.
func (g *Ledger) OpenActions(ctx context.Context, remedies ...string) ([]reconcile.Action, error) {
	var open []reconcile.Action
	err := g.locked(ctx, func(now time.Time) error {
		for _, a := range g.openActions() {
			if len(remedies) == 0 || slices.Contains(remedies, a.Remedy) {
				open = append(open, g.seals.Checked(a, now))
			}
		}
		return nil
	})
	return open, err
}

func (g *actionTable) openActions() []reconcile.Action {
	var open []reconcile.Action
	for _, a := range sorted(g.actions, byPlan, func(a action) bool { return !a.Outcome.Closed() }) {
		open = append(open, copied(a.Action))
	}
	return open
}

func copied(a reconcile.Action) reconcile.Action {
	a.Evidence = slices.Clone(a.Evidence)
	if a.Before != nil {
		before := *a.Before
		before.Columns = maps.Clone(before.Columns)
		a.Before = &before
	}
	return a
}
