package daytona

import (
	"context"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Get reads one sandbox by id. What was deleted after an error is gone too: it is hidden
// and costs nothing.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, p.look)
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	b, a, err := p.get(ctx, id)
	return p.sandbox(&b, a.Date), err
}

// get reads by id.
func (p *Provider) get(ctx context.Context, id string) (box, wire.Answer, error) {
	b, a, err := p.read(ctx, id)
	if err == nil {
		err = wire.Found(id, p.sandbox(&b, a.Date))
	}
	return b, a, err
}

// read reads by id or by name: the vendor finds both.
func (p *Provider) read(ctx context.Context, which string) (b box, a wire.Answer, err error) {
	a, err = p.client.Get(ctx, wire.Call{What: "get", URL: p.client.At("sandbox", which)}, &b)
	return b, a, err
}

// Terminate deletes the sandbox, after it made sure that the id still is the sandbox
// expected and still ours. An error without a termination means that nobody knows whether
// it was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Terminate(ctx, expected, wire.Look(p.look).Or(expected), p.end)
}

// end asks for the delete. Of one that is being deleted already it asks once, and "busy" is no
// news of it.
func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	var b box
	ask, again := p.client.Alter, now.State == reconcile.SandboxDeleting
	if again {
		ask = p.client.Ask
	}
	a, err := ask(ctx, wire.Call{What: "delete", Method: http.MethodDelete, URL: p.client.At("sandbox", now.ID)}, &b)
	switch {
	case again && a.Status == http.StatusConflict:
		return reconcile.TerminateAccepted, nil
	case err != nil:
		return wire.Unchanged(a, err, http.StatusBadRequest)
	case b.ID != now.ID:
		return "", fmt.Errorf("the answer names sandbox %q", text.Clip(b.ID, 80))
	case b.State == destroyed:
		return reconcile.TerminateDone, nil
	}
	return reconcile.TerminateAccepted, nil
}
