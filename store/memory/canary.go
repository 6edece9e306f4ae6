package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// PlantCanary takes the right to make a canary now, and reports whether it did.
func (g *Ledger) PlantCanary(ctx context.Context, c reconcile.Canary, p reconcile.CanaryPolicy,
) (planted bool, err error) {
	err = g.locked(ctx, func(now time.Time) error {
		g.seeCanaries()
		day, today := now.Add(-24*time.Hour), 0
		slot := protocol.CanarySlot(now, p.Every)
		for _, other := range g.canariesNow() {
			recent := other.PlantedAt.After(day)
			if other.ID == slot || recent && !other.Over() {
				return nil
			}
			if recent {
				today++
			}
		}
		if today < p.PerDay {
			g.canaries = append(g.canaries, reconcile.Canary{ID: slot, Provider: c.Provider, Name: c.Name, PlantedAt: now})
			planted = true
		}
		return nil
	})
	return planted, err
}

// CanaryPlanted keeps what its provider said.
func (g *Ledger) CanaryPlanted(ctx context.Context, name, sandbox, failed string) error {
	return g.locked(ctx, func(time.Time) error {
		for i := range g.canaries {
			if g.canaries[i].Name == name {
				g.canaries[i].Sandbox, g.canaries[i].Error = sandbox, failed
			}
		}
		return nil
	})
}

// seeCanaries finds the sandboxes of those whose provider never answered, by their names.
func (g *tables) seeCanaries() {
	for i := range g.canaries {
		c := &g.canaries[i]
		for ref, seen := range g.sandboxes {
			if c.Sandbox == "" && ref.Provider == c.Provider && seen.Name == c.Name {
				c.Sandbox = ref.ID
			}
		}
	}
}

// canariesNow are the newest ones, newest first, with what became of their sandboxes.
func (g *tables) canariesNow() (out []reconcile.Canary) {
	for _, c := range g.canaries {
		if c.Sandbox != "" {
			g.followCanary(&c)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b reconcile.Canary) int {
		return cmp.Or(b.PlantedAt.Compare(a.PlantedAt), cmp.Compare(a.ID, b.ID))
	})
	return cut(out, reconcile.MostCanaries)
}

func (g *tables) followCanary(c *reconcile.Canary) {
	earlier := func(at *time.Time, found time.Time) {
		if !found.IsZero() && (at.IsZero() || found.Before(*at)) {
			*at = found
		}
	}
	for _, f := range g.findings {
		if f.Rule == reconcile.CanaryRule && f.Provider == c.Provider && f.Sandbox == c.Sandbox {
			earlier(&c.FoundAt, f.OpenedAt)
		}
	}
	for _, a := range g.actions {
		if a.Rule == reconcile.CanaryRule && a.Provider == c.Provider && a.Sandbox == c.Sandbox {
			earlier(&c.JudgedAt, a.PlannedAt)
			earlier(&c.ActedAt, a.FirstActed)
		}
	}
	seen := g.sandboxes[reconcile.Ref{Provider: c.Provider, ID: c.Sandbox}]
	c.GoneAt, c.GoneByUs = seen.GoneAt, seen.GoneByUs
}

// isCanary reports whether the finding is of a sandbox that sandkeeper made to be found.
func (g *tables) isCanary(f *reconcile.FindingSeen) bool {
	return slices.ContainsFunc(g.canaries, func(c reconcile.Canary) bool {
		return c.Sandbox != "" && c.Provider == f.Provider && c.Sandbox == f.Sandbox
	})
}
