package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Terminate kills and removes the container with its unnamed volumes, after it made sure
// that the id still is the sandbox expected and still ours. An error without a termination
// means that nobody knows whether it was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Terminate(ctx, expected, wire.Look(p.look).Or(expected), p.end)
}

func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	_, a, err := ask(ctx, thing{p, now.ID}, (*client.Client).ContainerRemove,
		client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case err == nil && a.Status == http.StatusNoContent:
		return reconcile.TerminateDone, nil
	case err == nil:
		return "", fmt.Errorf("%w: %d instead of 204", wire.ErrNotAPI, a.Status)
	case a.Status == http.StatusConflict && says(err.Error(), "already in progress"):
		return reconcile.TerminateAccepted, nil
	case a.Status == http.StatusConflict, a.Status == http.StatusBadRequest && !outdated(err):
		return reconcile.TerminateRefused, err
	}
	return "", err
}

// Suspend pauses the container: nothing in it runs, and everything is kept, its memory too.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Suspend(ctx, expected, p.turns())
}

// Resume lets it go on where it was. One that somebody stopped meanwhile is started.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	return p.base.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	return wire.Turns{
		Look: p.look,
		Stop: func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			_, a, err := ask(ctx, thing{p, now.ID}, (*client.Client).ContainerPause, client.ContainerPauseOptions{})
			if err != nil { // a conflict: it ended, or was paused, since the look
				return wire.Unchanged(a, err)
			}
			return reconcile.TerminateDone, nil
		},
		Start: func(ctx context.Context, now reconcile.Sandbox) (err error) {
			var a wire.Answer
			if now.Raw == paused {
				_, a, err = ask(ctx, thing{p, now.ID}, (*client.Client).ContainerUnpause, client.ContainerUnpauseOptions{})
			} else {
				_, a, err = ask(ctx, thing{p, now.ID}, (*client.Client).ContainerStart, client.ContainerStartOptions{})
			}
			return wire.Unstarted(a, err)
		},
		Resting: func(now reconcile.Sandbox) reconcile.Termination {
			if now.Raw == "stopping" {
				return reconcile.TerminateAccepted
			}
			return reconcile.TerminateDone
		},
	}
}
