package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Suspend stops the sandbox: its processes end, its disk is kept and counts against the
// disk quota. An ephemeral one is refused, because the vendor deletes it when it stops. A
// sandbox with an auto-delete interval is deleted by the vendor that long after the stop.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	how, err := p.suspend(ctx, expected)
	if err != nil {
		return how, fmt.Errorf("stop sandbox %s of %s: %w", expected.ID, p.entry.Name, err)
	}
	return how, nil
}

func (p *Provider) suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	b, now, how, err := p.lookFirst(ctx, expected)
	if how != "" || err != nil {
		return how, err
	}
	switch now.State {
	case reconcile.SandboxEnded:
		return reconcile.TerminateGone, nil
	case reconcile.SandboxStopped, reconcile.SandboxSuspended:
		return stopped(b.State), nil
	case reconcile.SandboxCreating:
		return "", fmt.Errorf("%w: it is %s", reconcile.ErrHeld, now.Raw)
	case reconcile.SandboxRunning:
		return p.stop(ctx, &b)
	}
	return reconcile.TerminateRefused, fmt.Errorf("it is %s", first(now.Raw, "in no known state"))
}

// stopped tells what is stopped or paused from what is on the way there.
func stopped(state string) reconcile.Termination {
	switch state {
	case "stopped", "paused", "archived":
		return reconcile.TerminateDone
	}
	return reconcile.TerminateAccepted
}

func (p *Provider) stop(ctx context.Context, b *box) (reconcile.Termination, error) {
	if b.AutoDelete != nil && *b.AutoDelete == 0 {
		return reconcile.TerminateRefused, errors.New("it is ephemeral: a stop would delete it")
	}
	now, a, err := p.turn(ctx, b.ID, "stop")
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.status == http.StatusBadRequest:
		return reconcile.TerminateRefused, err
	case err != nil:
		return "", err
	}
	return stopped(now.State), nil
}

// turn asks for a change of state: stop or start. An error that wraps [reconcile.ErrHeld]
// means that a transition is under way and nothing was done.
func (p *Provider) turn(ctx context.Context, id, verb string) (box, answer, error) {
	url := p.client.at("sandbox", id, verb)
	if verb == "stop" {
		url += "?force=false"
	}
	var b box
	a, err := p.client.change(ctx, call{what: verb, method: http.MethodPost, url: url, max: maxOne})
	if err == nil {
		err = p.client.decode(a, &b)
	}
	switch {
	case err != nil && a.status == http.StatusConflict:
		return b, a, fmt.Errorf("%w: %w", reconcile.ErrHeld, err)
	case err == nil && b.ID != id:
		return b, a, fmt.Errorf("the answer names sandbox %q", clip(b.ID, 80))
	}
	return b, a, err
}

// Resume starts the sandbox again, from its disk. One that is being deleted is gone: it
// never comes back. One that runs or comes up is left as it is.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	if err := p.resume(ctx, expected); err != nil {
		return fmt.Errorf("start sandbox %s of %s: %w", expected.ID, p.entry.Name, err)
	}
	return nil
}

func (p *Provider) resume(ctx context.Context, expected reconcile.Sandbox) error {
	b, a, err := p.get(ctx, expected.ID)
	if err != nil {
		return err
	}
	now := p.sandbox(&b, a.date)
	if p.changed(expected, now) {
		return errors.New("it is not the one expected any more")
	}
	switch now.State {
	case reconcile.SandboxRunning, reconcile.SandboxCreating:
		return nil
	case reconcile.SandboxDeleting, reconcile.SandboxEnded:
		return fmt.Errorf("%w: it is %s", reconcile.ErrNotFound, now.Raw)
	case reconcile.SandboxStopped, reconcile.SandboxSuspended:
		_, _, err = p.turn(ctx, b.ID, "start")
		return err
	}
	return fmt.Errorf("it is %s", first(now.Raw, "in no known state"))
}
