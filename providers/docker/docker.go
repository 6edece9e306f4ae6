// Package docker speaks to a Docker or Podman engine by the engine's own Go client: what
// runs there, and real commands inside of it. It knows the traps: an exec that answers 200
// although nothing started, a file look-up that the engine answers for a dead container, a
// look-up by id that also finds names.
//
// # Decisions
//
//   - 2026-11-21: the client of the moby project, behind the guard of ours. Only the listing,
//     which it reads in three times the time, and the start of an exec are calls of our own:
//     the client's attach dials past its transport, without TLS of ours, without a deadline and
//     without a bound, and its start throws the output away.
//   - 2026-11-21: the file probe writes, reads and removes a file inside the sandbox. The
//     engine's own file look-up reads the disk from outside and answers for a dead container.
//   - 2026-11-21: created is coming up, also after a start that failed: a listing does not
//     tell the two apart, and a verdict that a listing and a look make differently would be
//     withdrawn for ever.
//   - 2026-11-21: a full disk speaks against a sandbox only where the disk is its own. That of
//     the host is full for all.
//   - 2026-11-22: what an earlier process left running in a container is found by the engine's own
//     list of executions. It is told from other work by its name, and from what another process
//     asks at this very moment by the time in its last word.
//   - 2026-11-22: what failed a probe is looked at again: a container that somebody paused or
//     ended meanwhile did not fail.
package docker

import (
	"cmp"
	_ "embed" // the guide
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// DefaultURL is where an engine listens on its own machine.
const DefaultURL = "unix:///var/run/docker.sock"

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	entry.Address("url", DefaultURL, DefaultURL+" or tcp://host:2376", "unix", "tcp", "http", "https"),
	entry.Token(""),
	{Name: "certificates", Doc: "A folder with ca.pem, cert.pem and key.pem, which makes tcp encrypted."},
	entry.StreamKey(),
}

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, OldestFirst: true,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed},
	EndsAtOnce: true, Refuses: true,
	Suspends: "pause: its memory, its disk and its processes are kept, and so is what they take",
	Exec:     true, Files: true, LeftoverExecs: 2, // one of each half
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateMissing},
	Looks:          "inspect and listing are the engine's memory, by its source; an exec asks the runtime",
	Deaths:         "the container's state, then the engine's last events: exit code, out of memory",
	Plants:         canaryLasts,
}

// A Provider is one engine. It is safe for concurrent use.
type Provider struct {
	entry   entry.Entry
	client  *wire.Client
	base    *wire.Base
	timeout time.Duration
	options []client.Opt                  // of the engine's own client, which is behind the guard of ours
	engine  atomic.Pointer[client.Client] // nil until the engine told which version it speaks
	hung    sync.Map                      // by sandbox and half of a probe: the execution that never came back
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do.
func (p *Provider) Capabilities() reconcile.Capabilities {
	can := reconcile.Capabilities{Named: p, Templates: p, Suspender: p, Logs: p, Usage: p, Checker: p, Deaths: p,
		Planter: p}
	if p.entry.Extra["stream"] == "on" {
		can.Streams = p
	}
	return can
}

// The largest answers that are read. A listing comes in one piece.
const (
	maxList = 32 << 20
	maxOne  = 8 << 20
)

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	at, err := wayTo(e)
	if err != nil {
		return nil, err
	}
	if o = o.WithDefaults(); o.Transport == nil {
		o.Transport = at.transport
	}
	headers := map[string]string{}
	if e.Token != "" {
		headers["Authorization"] = "Bearer " + e.Token
	}
	dress := func(r *http.Request, _ wire.Call) {
		for name, value := range headers {
			r.Header.Set(name, value)
		}
	}
	e.URL, e.Timeout = at.base, cmp.Or(e.Timeout, 10*time.Second)
	c, f, err := wire.Open(e, o, wire.Dialect{URL: at.base, APIError: said, Certain: certain, Authorize: dress})
	if err != nil {
		return nil, err
	}
	scheme, _, _ := strings.Cut(at.base, ":")
	guarded := &http.Client{CheckRedirect: client.CheckRedirect, Transport: c.Guard(o.Transport, maxOne)}
	p := &Provider{entry: e, client: c, base: f, timeout: e.Timeout, options: []client.Opt{client.WithHost(at.host),
		client.WithHTTPClient(guarded), client.WithScheme(scheme), client.WithUserAgent(o.Agent),
		client.WithHTTPHeaders(headers)}}
	if _, err := client.New(p.options...); err != nil {
		return nil, fmt.Errorf("url %s: %w", at.host, err)
	}
	return p, nil
}
