package providers

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/daytona"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Kinds are the kinds that a config may name, also those that are not built yet.
func Kinds() []string {
	return []string{"daytona", "e2b", "vercel", "agentuity", "cloudflare", "kubernetes", "docker", "generic", "simulated"}
}

// Built reports whether [Open] can open the kind.
func Built(kind string) bool { return kind == "daytona" || kind == "simulated" }

// Open makes the adapter of an entry. It makes no call: a wrong credential shows at the
// first one.
func Open(e Entry, o Options) (reconcile.Provider, error) {
	o = o.WithDefaults()
	switch e.Kind {
	case "daytona":
		p, err := daytona.New(e, o)
		if err != nil {
			return nil, fmt.Errorf("open provider %s: %w", e.Name, err)
		}
		return p, nil
	case "simulated":
		return simulated.New(simulated.Options{Now: o.Now}).Provider(e), nil
	}
	if slices.Contains(Kinds(), e.Kind) {
		return nil, fmt.Errorf("open provider %s: kind %s is not built yet", e.Name, e.Kind)
	}
	return nil, fmt.Errorf("open provider %s: no kind %q; known are %v", e.Name, e.Kind, Kinds())
}
