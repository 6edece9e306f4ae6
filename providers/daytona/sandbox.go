package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// at is the address of a thing of the control plane. Each part is escaped, so an id can
// never lead to another path.
func (c *client) at(parts ...string) string {
	var b strings.Builder
	b.WriteString(c.base.String())
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(part))
	}
	return b.String()
}

// checkID refuses what cannot be an id and would ask for something else in a path.
func checkID(id string) error {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f }
	if id == "" || id == "." || id == ".." || len(id) > 512 || strings.ContainsFunc(id, bad) {
		return fmt.Errorf("%w: %q", reconcile.ErrUnknownID, clip(id, 40))
	}
	return nil
}

// Get reads one sandbox by id. What was deleted after an error is gone too: it is hidden
// and costs nothing.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	b, a, err := p.get(ctx, id)
	if err != nil {
		return reconcile.Sandbox{}, fmt.Errorf("get sandbox %s of %s: %w", id, p.entry.Name, err)
	}
	return p.sandbox(&b, a.date), nil
}

func (p *Provider) get(ctx context.Context, id string) (box, answer, error) {
	var b box
	if err := checkID(id); err != nil {
		return b, answer{}, err
	}
	a, err := p.client.read(ctx, call{what: "get", url: p.client.at("sandbox", id), max: maxOne})
	if err != nil {
		return b, a, err
	}
	if err := p.client.decode(a, &b); err != nil {
		return b, a, err
	}
	switch {
	case b.ID == "":
		return b, a, errors.New("the answer is no sandbox: it has no id")
	case b.ID != id:
		// The look-up tries ids first and names after, so no sandbox has this id.
		return b, a, fmt.Errorf("%w: the answer is sandbox %s, which has that name", reconcile.ErrNotFound, b.ID)
	}
	return b, a, nil
}

// Terminate deletes the sandbox, after it made sure that the id still is the sandbox
// expected and still ours. An error without a termination means that nobody knows whether
// it was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	how, err := p.terminate(ctx, expected)
	if err != nil {
		return how, fmt.Errorf("terminate sandbox %s of %s: %w", expected.ID, p.entry.Name, err)
	}
	return how, nil
}

func (p *Provider) terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	_, now, how, err := p.lookFirst(ctx, expected)
	if how != "" || err != nil {
		return how, err
	}
	switch {
	case now.State == reconcile.SandboxEnded:
		return reconcile.TerminateGone, nil
	case now.State == reconcile.SandboxDeleting && expected.State != reconcile.SandboxDeleting:
		return reconcile.TerminateAccepted, nil
	}
	if now.State == reconcile.SandboxDeleting {
		return p.hurry(ctx, expected.ID)
	}
	return p.delete(ctx, expected.ID)
}

// hurry asks once for the end of a sandbox that is being deleted. "Busy" is no news of it.
func (p *Provider) hurry(ctx context.Context, id string) (reconcile.Termination, error) {
	a, err := p.client.once(ctx, p.deletion(id))
	if err == nil && a.status == http.StatusConflict {
		return reconcile.TerminateAccepted, nil
	}
	return p.deleted(id, a, err)
}

// lookFirst makes sure that the id still is the sandbox expected and still ours. Else it says
// how that ends what is asked for.
func (p *Provider) lookFirst(ctx context.Context, expected reconcile.Sandbox) (
	b box, now reconcile.Sandbox, how reconcile.Termination, err error,
) {
	b, a, err := p.get(ctx, expected.ID)
	switch {
	case b.ID != "" && b.ID != expected.ID:
		return b, now, reconcile.TerminateChanged, nil
	case errors.Is(err, reconcile.ErrNotFound):
		return b, now, reconcile.TerminateGone, nil
	case err != nil:
		return b, now, "", fmt.Errorf("look first: %w", err)
	}
	now = p.sandbox(&b, a.date)
	if p.changed(expected, now) {
		how = reconcile.TerminateChanged
	}
	return b, now, how, nil
}

// changed reports whether the sandbox lost the labels or the name that proved whose it is.
// The id itself is never given twice.
func (p *Provider) changed(expected, now reconcile.Sandbox) bool {
	return expected.Owned && !now.Owned && !p.entry.Owns.Referenced
}

func (p *Provider) delete(ctx context.Context, id string) (reconcile.Termination, error) {
	a, err := p.client.change(ctx, p.deletion(id))
	return p.deleted(id, a, err)
}

func (p *Provider) deletion(id string) call {
	return call{what: "delete", method: http.MethodDelete, url: p.client.at("sandbox", id), max: maxOne}
}

// deleted says what the answer to a delete means.
func (p *Provider) deleted(id string, a answer, err error) (reconcile.Termination, error) {
	if err != nil {
		return "", err
	}
	var b box
	err = p.client.decode(a, &b)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.status == http.StatusConflict: // a transition is under way: nothing was done, and it may work later
		return "", fmt.Errorf("%w: %w", reconcile.ErrHeld, err)
	case a.status == http.StatusBadRequest:
		return reconcile.TerminateRefused, err
	case err != nil:
		return "", err
	case b.ID != id:
		return "", fmt.Errorf("the answer names sandbox %q", clip(b.ID, 80))
	case b.State == destroyed:
		return reconcile.TerminateDone, nil
	}
	return reconcile.TerminateAccepted, nil
}
