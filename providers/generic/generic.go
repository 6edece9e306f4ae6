// Package generic speaks to any platform with an HTTP API that an operator describes in the
// config: addresses with placeholders, and expressions that read the answers. It needs no
// code for a service of the house, or for a vendor that has no adapter yet.
//
// # Decisions
//
//   - 2026-11-21: what is not described cannot be done, and is refused as such: no delete
//     means read only, no exec means no probe.
//   - 2026-11-21: a description says what an answer means, and never against the guards: no
//     401, 403, 429 or 5xx means gone, done or refused, and nothing that is no JSON does.
//   - 2026-11-21: where pages are asked for by number or offset, each is tied to the one
//     before, because what goes meanwhile moves the rest over the seam. What cannot be tied
//     proves nothing.
//   - 2026-11-22: the credential and the headers of every call go to the host of url alone. A
//     sandbox's own address is chosen by whoever may make one, so that the description has to
//     ask for it there, in the headers of the call itself.
package generic

import (
	_ "embed" // the guide
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	{Name: "url", Schemes: []string{"https", "http"}, Like: "https://host/path", Credential: "token", Required: "give url"},
	entry.Token(""),
	{Name: "api"}, // a section: see entry.API
}

// Abilities are what a platform can that is described in full.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, Sizes: true, PageSize: 100, NameMayBeID: true,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed},
	Lags:    "what the platform lacks or shows late",
	Refuses: true, Busy: true,
	Suspends: "stop and resume, as described", StopMayDelete: true,
	Exec: true, Files: true, DataPlane: true,
}

// A Provider is one platform, seen with one credential. It is safe for concurrent use.
type Provider struct {
	entry  entry.Entry
	spec   *spec
	client *wire.Client
	base   *wire.Base
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what a call is described for.
func (p *Provider) Capabilities() reconcile.Capabilities {
	can := reconcile.Capabilities{Named: p, Checker: p}
	if p.describes("stop") && p.describes("resume") {
		can.Suspender, can.StopMayDelete = p, p.spec.deletes != nil
	}
	if p.describes("logs") {
		can.Logs = p
	}
	can.NoTerminate = !p.describes("delete")
	can.NoProbe = !p.describes("exec") && !p.describes("files")
	return can
}

func (p *Provider) describes(call string) bool { return p.spec.calls[call] != nil }

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	if e.API == nil {
		return nil, errors.New("generic needs api: the description of the platform's API, see docs/generic.md")
	}
	s, mistakes := compile(e.API)
	if len(mistakes) > 0 {
		return nil, fmt.Errorf("%s %s; %s", mistakes[0].Key, mistakes[0].Problem, mistakes[0].Fix)
	}
	p := &Provider{entry: e, spec: s}
	token := strings.NewReplacer("{token}", e.Token, "{token_base64}", base64.StdEncoding.EncodeToString([]byte(e.Token)))
	if e.API.Headers == nil && e.Token != "" {
		s.common = map[string]string{"Authorization": "Bearer {token}"}
	}
	var err error
	p.client, p.base, err = wire.Open(e, o, wire.Dialect{
		URL: "https://sandboxes.example.com/v1", Hint: "is the url right?", Secrets: s.secrets, Named: s.hosts(),
		Authorize: func(r *http.Request, k wire.Call) {
			var common map[string]string
			if p.client.Home(r.URL) { // what answers elsewhere may be the sandbox, or whoever made it
				common = s.common
			}
			for _, headers := range [...]map[string]string{common, s.headers[k.What]} {
				for name, value := range headers {
					r.Header.Set(name, token.Replace(value))
				}
			}
		},
		APIError: s.words, Certain: func(a wire.Answer, _ wire.APIError) bool { return s.gone(s.read(a)) },
		Wait: wire.Resets(e.API.Resets...),
	})
	return p, err
}
