package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// SaveProbes adds probe results to the history and to what each sandbox's probes come to.
func (g *Ledger) SaveProbes(ctx context.Context, l reconcile.Lease, results []reconcile.ProbeResult) error {
	err := g.working(ctx, l, func(now time.Time) error {
		if err := checkProbes(results); err != nil {
			return err
		}
		own := map[reconcile.Ref][]reconcile.ProbeResult{}
		for _, r := range results {
			own[r.Ref] = append(own[r.Ref], r)
			g.countHourly(reconcile.Counter{Name: "probes", Provider: r.Provider, What: string(r.Outcome), Value: 1}, now)
		}
		for ref, of := range own {
			if _, known := g.sandboxes[ref]; !known {
				continue // nothing to sum up: the history has them
			}
			sum := g.sums[ref]
			sum.Ref = ref
			g.sums[ref] = protocol.Fold(sum, of)
		}
		for _, r := range results {
			r.Measurements, r.Exit = nil, nil // kept with what the probes come to, or as the worker's state
			g.probes = append(g.probes, r)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save %d probe results: %w", len(results), err)
	}
	return nil
}

// ReserveProbes takes up to want probes out of the provider's budget for this minute.
func (g *Ledger) ReserveProbes(ctx context.Context, l reconcile.Lease, provider string, want, perMinute int,
) (int, error) {
	var got int
	err := g.working(ctx, l, func(now time.Time) error {
		g.minutes[provider], got = g.minutes[provider].Grant(now, want, perMinute)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("reserve %d probes of %s: %w", want, provider, err)
	}
	return got, nil
}
