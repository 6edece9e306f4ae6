package providers

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/agentuity"
	"github.com/sandkeeper/sandkeeper/providers/cloudflare"
	"github.com/sandkeeper/sandkeeper/providers/daytona"
	"github.com/sandkeeper/sandkeeper/providers/e2b"
	"github.com/sandkeeper/sandkeeper/providers/empty"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/generic"
	"github.com/sandkeeper/sandkeeper/providers/vercel"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// adapters are the kinds that can be opened. A new one is an import above and a line here. The two
// with the heaviest clients can be left out of a build, by the tags nokubernetes and nodocker.
var adapters = slices.Concat([]adapter{
	of("agentuity", agentuity.New, agentuity.Abilities, agentuity.Keys, agentuity.Guide),
	of("cloudflare", cloudflare.New, cloudflare.Abilities, cloudflare.Keys, cloudflare.Guide),
	of("daytona", daytona.New, daytona.Abilities, daytona.Keys, daytona.Guide),
}, withDocker, withKubernetes, []adapter{
	of("e2b", e2b.New, e2b.Abilities, e2b.Keys, e2b.Guide),
	of("generic", generic.New, generic.Abilities, generic.Keys, generic.Guide),
	of("simulated", empty.New, empty.Abilities, nil, empty.Guide),
	of("vercel", vercel.New, vercel.Abilities, vercel.Keys, vercel.Guide),
})

// An adapter is one kind that can be opened.
type adapter struct {
	kind  string
	open  func(Entry, Options) (reconcile.Provider, error)
	none  reconcile.Provider // nil, of the adapter's type: what it implements
	can   wire.Abilities
	keys  entry.Keys
	guide string // what an operator should know
}

// of makes an adapter's line. P is the adapter's own type, so that its optional parts show.
func of[P reconcile.Provider](kind string, open func(Entry, Options) (P, error), can wire.Abilities,
	keys entry.Keys, guide string,
) adapter {
	var none P
	return adapter{kind: kind, none: none, can: can, keys: keys, guide: guide,
		open: func(e Entry, o Options) (reconcile.Provider, error) {
			p, err := open(e, o)
			if err != nil {
				return nil, fmt.Errorf("open provider %s: %w", e.Name, err)
			}
			return p, nil
		}}
}

// Kinds are the kinds that a config may name, also those that this build leaves out.
func Kinds() []string {
	return []string{"agentuity", "cloudflare", "daytona", "docker", "e2b", "generic", "kubernetes", "simulated", "vercel"}
}

// Built reports whether this build has the kind: two can be left out, by tags.
func Built(kind string) bool { return slices.ContainsFunc(adapters, isOf(kind)) }

// Sizes reports whether a listing of the kind shows how large sandboxes are.
func Sizes(kind string) bool {
	at := slices.IndexFunc(adapters, isOf(kind))
	return at >= 0 && adapters[at].can.Sizes
}

// KeysOf are the keys that a kind reads, beside those of every entry.
func KeysOf(kind string) entry.Keys {
	if at := slices.IndexFunc(adapters, isOf(kind)); at >= 0 {
		return adapters[at].keys
	}
	return nil
}

// checks look at an entry's keys together, by kind, where its keys do not say all of it.
var checks = map[string]func(Entry) []entry.Mistake{"cloudflare": cloudflare.Check, "daytona": daytona.Check,
	"generic": generic.Check}

// Check is all that is wrong with the keys of an entry that its kind reads. Nothing is opened.
func Check(e Entry) []entry.Mistake {
	if own := checks[e.Kind]; own != nil {
		return own(e)
	}
	return KeysOf(e.Kind).Check(e)
}

func isOf(kind string) func(adapter) bool { return func(a adapter) bool { return a.kind == kind } }

// lacks tell, by kind, what of terminate and quarantine an entry's own keys leave out.
var lacks = map[string]func(Entry) []string{"cloudflare": cloudflare.Lacks, "generic": generic.Lacks}

// Plants is after how long a canary at a provider of the kind would end by itself; 0 when none can be made there, see
// [reconcile.Planter].
func Plants(kind string) time.Duration {
	if at := slices.IndexFunc(adapters, isOf(kind)); at >= 0 {
		return adapters[at].can.Plants
	}
	return 0
}

// Lacks are those of terminate and quarantine that the provider of an entry cannot do. Nothing is
// opened for it, so that it can be asked wherever a config is read.
func Lacks(e Entry) (out []string) {
	at := slices.IndexFunc(adapters, isOf(e.Kind))
	if at < 0 {
		return nil
	}
	a := adapters[at]
	if a.can.Suspends == "" {
		out = append(out, "quarantine")
	}
	if a.can.ReadOnly {
		out = append(out, "terminate")
	}
	if own := lacks[e.Kind]; own != nil {
		out = append(out, own(e)...)
	}
	return out
}

// Open makes the adapter of an entry. It makes no call: a wrong credential shows at the
// first one.
func Open(e Entry, o Options) (reconcile.Provider, error) {
	if at := slices.IndexFunc(adapters, isOf(e.Kind)); at >= 0 {
		return adapters[at].open(e, o.WithDefaults())
	}
	if slices.Contains(Kinds(), e.Kind) {
		return nil, fmt.Errorf("open provider %s: this build has no %s: take one that was built without -tags no%[2]s",
			e.Name, e.Kind)
	}
	return nil, fmt.Errorf("open provider %s: no kind %q; known are %v", e.Name, e.Kind, Kinds())
}
