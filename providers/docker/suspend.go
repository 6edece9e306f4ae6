package docker

import (
	"context"
	"errors"
	"net/http"

	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Suspend pauses the container: nothing in it runs, and everything is kept, its memory too.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.frame.Suspend(ctx, expected, p.turns())
}

// Resume lets it go on where it was. One that somebody stopped meanwhile is started.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	return p.frame.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	return wire.Turns{
		Look: p.look,
		Stop: func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			return p.pause(ctx, now.ID)
		},
		Start: func(ctx context.Context, now reconcile.Sandbox) error {
			_, err := p.engine.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
				if now.Raw == paused {
					_, err = c.ContainerUnpause(ctx, now.ID, client.ContainerUnpauseOptions{})
				} else {
					_, err = c.ContainerStart(ctx, now.ID, client.ContainerStartOptions{})
				}
				return err
			})
			return err
		},
		Resting: func(now reconcile.Sandbox) reconcile.Termination {
			if now.Raw == "stopping" {
				return reconcile.TerminateAccepted
			}
			return reconcile.TerminateDone
		},
	}
}

func (p *Provider) pause(ctx context.Context, id string) (reconcile.Termination, error) {
	a, err := p.engine.ask(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		return err
	})
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.Status == http.StatusConflict: // it ended, or was paused, since the look
		return "", wire.Held(err)
	case err != nil:
		return "", err
	}
	return reconcile.TerminateDone, nil
}
