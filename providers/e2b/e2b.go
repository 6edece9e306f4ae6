// Package e2b speaks to E2B and to those who speak its protocol: the control plane for what
// exists, the daemon in each sandbox (envd) for probes. It knows their traps: a proxy that
// wakes a paused sandbox at any call, two errors that look the same and mean the opposite, a
// time of the start that each resume winds again.
//
// # Decisions
//
//   - 2026-11-21: a client of our own: there is none of the vendor's for Go, and what is
//     needed is six calls in JSON and one stream of frames.
//   - 2026-11-21: a probe gets the sandbox first, and again before a failure counts. A call
//     into a paused sandbox may wake it, and one that was paused a moment ago does not answer.
//   - 2026-11-21: listings ask for no states. A word that is new here is then listed too, as
//     unknown.
//   - 2026-11-22: a key of another team is told of each of our sandboxes that it does not exist,
//     and may see others with our labels. That defeats the second look as well, so whose key
//     it is is asked with each listing, and before anything is taken for gone.
//   - 2026-11-25: a kill that was answered with 500 and a sandbox that is not found since are no end: the vendor
//     takes the record away although the node did not carry the kill out. What each process asked for itself is
//     remembered, for as long as the node may take to notice.
package e2b

import (
	"cmp"
	_ "embed" // the guide
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// DefaultDomain is the domain of the vendor's cloud.
const DefaultDomain = "e2b.app"

// vendors are the vendor's own domains, where one address serves all sandboxes.
var vendors = []string{DefaultDomain, "e2b.dev", "e2b.pro", "e2b-staging.dev"}

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	entry.URL(""), // follows domain
	entry.Token("an API key, made in the team's settings"),
	{Name: "team", Doc: "The id of the key's team: no listing is believed unless the key is of it."},
	{Name: "domain", Default: DefaultDomain,
		Doc: "Where the API and the sandboxes are, as api.DOMAIN and sandbox.DOMAIN."},
	{Name: "sandbox_url", Doc: "One address that leads to all sandboxes."},
	entry.PushSecret(),
}

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, Sizes: true, PageSize: pageSize, OldestFirst: true,
	States:     []reconcile.SandboxState{reconcile.SandboxRunning, reconcile.SandboxSuspended},
	Lags:       "leaves out what is being snapshotted or forked at that moment",
	EndsAtOnce: true, Busy: true,
	Suspends: "pause: its memory, its processes and its disk are kept",
	Exec:     true, Files: true, DataPlane: true,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateBuilding,
		reconcile.TemplateFailed, reconcile.TemplateMissing}, TemplateHidden: true, Plants: canaryLasts,
	Looks:  "get and listing are one store (Redis), by the source of infra; the sandbox's envd is another",
	Deaths: "lifecycle events: why; nothing of a crash, nor of what was paused",
}

// A Provider is one E2B team, seen with one key. It is safe for concurrent use.
type Provider struct {
	entry  entry.Entry
	client *wire.Client
	base   *wire.Base
	domain string      // of the sandboxes' addresses; "" when nothing says it
	inside string      // the address of all sandboxes; "" when each has its own
	unsure sync.Map    // id → when its kill was answered so that nobody knows whether it was carried out
	proven atomic.Bool // the key was of the entry's team when that was last answered
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do.
func (p *Provider) Capabilities() reconcile.Capabilities {
	return reconcile.Capabilities{Named: p, Templates: p, Suspender: p, Logs: p, Usage: p, Checker: p,
		Deaths: p, Planter: p, Unsure: p}
}

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	if err := Keys.Refuse(e); err != nil {
		return nil, err
	}
	if e.Owns.NamePrefix != "" || e.Owns.Except.NamePrefix != "" || e.Link.Sandbox == "name" {
		return nil, errors.New("sandboxes of e2b have no names: prove by labels, which are their metadata, and link by id")
	}
	p := &Provider{entry: e, inside: strings.TrimRight(e.Extra["sandbox_url"], "/"), domain: e.Extra["domain"]}
	err := p.address()
	if err != nil {
		return nil, err
	}
	p.client, p.base, err = wire.Open(p.entry, o, wire.Dialect{
		URL: "https://api." + DefaultDomain, Hint: "is the url right?", Certain: certain, Named: p.named(), Hosts: vendorHosts(),
		Authorize: func(r *http.Request, k wire.Call) {
			if !k.Inside { // what runs in a sandbox is not ours, and never told the key
				r.Header.Set("X-API-Key", e.Token)
			}
		},
		Wait: wire.Resets("RateLimit-Reset"),
	})
	return p, err
}

// vendorHosts are all hosts of the vendor's domains.
func vendorHosts() (out []string) {
	for _, domain := range vendors {
		out = append(out, "*."+domain)
	}
	return out
}

// named are the hosts that the entry names besides that of url.
func (p *Provider) named() (out []string) {
	if p.inside != "" {
		out = append(out, wire.HostOf(p.inside))
	}
	if p.domain != "" && !slices.Contains(vendors, p.domain) {
		out = append(out, "*."+p.domain)
	}
	return out
}

// address settles where the API and the sandboxes are, of which each may tell the others.
func (p *Provider) address() error {
	if p.inside != "" {
		if _, err := wire.Address("sandbox_url", p.inside, "https://sandbox."+DefaultDomain); err != nil {
			return err
		}
	}
	if strings.Trim(strings.ToLower(p.domain), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		return fmt.Errorf("domain must look like %s, without a scheme and without a port", DefaultDomain)
	}
	p.entry.URL = cmp.Or(p.entry.URL, "https://api."+cmp.Or(p.domain, DefaultDomain))
	if u, err := url.Parse(p.entry.URL); err == nil && p.domain == "" {
		if domain, told := strings.CutPrefix(u.Hostname(), "api."); told {
			p.domain = domain
		}
	}
	return nil
}

// certain reports whether the API says that the thing itself is not there: it names its kind
// and says what became of it. What a router says of an address that it does not know has the
// same form, and so have the errors of other servers.
func certain(a wire.Answer, s wire.APIError) bool {
	words := strings.ToLower(s.Text)
	return s.Field == "message" && (s.Status == 0 || s.Status == a.Status) &&
		!contains(words, "/sandboxes", "/templates") && contains(words, "sandbox", "template", "alias", "tag") &&
		contains(words, "exist", "not found", "no longer available", "was killed")
}

func contains(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}
