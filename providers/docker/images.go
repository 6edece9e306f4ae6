package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Template tells whether the engine has an image. Sandboxes that are made by its API cannot
// start from one that it has not; nothing is pulled here.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	t := reconcile.Template{Name: name, Raw: "missing", State: reconcile.TemplateMissing}
	err := checkImage(name)
	if err == nil {
		var a wire.Answer
		a, err = p.engine.ask(ctx, func(ctx context.Context, c *client.Client) error {
			found, err := c.ImageInspect(ctx, name)
			if err == nil && found.ID == "" {
				return errors.New("the answer is no image: it has no id")
			}
			t.ID = found.ID
			return err
		})
		t.AsOf = a.Date
	}
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return t, nil
	case err != nil:
		return reconcile.Template{}, fmt.Errorf("read image %s of %s: %w", name, p.entry.Name, err)
	}
	t.Raw, t.State = "present", reconcile.TemplateActive
	return t, nil
}

// checkImage refuses a name that would lead to another path.
func checkImage(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if err := wire.CheckID(part); err != nil {
			return err
		}
	}
	return nil
}

// Activate is not for images: one is there, or it is not.
func (p *Provider) Activate(context.Context, string) error {
	return wire.Unable("an image that is missing is pulled, or built, by whoever makes sandboxes from it")
}

var fixes = wire.Fixes{
	Refused: "let sandkeeper's user read and write the socket (the group docker, or the rootless engine's own user), " +
		"or set token: or certificates: to what the engine, or the proxy before it, accepts",
	URL: "set url: to the engine's address: " + DefaultURL + ", unix:///run/podman/podman.sock, or tcp://host:2376",
}

// Check tells which engine answers, and reads the listing.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	var said string
	_, err := p.engine.ask(ctx, func(ctx context.Context, c *client.Client) error {
		v, err := c.ServerVersion(ctx, client.ServerVersionOptions{})
		if err == nil && v.Version == "" {
			err = errors.New("the answer tells no version")
		}
		name := "Docker"
		for _, part := range v.Components {
			if strings.HasPrefix(part.Name, "Podman") {
				name = "Podman"
			}
		}
		said = fmt.Sprintf("%s %s, API %s, spoken as %s", name, wire.Clip(v.Version, 40), wire.Clip(v.APIVersion, 20),
			c.ClientVersion())
		return err
	})
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("engine", err)}
	}
	return []reconcile.CheckResult{{What: "engine", OK: true, Said: said},
		p.frame.CheckListing(ctx, p.page(p.entry.Owns.Labels), fixes)}
}
