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
package generic

import (
	_ "embed" // the guide
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Abilities are what a platform can that is described in full.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, PageSize: 100,
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
	frame  *wire.Frame
}

var (
	_ reconcile.Provider  = (*Provider)(nil)
	_ reconcile.Suspender = (*Provider)(nil)
	_ reconcile.Logs      = (*Provider)(nil)
	_ reconcile.Checker   = (*Provider)(nil)
)

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	if e.API == nil {
		return nil, errors.New("generic needs api: the description of the platform's API, see docs/generic.md")
	}
	s, mistakes := compile(e.API)
	if len(mistakes) > 0 {
		return nil, fmt.Errorf("api.%s %s; %s", mistakes[0].Key, mistakes[0].Problem, mistakes[0].Fix)
	}
	headers, secrets := credentials(e)
	for _, of := range s.headers {
		secrets = append(secrets, secretsIn(of)...)
	}
	p := &Provider{entry: e, spec: s}
	c, err := wire.New(e, o, wire.Dialect{
		URL: "https://sandboxes.example.com/v1", Hint: "is the url right?", Secrets: secrets,
		Dress: func(r *http.Request, k wire.Call) {
			for _, h := range [...]map[string]string{headers, s.headers[k.What]} {
				for name, value := range h {
					r.Header.Set(name, value)
				}
			}
		},
		Said: s.words, Certain: func(a wire.Answer, _ wire.Said) bool { return s.gone(s.read(a)) },
		Wait: wire.Resets(e.API.Resets...),
	})
	if err != nil {
		return nil, err
	}
	p.client, p.frame = c, &wire.Frame{Entry: e, Now: c.Now, Redact: c.Redact}
	return p, nil
}

// credentials are the headers of every call, and what in them is secret: all that the
// config holds beside the usual words, because it may come from a variable.
func credentials(e entry.Entry) (headers map[string]string, secrets []string) {
	coded := base64.StdEncoding.EncodeToString([]byte(e.Token))
	headers = map[string]string{}
	if e.API.Headers == nil && e.Token != "" {
		headers["Authorization"] = "Bearer " + e.Token
	}
	for name, value := range e.API.Headers {
		headers[name] = formula.Fill(value, map[string]string{"token": e.Token, "token_base64": coded})
	}
	return headers, secretsIn(e.API.Headers)
}

// secretsIn are the values of headers that may hold a secret, because a variable may.
func secretsIn(headers map[string]string) (secrets []string) {
	for name, value := range headers {
		if !slices.Contains(harmless, http.CanonicalHeaderKey(name)) && !strings.Contains(value, "{token") {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

var harmless = []string{"Accept", "Content-Type", "User-Agent"}

// Can is what a platform that is described so can, as far as a description tells.
func Can(api *entry.API) wire.Abilities {
	can := wire.Abilities{
		Labels: api.Sandbox.Labels != "", Template: api.Sandbox.Template != "", ReadOnly: api.Delete.Path == "",
		Refuses: api.Delete.Path != "", Busy: api.Delete.Path != "", StopMayDelete: api.Stop.Deletes != "",
		Exec: api.Exec.Path != "", Files: api.Files.Path != "",
		DataPlane: api.Exec.Broken+api.Files.Broken != "", NoLogs: api.Logs.Path == "",
	}
	if api.List.Paging != "" && api.List.Paging != "none" {
		can.PageSize = api.List.Size
	}
	if api.Stop.Path != "" {
		can.Suspends = Abilities.Suspends
	}
	for _, state := range Abilities.States {
		for _, word := range api.States {
			if word == string(state) && !slices.Contains(can.States, state) {
				can.States = append(can.States, state)
			}
		}
	}
	can.StaysOnRecord = slices.Contains(values(api.States), string(reconcile.SandboxEnded))
	return can
}
