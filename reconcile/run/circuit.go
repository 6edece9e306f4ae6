package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// refusedFor is how long a provider is left alone after it refused a credential. The same
// holds for all processes: the ledger remembers.
const refusedFor = 5 * time.Minute

var errCircuitOpen = errors.New("not asked")

// circuitRefused puts a closed door in the place of each provider that refused our credential
// a moment ago. Only a listing opens it again, so a quick pass leaves that call to a full one.
func (k *Reconciler) circuitRefused(ctx context.Context, kind reconcile.PassKind) error {
	sources, err := k.Ledger.Sources(ctx)
	if err != nil {
		return fmt.Errorf("recall the ledger: %w", err)
	}
	return k.circuitRemembered(ctx, kind, sources)
}

// circuitRemembered is the same by what the ledger remembers of the sources.
func (k *Reconciler) circuitRemembered(ctx context.Context, kind reconcile.PassKind,
	sources map[string]reconcile.SourceSeen,
) (err error) {
	var now time.Time
	for _, name := range k.Policy.ProviderNames() {
		seen, known := sources[reconcile.CredentialOf(name)]
		//guard:shut-another live
		if !known || seen.Trusted || k.Policy.Providers[name].Another(seen.Reason) {
			continue
		}
		if now.IsZero() {
			if now, err = k.Ledger.Now(ctx); err != nil {
				return fmt.Errorf("read the ledger's clock: %w", err)
			}
		}
		if again := seen.Since.Add(refusedFor); kind == reconcile.Quick || now.Before(again) {
			k.circuits(name, seen.Since)
		}
	}
	return nil
}

// circuitListed does the same with those that refused the listing of this very pass: every
// further call would be refused as well.
func (k *Reconciler) circuitListed(s *reconcile.Snapshot) {
	for name, seen := range s.Listings {
		if seen.Refused {
			k.circuits(name, s.Memory.Now)
		}
	}
}

func (k *Reconciler) circuits(name string, since time.Time) {
	k.Providers = maps.Clone(k.Providers)
	k.Providers[name] = circuit{fmt.Errorf("%w until %s: %w at %s; correct the token",
		errCircuitOpen, text.Time(since.Add(refusedFor)), reconcile.ErrUnauthorized, text.Time(since))}
}

// circuit is a provider that is not called. It knows nothing: neither here nor gone.
type circuit struct{ why error }

func (s circuit) List(context.Context, func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return reconcile.Listing{}, s.why
}

func (s circuit) Get(context.Context, string) (reconcile.Sandbox, error) {
	return reconcile.Sandbox{}, s.why
}

func (s circuit) Find(context.Context, string) ([]reconcile.Sandbox, error) { return nil, s.why }

func (s circuit) Terminate(context.Context, reconcile.Sandbox) (reconcile.Termination, error) {
	return "", s.why
}

func (s circuit) Probe(_ context.Context, sb reconcile.Sandbox, _ reconcile.ProbePolicy) reconcile.ProbeResult {
	return reconcile.ProbeResult{Ref: sb.Ref, Outcome: reconcile.Infrastructure, Detail: s.why.Error()}
}
