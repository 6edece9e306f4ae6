package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// errLate is a call that was not answered in time.
var errLate = errors.New("no answer")

// once makes one call, within the time-out, and tells what its answer means.
func (p *Provider) once(ctx context.Context, call func(ctx context.Context) error) (wire.Answer, error) {
	turn, err := p.client.Ahead(ctx)
	if err != nil {
		return wire.Answer{}, err
	}
	within, cancel := context.WithTimeout(turn, p.timeout)
	defer cancel()
	watched, seen := wire.Watch(within)
	err = call(watched)
	a := seen.Last()
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded):
		return wire.Answer{}, fmt.Errorf("%w within %s", errLate, p.timeout)
	case a.Status != 0 && !a.OK():
		return a, p.noted(p.client.Refuse(a))
	case errors.Is(err, os.ErrPermission): // of the socket
		return a, fmt.Errorf("%w: %w", reconcile.ErrUnauthorized, err)
	}
	return a, wire.Cause(err)
}

// ready is the engine's client, once the engine told which version of its API it speaks.
// Without that the client would guess, and every call would fail at an older engine.
func (p *Provider) ready(ctx context.Context) (*client.Client, error) {
	if c := p.engine.Load(); c != nil {
		return c, nil
	}
	c, err := client.New(p.options...)
	if err != nil {
		return nil, err
	}
	_, err = p.once(ctx, func(ctx context.Context) error {
		told, err := c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
		if err == nil && told.APIVersion == "" {
			err = fmt.Errorf("%w: it does not tell a version", wire.ErrNotAPI)
		}
		return err
	})
	if err == nil {
		p.engine.Store(c)
	}
	return c, err
}

// call makes one call of the engine's client.
func (p *Provider) call(ctx context.Context, one func(context.Context, *client.Client) error) (wire.Answer, error) {
	c, err := p.ready(ctx)
	if err != nil {
		return wire.Answer{}, err
	}
	return p.once(ctx, func(ctx context.Context) error { return one(ctx, c) })
}

// A thing is a container or an execution of an engine.
type thing struct {
	*Provider
	id string
}

// ask calls a method of the engine's client that is about one thing, by its full id.
func ask[O, R any](ctx context.Context, t thing,
	method func(c *client.Client, ctx context.Context, id string, options O) (R, error), options O,
) (out R, a wire.Answer, err error) {
	if err = checkID(t.id); err == nil {
		a, err = t.call(ctx, func(ctx context.Context, c *client.Client) (err error) {
			out, err = method(c, ctx, t.id, options)
			return err
		})
	}
	return out, a, err
}

// fullID is the length of an id. Shorter ones are found as well, but name whatever begins so.
const fullID = 64

// checkID refuses what is no full id, which would find a name, or lead to another path.
func checkID(id string) error {
	if len(id) == fullID && strings.Trim(id, "0123456789abcdef") == "" {
		return nil
	}
	return fmt.Errorf("%w: %q is not the full id of a container, %d hexadecimal digits", reconcile.ErrUnknownID,
		text.Clip(id, 80), fullID)
}

// said also knows the errors in plain text, of servers that are not spoken to as they want.
func said(a wire.Answer) wire.APIError {
	s := wire.SaidIn(a)
	if kind := a.Header.Get("Content-Type"); s.Text == "" && (kind == "" || strings.HasPrefix(kind, "text/plain")) {
		s.Text = string(a.Body)
	}
	return s
}

// certain knows the words that say that a thing is not there; "page not found" says that the
// address is wrong. Podman has other words around them.
func certain(a wire.Answer, said wire.APIError) bool {
	return a.Status == http.StatusNotFound && wire.IsJSON(a.Header) &&
		says(said.Text, "no such container", "no such image", "no such exec")
}

// noted forgets the client of a version that the engine does not speak any more.
func (p *Provider) noted(err error) error {
	if outdated(err) {
		p.engine.Store(nil)
	}
	return err
}

// outdated reports whether the engine refuses the version that was agreed on.
func outdated(err error) bool {
	var r *wire.Refusal
	return errors.As(err, &r) && r.Status == http.StatusBadRequest && says(r.Words, "client version")
}

// says reports whether a text has one of the words, in whatever case.
func says(text string, words ...string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// Template tells whether the engine has an image. Sandboxes that are made by its API cannot
// start from one that it has not; nothing is pulled here.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	return p.base.Template(ctx, "image", name, p.image)
}

func (p *Provider) image(ctx context.Context, name string) (reconcile.Template, wire.Answer, error) {
	t := reconcile.Template{Name: name, Raw: "present", State: reconcile.TemplateActive}
	for part := range strings.SplitSeq(name, "/") { // which would lead to another path
		if err := wire.CheckID(part); err != nil {
			return t, wire.Answer{}, err
		}
	}
	a, err := p.call(ctx, func(ctx context.Context, c *client.Client) error {
		found, err := c.ImageInspect(ctx, name)
		if t.ID = found.ID; err == nil && t.ID == "" {
			err = errors.New("the answer is no image: it has no id")
		}
		return err
	})
	return t, a, err
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
	_, err := p.call(ctx, func(ctx context.Context, c *client.Client) error {
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
		said = fmt.Sprintf("%s %s, API %s, spoken as %s", name, text.Clip(v.Version, 40), text.Clip(v.APIVersion, 20),
			c.ClientVersion())
		return err
	})
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("engine", err)}
	}
	return []reconcile.CheckResult{wire.Well("engine", said),
		p.base.CheckListing(ctx, p.page(p.entry.Owns.Labels), fixes)}
}
