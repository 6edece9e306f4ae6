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

var errShut = errors.New("not asked")

// shutRefused puts a closed door in the place of each provider that refused our credential
// a moment ago. Only a listing opens it again, so a quick pass leaves that call to a full one.
func (k *Keeper) shutRefused(ctx context.Context, kind reconcile.PassKind) error {
	sources, err := k.Ledger.Sources(ctx)
	if err != nil {
		return fmt.Errorf("recall the ledger: %w", err)
	}
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
			k.shut(name, seen.Since)
		}
	}
	return nil
}

// shutListed does the same with those that refused the listing of this very pass: every
// further call would be refused as well.
func (k *Keeper) shutListed(s *reconcile.Snapshot) {
	for name, seen := range s.Listings {
		if seen.Refused {
			k.shut(name, s.Memory.Now)
		}
	}
}

func (k *Keeper) shut(name string, since time.Time) {
	k.Providers = maps.Clone(k.Providers)
	k.Providers[name] = shut{fmt.Errorf("%w until %s: %w at %s; correct the token",
		errShut, text.Time(since.Add(refusedFor)), reconcile.ErrUnauthorized, text.Time(since))}
}

// shut is a provider that is not called. It knows nothing: neither here nor gone.
type shut struct{ why error }

func (s shut) List(context.Context, func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return reconcile.Listing{}, s.why
}

func (s shut) Get(context.Context, string) (reconcile.Sandbox, error) {
	return reconcile.Sandbox{}, s.why
}

func (s shut) Find(context.Context, string) ([]reconcile.Sandbox, error) { return nil, s.why }

func (s shut) Terminate(context.Context, reconcile.Sandbox) (reconcile.Termination, error) {
	return "", s.why
}

func (s shut) Probe(_ context.Context, sb reconcile.Sandbox, _ reconcile.ProbePolicy) reconcile.ProbeResult {
	return reconcile.ProbeResult{Ref: sb.Ref, Outcome: reconcile.Infrastructure, Detail: s.why.Error()}
}
