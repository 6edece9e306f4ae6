package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Arm lets a rule act unproven.
func (g *Operators) Arm(ctx context.Context, rule string, by reconcile.Attribution) error {
	return g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		g.arms[rule] = reconcile.Arm{Attribution: by, At: now}
		return []line{{"rule:" + rule, "armed unproven"}}, nil
	})
}

// Disarm takes that back.
func (g *Operators) Disarm(ctx context.Context, rule string, by reconcile.Attribution) error {
	return g.operatorRequest(ctx, by, func(time.Time) ([]line, error) {
		if _, armed := g.arms[rule]; !armed {
			return nil, fmt.Errorf("not armed any more %s: %w", rule, reconcile.ErrNotFound)
		}
		delete(g.arms, rule)
		return []line{{"rule:" + rule, "not armed any more"}}, nil
	})
}

// SaveProofs keeps proofs of one kind, in the place of all that was known of their rules by that kind.
func (g *Ledger) SaveProofs(ctx context.Context, kind reconcile.ProofKind, proofs []reconcile.Proof) error {
	return g.locked(ctx, func(time.Time) error {
		for i := range proofs {
			g.proofs = slices.DeleteFunc(g.proofs, func(p reconcile.Proof) bool {
				return p.Kind == kind && p.Rule == proofs[i].Rule
			})
		}
		for _, p := range proofs {
			p.Kind = kind
			g.proofs = append(g.proofs, p)
		}
		slices.SortFunc(g.proofs, func(a, b reconcile.Proof) int {
			return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Kind, b.Kind))
		})
		return nil
	})
}

// SaveLearned keeps the thresholds of rules, in the place of all that was known of each.
func (g *Ledger) SaveLearned(ctx context.Context, all []reconcile.Learned) error {
	return g.locked(ctx, func(now time.Time) error {
		for i := range all {
			g.learned = slices.DeleteFunc(g.learned, func(l reconcile.Learned) bool { return l.Rule == all[i].Rule })
		}
		g.learned = append(g.learned, all...)
		slices.SortFunc(g.learned, func(a, b reconcile.Learned) int {
			return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Class, b.Class))
		})
		for _, e := range protocol.LearnedEvents(all, now) {
			g.tell(e)
		}
		return nil
	})
}
