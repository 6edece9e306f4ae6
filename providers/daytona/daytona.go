// Package daytona speaks to Daytona: the control plane for what exists, the toolbox of
// each sandbox for probes. It knows their traps: a list that lags, a delete that only
// hides, a look-up by id that also finds names, an HTML page that answers 200.
//
// # Decisions
//
//   - 2026-11-21: a client of our own, because the vendor's Go client does not list what
//     was deleted in error, and new state words must not break the decoding.
//   - 2026-11-21: a terminate gets the sandbox first. The delete call would otherwise also
//     take another sandbox whose name equals the id of one that is gone.
package daytona

import (
	_ "embed" // the guide
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// DefaultURL is the API of the vendor's cloud.
const DefaultURL = "https://app.daytona.io/api"

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	entry.URL(DefaultURL),
	entry.Token("an API key, made in the dashboard"),
	{Name: "organization", Doc: "The organization's id, for its quotas while there is no sandbox to learn it from."},
	entry.PushSecret(),
}

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, Sizes: true, PageSize: pageSize, OldestFirst: true, Hides: true,
	NameMayBeID: true,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed},
	Lags:    "comes from a search index that lags by seconds",
	Refuses: true, Busy: true,
	Suspends: "stop: its disk is kept, its processes end", StopMayDelete: true,
	Exec: true, Files: true, DataPlane: true,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateInactive,
		reconcile.TemplateBuilding, reconcile.TemplateFailed, reconcile.TemplateMissing},
	TemplateExpires: true, Plants: canaryLasts,
	Looks:    "get (database) and listing (search index), by the server's source v0.190; the sandbox's toolbox",
	IndexLag: indexLag,
	Deaths:   "audit log: who asked and why, some seconds late",
}

// A Provider is one Daytona organization, seen with one key. It is safe for concurrent
// use.
type Provider struct {
	entry  entry.Entry
	client *wire.Client
	base   *wire.Base
	org    atomic.Value // the key's organization, once a sandbox told it
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do.
func (p *Provider) Capabilities() reconcile.Capabilities {
	return reconcile.Capabilities{Named: p, Templates: p, Suspender: p, Logs: p, Usage: p, Quotas: p,
		Checker: p, Deaths: p, Planter: p, ListsEnding: true, StopMayDelete: true, IndexLag: indexLag}
}

// indexLag is four times the 2.5 s by which the listing was measured to be behind (daytonaio/daytona#5138).
const indexLag = 10 * time.Second

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	if err := Keys.Refuse(e); err != nil {
		return nil, err
	}
	c, f, err := wire.Open(e, o, wire.Dialect{
		URL: DefaultURL, Hint: "is the url right, with /api at its end?", Certain: certain, Hosts: []string{"*.daytona.io"},
		Authorize: func(r *http.Request, k wire.Call) { authorize(r, k, e) },
	})
	if err != nil {
		return nil, err
	}
	return &Provider{entry: e, client: c, base: f}, nil
}

func authorize(r *http.Request, k wire.Call, e entry.Entry) {
	r.Header.Set("Authorization", "Bearer "+e.Token)
	if organization := e.Extra["organization"]; organization != "" {
		r.Header.Set("X-Daytona-Organization-ID", organization)
	}
	if k.Inside {
		r.Header.Set("X-Daytona-Skip-Last-Activity-Update", "true")
	}
}

// certain reports whether the API says that the thing itself is not there. "Cannot GET
// /x" comes from its router, and "no Route matched" from a gateway before it, Kong: the
// url is wrong, and nothing is known of the thing. A 410
// says nothing else, and no router says it for a url that is wrong; only a page of somebody
// else is not believed.
func certain(a wire.Answer, s wire.APIError) bool {
	if a.Status == http.StatusGone {
		return wire.IsJSON(a.Header) || len(a.Body) == 0
	}
	return s.Field == "message" && (s.Status == 0 || s.Status == http.StatusNotFound) &&
		!strings.HasPrefix(s.Text, "Cannot ") && !strings.HasPrefix(s.Text, "no Route matched")
}
