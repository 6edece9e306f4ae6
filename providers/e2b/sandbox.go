package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Get reads one sandbox by id. One that is being killed is not found any more.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.frame.Get(ctx, id, p.look)
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	b, a, err := p.get(ctx, id)
	return p.sandbox(&b, a.Date), err
}

// get reads by id. The vendor also takes the longer ids of former clients, which rows may
// still hold, and answers with the short one: that is no news of the id that was asked for,
// least of all that it is gone.
func (p *Provider) get(ctx context.Context, id string) (box, wire.Answer, error) {
	var b box
	a, err := p.client.Get(ctx, wire.Call{What: "get", URL: p.client.At("sandboxes", id)}, &b)
	switch {
	case err != nil:
		return b, a, err
	case b.ID == "":
		return b, a, errors.New("the answer is no sandbox: it has no sandboxID")
	case b.ID != id:
		return b, a, fmt.Errorf("the answer names sandbox %s: do rows hold the long ids of former clients?",
			wire.Clip(b.ID, 80))
	}
	return b, a, nil
}

// Terminate kills the sandbox, and deletes what is kept of a paused one, after it made sure
// that it still is ours. An error without a termination means that nobody knows whether it
// was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.frame.Terminate(ctx, expected, p.look, p.end)
}

func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	a, err := p.client.Change(ctx, wire.Call{What: "kill", Method: http.MethodDelete,
		URL: p.client.At("sandboxes", now.ID)})
	return p.turned(a, err)
}

// turned says what the answer to a kill or a pause means. The vendor answers 204, when it is
// done; who answers something else may only have begun.
func (p *Provider) turned(a wire.Answer, err error) (reconcile.Termination, error) {
	if err == nil && a.Status == http.StatusNoContent {
		return reconcile.TerminateDone, nil
	}
	if err == nil {
		err = p.client.Readable(a)
	}
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.Status == http.StatusConflict: // a transition is under way: nothing was done, and it may work later
		return "", wire.Held(err)
	case err != nil:
		return "", err
	}
	return reconcile.TerminateAccepted, nil
}
