// Package docker speaks to a Docker or Podman engine by the engine's own Go client: what
// runs there, and real commands inside of it. It knows the traps: an exec that answers 200
// although nothing started, a file look-up that the engine answers for a dead container, a
// look-up by id that also finds names.
//
// # Decisions
//
//   - 2026-11-21: the client of the moby project, behind the guard of ours. Only the start of
//     an exec is a call of our own: the client's attach dials past its transport, without TLS
//     of ours, without a deadline and without a bound, and its start throws the output away.
//   - 2026-11-21: the file probe writes, reads and removes a file inside the sandbox. The
//     engine's own file look-up reads the disk from outside and answers for a dead container.
//   - 2026-11-21: created is coming up, also after a start that failed: a listing does not
//     tell the two apart, and a verdict that a listing and a look make differently would be
//     withdrawn for ever.
//   - 2026-11-21: a full disk speaks against a sandbox only where the disk is its own. That of
//     the host is full for all.
package docker

import (
	_ "embed" // the guide
	"sync"

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

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, OldestFirst: true,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed},
	EndsAtOnce: true, Refuses: true,
	Suspends: "pause: its memory, its disk and its processes are kept, and so is what they take",
	Exec:     true, Files: true,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateMissing},
}

// A Provider is one engine. It is safe for concurrent use.
type Provider struct {
	entry  entry.Entry
	client *wire.Client
	frame  *wire.Frame
	engine *engine
	hung   sync.Map // by sandbox and half of a probe: the execution that never came back
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
	engine, err := newEngine(e, o.WithDefaults())
	if err != nil {
		return nil, err
	}
	c := engine.guarded
	return &Provider{entry: e, client: c, engine: engine,
		frame: &wire.Frame{Entry: e, Now: c.Now, Redact: c.Redact}}, nil
}
