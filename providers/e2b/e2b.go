// Package e2b speaks to E2B and to those who speak its protocol: the control plane for what
// exists, the daemon in each sandbox (envd) for probes. It knows their traps: a proxy that
// wakes a paused sandbox at any call, two errors that look the same and mean the opposite, a
// time of the start that each resume winds anew.
//
// # Decisions
//
//   - 2026-11-21: a client of our own: there is none of the vendor's for Go, and what is
//     needed is six calls in JSON and one stream of frames.
//   - 2026-11-21: a probe gets the sandbox first, and again before a failure counts. A call
//     into a paused sandbox may wake it, and one that was paused a moment ago does not answer.
//   - 2026-11-21: listings ask for no states. A word that is new here is then listed too, as
//     unknown.
package e2b

import (
	_ "embed" // the guide
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

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

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, PageSize: pageSize, OldestFirst: true,
	States:     []reconcile.SandboxState{reconcile.SandboxRunning, reconcile.SandboxSuspended},
	Lags:       "leaves out what is being snapshotted or forked at that moment",
	EndsAtOnce: true, Busy: true,
	Suspends: "pause: its memory, its processes and its disk are kept",
	Exec:     true, Files: true, DataPlane: true,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateBuilding,
		reconcile.TemplateFailed, reconcile.TemplateMissing},
}

// A Provider is one E2B team, seen with one key. It is safe for concurrent use.
type Provider struct {
	entry  entry.Entry
	client *wire.Client
	frame  *wire.Frame
	domain string // of the sandboxes' addresses; "" when nothing says it
	inside string // the address of all sandboxes; "" when each has its own
}

var (
	_ reconcile.Provider  = (*Provider)(nil)
	_ reconcile.Templates = (*Provider)(nil)
	_ reconcile.Logs      = (*Provider)(nil)
	_ reconcile.Usage     = (*Provider)(nil)
	_ reconcile.Checker   = (*Provider)(nil)
	_ reconcile.Suspender = (*Provider)(nil)
)

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	switch {
	case e.Token == "":
		return nil, errors.New("e2b needs a token: create an API key in the team's settings")
	case e.Owns.NamePrefix != "" || e.Link.Sandbox == "name":
		return nil, errors.New("sandboxes of e2b have no names: prove by labels, which are their metadata, and link by id")
	}
	p := &Provider{entry: e, inside: strings.TrimRight(e.Extra["sandbox_url"], "/"), domain: e.Extra["domain"]}
	if err := p.address(); err != nil {
		return nil, err
	}
	c, err := wire.New(p.entry, o, wire.Dialect{
		URL: "https://api." + DefaultDomain, Hint: "is the url right?", Certain: certain,
		Dress: func(r *http.Request, k wire.Call) { dress(r, k, e) },
		Wait:  wire.Resets("RateLimit-Reset"),
	})
	if err != nil {
		return nil, err
	}
	p.client, p.frame = c, &wire.Frame{Entry: p.entry, Now: c.Now, Redact: c.Redact}
	return p, nil
}

// address settles where the API and the sandboxes are, of which each may tell the others.
func (p *Provider) address() error {
	u, err := url.Parse(p.inside)
	if err != nil || p.inside != "" && (u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil) {
		return errors.New("sandbox_url must look like https://sandbox." + DefaultDomain)
	}
	if strings.Trim(strings.ToLower(p.domain), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		return fmt.Errorf("domain must look like %s, without a scheme and without a port", DefaultDomain)
	}
	if p.entry.URL == "" {
		domain := p.domain
		if domain == "" {
			domain = DefaultDomain
		}
		p.entry.URL = "https://api." + domain
	}
	if u, err := url.Parse(p.entry.URL); err == nil && p.domain == "" {
		p.domain, _ = strings.CutPrefix(u.Hostname(), "api.")
		if p.domain == u.Hostname() { // it says nothing of the sandboxes
			p.domain = ""
		}
	}
	return nil
}

// own reports whether the vendor itself is asked, and not somebody with its protocol.
func (p *Provider) own() bool { return slices.Contains(vendors, p.domain) }

// dress keeps the key from the sandboxes: what runs in there is not ours.
func dress(r *http.Request, k wire.Call, e entry.Entry) {
	if !k.Inside {
		r.Header.Set("X-API-Key", e.Token)
	}
}

// certain reports whether the API says that the thing itself is not there: it names its kind
// and says what became of it. What a router says of an address that it does not know has the
// same form, and so have the errors of other servers.
func certain(a wire.Answer, s wire.Said) bool {
	words := strings.ToLower(s.Text)
	if s.Field != "message" || s.Status != 0 && s.Status != a.Status || contains(words, "/sandboxes", "/templates") {
		return false
	}
	return contains(words, "sandbox", "template", "alias", "tag") &&
		contains(words, "exist", "not found", "no longer available", "was killed")
}

func contains(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}
