package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Get reads one container by its full id.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.frame.Get(ctx, id, p.look)
}

// look reads by id. While a command of a container hangs, or its end does, the engine does
// not answer for that container; what it lists it still does.
func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	patience := p.engine.timeout / 2
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, a, err := p.inspect(within, id)
	if err == nil {
		return p.inspected(&c, a.Date), nil
	}
	if within.Err() == nil || ctx.Err() != nil {
		return reconcile.Sandbox{}, err
	}
	s, there := p.lookInList(ctx, id)
	if !there { // which is no proof that it is gone
		return reconcile.Sandbox{}, fmt.Errorf("%w within %s", errLate, patience)
	}
	return s, nil
}

// lookInList is what the engine lists of one container.
func (p *Provider) lookInList(ctx context.Context, id string) (reconcile.Sandbox, bool) {
	found, a, err := p.containers(ctx, map[string][]string{"id": {id}})
	if err != nil || len(found) != 1 || found[0].ID != id {
		return reconcile.Sandbox{}, false
	}
	return p.listed(&found[0], a.Date), true
}

// inspect reads by id. The engine also finds names, and ids that only begin so.
func (p *Provider) inspect(ctx context.Context, id string) (container.InspectResponse, wire.Answer, error) {
	var found client.ContainerInspectResult
	if err := checkID(id); err != nil {
		return found.Container, wire.Answer{}, err
	}
	a, err := p.engine.ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		found, err = c.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
		return err
	})
	switch {
	case err != nil:
	case found.Container.ID == "":
		err = errors.New("the answer is no container: it has no id")
	case found.Container.ID == id:
	case strings.TrimPrefix(found.Container.Name, "/") == id: // found by its name: no container has the id
		err = fmt.Errorf("%w: %s, which has that name", wire.ErrAnother, wire.Clip(found.Container.ID, fullID))
	default: // somebody before the engine mixed answers up, and nothing is known of the one asked for
		err = fmt.Errorf("the answer is another container: %s", wire.Clip(found.Container.ID, fullID))
	}
	return found.Container, a, err
}

// Terminate kills and removes the container with its unnamed volumes, after it made sure
// that the id still is the sandbox expected and still ours. An error without a termination
// means that nobody knows whether it was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.frame.Terminate(ctx, expected, p.look, p.end)
}

func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	a, err := p.engine.ask(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.ContainerRemove(ctx, now.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		return err
	})
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
