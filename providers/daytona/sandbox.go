package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Get reads one sandbox by id. What was deleted after an error is gone too: it is hidden
// and costs nothing.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.frame.Get(ctx, id, p.look)
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	b, a, err := p.get(ctx, id)
	return p.sandbox(&b, a.Date), err
}

// get reads by id. The vendor also finds names.
func (p *Provider) get(ctx context.Context, id string) (box, wire.Answer, error) {
	var b box
	a, err := p.client.Get(ctx, wire.Call{What: "get", URL: p.client.At("sandbox", id)}, &b)
	switch {
	case err != nil:
		return b, a, err
	case b.ID == "":
		return b, a, errors.New("the answer is no sandbox: it has no id")
	case b.ID != id:
		return b, a, fmt.Errorf("%w: %s, which has that name", wire.ErrAnother, b.ID)
	}
	return b, a, nil
}

// Terminate deletes the sandbox, after it made sure that the id still is the sandbox
// expected and still ours. An error without a termination means that nobody knows whether
// it was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.frame.Terminate(ctx, expected, p.look, p.end)
}

func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	k := wire.Call{What: "delete", Method: http.MethodDelete, URL: p.client.At("sandbox", now.ID)}
	if now.State == reconcile.SandboxDeleting {
		return p.hurry(ctx, now.ID, k)
	}
	a, err := p.client.Change(ctx, k)
	return p.deleted(now.ID, a, err)
}

// hurry asks once for the end of a sandbox that is being deleted. "Busy" is no news of it.
func (p *Provider) hurry(ctx context.Context, id string, k wire.Call) (reconcile.Termination, error) {
	a, err := p.client.Once(ctx, k)
	if err == nil && a.Status == http.StatusConflict {
		return reconcile.TerminateAccepted, nil
	}
	return p.deleted(id, a, err)
}

// deleted says what the answer to a delete means.
func (p *Provider) deleted(id string, a wire.Answer, err error) (reconcile.Termination, error) {
	if err != nil {
		return "", err
	}
	var b box
	err = p.client.Decode(a, &b)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.Status == http.StatusConflict: // a transition is under way: nothing was done, and it may work later
		return "", wire.Held(err)
	case a.Status == http.StatusBadRequest:
		return reconcile.TerminateRefused, err
	case err != nil:
		return "", err
	case b.ID != id:
		return "", fmt.Errorf("the answer names sandbox %q", wire.Clip(b.ID, 80))
	case b.State == destroyed:
		return reconcile.TerminateDone, nil
	}
	return reconcile.TerminateAccepted, nil
}
