package simtest

import (
	"context"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// providerCalls are a process's calls of a provider.
type providerCalls struct {
	*seat
	name string
	p    *simulated.Provider
}

var _ reconcile.Provider = providerCalls{}

// Capabilities are all but the test of a credential.
func (c providerCalls) Capabilities() reconcile.Capabilities {
	can := reconcile.CapabilitiesOf(c.p)
	out := reconcile.Capabilities{Named: c, Templates: c, Suspender: c, Logs: c, Usage: c, Executions: c, Quotas: c,
		NamesLast: can.NamesLast, IndexLag: can.IndexLag, TwoStores: can.TwoStores}
	if c.e.place.Records(c.name) {
		out.Deaths = c
	}
	return out
}

func (c providerCalls) of(name, id string, args any) query {
	return query{party: c.name, name: name, id: id, args: args}
}

func (c providerCalls) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return ask(ctx, c.seat, c.of("List", "", nil), func() (reconcile.Listing, error) { return c.p.List(ctx, yield) })
}

func (c providerCalls) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return ask(ctx, c.seat, c.of("Get", id, nil), func() (reconcile.Sandbox, error) { return c.p.Get(ctx, id) })
}

func (c providerCalls) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	return ask(ctx, c.seat, c.of("Find", task, nil), func() ([]reconcile.Sandbox, error) { return c.p.Find(ctx, task) })
}

func (c providerCalls) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	return ask(ctx, c.seat, c.of("Named", value, nil), func() ([]reconcile.Sandbox, error) {
		return c.p.Named(ctx, value)
	})
}

func (c providerCalls) Terminate(ctx context.Context, s reconcile.Sandbox) (reconcile.Termination, error) {
	return ask(ctx, c.seat, c.of("Terminate", s.ID, s), func() (reconcile.Termination, error) {
		return c.p.Terminate(ctx, s)
	})
}

func (c providerCalls) Suspend(ctx context.Context, s reconcile.Sandbox) (reconcile.Termination, error) {
	return ask(ctx, c.seat, c.of("Suspend", s.ID, s), func() (reconcile.Termination, error) { return c.p.Suspend(ctx, s) })
}

func (c providerCalls) Resume(ctx context.Context, s reconcile.Sandbox) error {
	return done(ctx, c.seat, c.of("Resume", s.ID, s), func() error { return c.p.Resume(ctx, s) })
}

func (c providerCalls) Template(ctx context.Context, name string) (reconcile.Template, error) {
	return ask(ctx, c.seat, c.of("Template", name, nil), func() (reconcile.Template, error) {
		return c.p.Template(ctx, name)
	})
}

func (c providerCalls) Activate(ctx context.Context, name string) error {
	return done(ctx, c.seat, c.of("Activate", name, nil), func() error { return c.p.Activate(ctx, name) })
}

func (c providerCalls) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	return ask(ctx, c.seat, c.of("Logs", s.ID, s), func() (string, error) { return c.p.Logs(ctx, s, limit) })
}

func (c providerCalls) Executions(ctx context.Context, s reconcile.Sandbox) (reconcile.ExecutionsSeen, error) {
	return ask(ctx, c.seat, c.of("Executions", s.ID, s), func() (reconcile.ExecutionsSeen, error) {
		return c.p.Executions(ctx, s)
	})
}

func (c providerCalls) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	return ask(ctx, c.seat, c.of("Usage", s.ID, s), func() (reconcile.Resources, error) { return c.p.Usage(ctx, s) })
}

func (c providerCalls) Death(ctx context.Context, id string) (reconcile.Death, error) {
	return ask(ctx, c.seat, c.of("Death", id, nil), func() (reconcile.Death, error) { return c.p.Death(ctx, id) })
}

func (c providerCalls) Quotas(ctx context.Context) ([]reconcile.Quota, error) {
	return ask(ctx, c.seat, c.of("Quotas", "", nil), func() ([]reconcile.Quota, error) { return c.p.Quotas(ctx) })
}

func (c providerCalls) Probe(ctx context.Context, s reconcile.Sandbox, p reconcile.ProbePolicy) reconcile.ProbeResult {
	out, err := ask(ctx, c.seat, c.of("Probe", s.ID, s), func() (reconcile.ProbeResult, error) {
		result := c.p.Probe(ctx, s, p)
		if result.Outcome == reconcile.Answered && (p.Exec == history.WorkerCommand || p.Exec == history.WrongCommand) {
			exit := c.e.place.WorkerExit(s.Ref, p.Exec)
			result.Exit = &exit
		}
		return result, nil
	})
	if err != nil {
		return reconcile.ProbeResult{Ref: s.Ref, Outcome: reconcile.Infrastructure, Detail: err.Error()}
	}
	return out
}
