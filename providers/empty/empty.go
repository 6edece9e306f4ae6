// Package empty is kind simulated as a config has it: a provider without a sandbox, for trying
// things out. It answers as a [simulated.World] into which nobody ever put anything, so that
// the program needs no simulator.
//
// [simulated.World]: https://pkg.go.dev/github.com/sandkeeper/sandkeeper/providers/simulated#World
package empty

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Provider has nothing.
type Provider struct {
	name string
	now  func() time.Time
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do: all that there is.
func (p *Provider) Capabilities() reconcile.Capabilities {
	return reconcile.Capabilities{Named: p, Templates: p, Suspender: p, Logs: p, Usage: p,
		Executions: p, Quotas: p, Checker: p, Deaths: p, StopMayDelete: true}
}

// Death is none: nothing was ever there.
func (p *Provider) Death(_ context.Context, id string) (reconcile.Death, error) {
	return reconcile.Death{}, fmt.Errorf("read the end of sandbox %s: %w", id, reconcile.ErrNotFound)
}

// New makes the provider of an entry.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	return &Provider{name: e.Name, now: o.WithDefaults().Now}, nil
}

// List shows one page, without a sandbox.
func (p *Provider) List(_ context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	out := reconcile.Listing{Provider: p.name, Date: p.now()}
	if err := yield(nil); err != nil {
		return out, fmt.Errorf("list sandboxes of %s: %w", p.name, err)
	}
	out.Complete = true
	return out, nil
}

func (p *Provider) gone(verb, id string) error {
	return fmt.Errorf("%s %s of %s: %w", verb, id, p.name, reconcile.ErrNotFound)
}

// Get finds nothing.
func (p *Provider) Get(_ context.Context, id string) (reconcile.Sandbox, error) {
	return reconcile.Sandbox{}, p.gone("get sandbox", id)
}

// Find finds nothing.
func (*Provider) Find(context.Context, string) ([]reconcile.Sandbox, error) { return nil, nil }

// Named finds nothing.
func (*Provider) Named(context.Context, string) ([]reconcile.Sandbox, error) { return nil, nil }

// Terminate has nothing to end.
func (*Provider) Terminate(context.Context, reconcile.Sandbox) (reconcile.Termination, error) {
	return reconcile.TerminateGone, nil
}

// Suspend has nothing to stop.
func (*Provider) Suspend(context.Context, reconcile.Sandbox) (reconcile.Termination, error) {
	return reconcile.TerminateGone, nil
}

// Resume has nothing to start.
func (p *Provider) Resume(_ context.Context, s reconcile.Sandbox) error {
	return p.gone("start sandbox", s.ID)
}

// Probe says nothing of what is not there.
func (p *Provider) Probe(_ context.Context, s reconcile.Sandbox, _ reconcile.ProbePolicy) reconcile.ProbeResult {
	return reconcile.ProbeResult{Ref: s.Ref, At: p.now(), Outcome: reconcile.Infrastructure, Detail: "unknown"}
}

// Template is always missing.
func (p *Provider) Template(_ context.Context, name string) (reconcile.Template, error) {
	return reconcile.Template{Name: name, Raw: "missing", State: reconcile.TemplateMissing, AsOf: p.now()}, nil
}

// Activate finds no template.
func (p *Provider) Activate(_ context.Context, name string) error {
	return p.gone("activate template", name)
}

// Logs has none.
func (p *Provider) Logs(_ context.Context, s reconcile.Sandbox, _ int) (string, error) {
	return "", p.gone("read logs of sandbox", s.ID)
}

// Usage has none.
func (p *Provider) Usage(_ context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	return reconcile.Resources{}, p.gone("measure sandbox", s.ID)
}

// Executions has none.
func (p *Provider) Executions(_ context.Context, s reconcile.Sandbox) (reconcile.ExecutionsSeen, error) {
	return reconcile.ExecutionsSeen{}, p.gone("read executions of sandbox", s.ID)
}

// Quotas are an unused account's.
func (*Provider) Quotas(context.Context) ([]reconcile.Quota, error) {
	return []reconcile.Quota{{Name: "cpu", Limit: 1000}, {Name: "memory", Limit: 1000}, {Name: "disk", Limit: 1000}}, nil
}

// Check has nothing to check.
func (*Provider) Check(context.Context) []reconcile.CheckResult {
	return []reconcile.CheckResult{{What: "credential", OK: true, Said: "a simulated world needs none"}}
}
