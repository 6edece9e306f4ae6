package docker

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// canaryLasts is after how long a canary ends, and is removed by the engine, whatever becomes of sandkeeper.
const canaryLasts = 24 * time.Hour

// canaryMemory is how many bytes of memory a canary may have: the least that an engine takes is 6 MiB.
const canaryMemory = 64 << 20

// Plant makes and starts a container that no task explains: it sleeps, without a network, and nothing is pulled for it.
// Both calls are made once: who got no answer looks for it by its name. One that does not start is removed, else told
// by its id beside the error.
func (p *Provider) Plant(ctx context.Context, template, name string) (string, error) {
	var made client.ContainerCreateResult
	_, err := p.call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		made, err = c.ContainerCreate(ctx, client.ContainerCreateOptions{Name: name, Config: &container.Config{
			Image: template, Labels: p.entry.CanaryLabels(name), Entrypoint: []string{"sleep"},
			Cmd: []string{strconv.Itoa(int(canaryLasts.Seconds()))},
		}, HostConfig: &container.HostConfig{AutoRemove: true, NetworkMode: "none",
			Resources: container.Resources{Memory: canaryMemory}}})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("plant canary %s: %w", name, err)
	}
	if err := checkID(made.ID); err != nil {
		return "", fmt.Errorf("plant canary %s: the answer names no container: %w", name, err)
	}
	_, _, err = ask(ctx, thing{p, made.ID}, (*client.Client).ContainerStart, client.ContainerStartOptions{})
	if err == nil {
		return made.ID, nil
	}
	if end, undone := p.end(ctx, reconcile.Sandbox{Ref: reconcile.Ref{ID: made.ID}}); undone == nil &&
		(end == reconcile.TerminateDone || end == reconcile.TerminateGone) {
		made.ID = ""
	}
	return made.ID, fmt.Errorf("start canary %s: %w", name, err)
}
