package run

import (
	"context"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// quotaTime bounds the reading of one provider's quotas.
const quotaTime = 5 * time.Second

// readQuotas asks the providers how much of their quotas is used, all at once. What cannot be
// measured is left out: it is not 0.
func (k observer) readQuotas(ctx context.Context, s *reconcile.Snapshot) {
	if !policyNeeds(&k.Policy, reconcile.NeedQuotas) {
		return
	}
	names := k.Policy.ProviderNames()
	all := inParallel(names, k.parallel(view.Lookers), func(name string) []reconcile.Quota {
		return k.quotasOf(ctx,
			name)
	})
	s.Quotas = map[string][]reconcile.Quota{}
	for i, name := range names {
		if all[i] != nil {
			s.Quotas[name] = all[i]
		}
	}
}

// quotasOf is nil when they cannot be measured.
func (k observer) quotasOf(ctx context.Context, name string) []reconcile.Quota {
	source := reconcile.CapabilitiesOf(k.Providers[name]).Quotas
	if source == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, quotaTime)
	defer cancel()
	quotas, err := source.Quotas(ctx)
	if err != nil {
		k.Log.DebugContext(ctx, "quotas not measured", "provider", name, "err", err)
		return nil
	}
	if quotas == nil {
		quotas = []reconcile.Quota{}
	}
	for i := range quotas {
		quotas[i].Name = text.Clip(quotas[i].Name, 100)
	}
	return quotas
}
