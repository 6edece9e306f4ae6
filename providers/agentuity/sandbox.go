package agentuity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// slowTurn is how long a pause or a resume may take: they write and read the checkpoint, and
// answer when that is done.
const slowTurn = time.Minute

// Get reads one sandbox by id.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.frame.Get(ctx, id, p.look)
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	b, a, err := p.get(ctx, id)
	return p.sandbox(&b, a.Date), err
}

// get asks one region after the other, until one has it. It is gone only when each of them is
// certain of it; one that is out of order hides nothing of the others.
func (p *Provider) get(ctx context.Context, id string) (b box, a wire.Answer, err error) {
	places, err := p.places(ctx)
	if err != nil {
		return b, a, fmt.Errorf("regions: %w", err)
	}
	var unknown error
	for _, r := range places {
		b, a, err = p.getIn(ctx, r, id)
		if err == nil {
			return b, a, nil
		}
		if unknown == nil && !errors.Is(err, reconcile.ErrNotFound) {
			unknown = err
		}
	}
	return b, a, cmp.Or(unknown, err)
}

func (p *Provider) getIn(ctx context.Context, place, id string) (box, wire.Answer, error) {
	c := call{region: place, path: []string{"sandbox", id}, query: url.Values{"includeDeleted": {"true"}},
		Call: wire.Call{What: "get"}}
	a, err := p.send(ctx, &c, p.client.Read)
	if err != nil {
		return box{}, a, err
	}
	in, err := open[box](p, a)
	b := in.Data
	switch {
	case err != nil:
	case b.ID == "":
		err = errors.New("the answer is no sandbox: it has no id")
	case b.ID != id:
		err = fmt.Errorf("%w: %s", wire.ErrAnother, wire.Clip(b.ID, 80))
	default:
		b.Region = p.home(b.Region, c.region)
	}
	return b, a, err
}

// home is the region of a sandbox that was seen in one: that one, since further calls go
// there, with the credential. Its own word is only for people, where there is one address.
func (p *Provider) home(said, seen string) string {
	if p.everywhere() || said == "" {
		return seen
	}
	return said
}

// Terminate destroys the sandbox, after it made sure that the id still is the sandbox
// expected and still ours. An error without a termination means that nobody knows whether it
// was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.frame.Terminate(ctx, expected, p.look, p.end)
}

// end asks once. Whatever well it answers, the sandbox is gone when a look says so: also a
// 404, of what was seen right before.
func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	_, a, err := p.change(ctx, now, http.MethodDelete)
	if err == nil || errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.TerminateAccepted, nil
	}
	return turned(a, err)
}

// change asks once for a change of a sandbox: its end, or what verb says. A 409 means that
// it is busy or in another state, and nothing was done.
func (p *Provider) change(ctx context.Context, s reconcile.Sandbox, method string, verb ...string) (
	envelope[any], wire.Answer, error,
) {
	c := call{region: s.Region, path: append([]string{"sandbox", s.ID}, verb...),
		Call: wire.Call{What: "change", Method: method}}
	if len(verb) > 0 {
		c.Timeout = slowTurn
	}
	a, err := p.send(ctx, &c, p.client.Once)
	if err != nil {
		return envelope[any]{}, a, err
	}
	in, err := open[any](p, a)
	return in, a, err
}

// Suspend pauses the sandbox: a checkpoint of it is kept. The vendor ends it when its paused
// time-out is over.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.frame.Suspend(ctx, expected, p.turns())
}

// Resume brings it back from its checkpoint.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	return p.frame.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	return wire.Turns{
		Look:    p.look,
		Stop:    p.pause,
		Start:   p.resume,
		Resting: func(reconcile.Sandbox) reconcile.Termination { return reconcile.TerminateDone },
	}
}

func (p *Provider) pause(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	in, a, err := p.change(ctx, now, http.MethodPost, "pause")
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case err != nil:
		return turned(a, err)
	case states[in.Status] == reconcile.SandboxSuspended:
		return reconcile.TerminateDone, nil
	}
	return reconcile.TerminateAccepted, nil
}

// resume meets a 409 also while the checkpoint is still being written.
func (p *Provider) resume(ctx context.Context, now reconcile.Sandbox) error {
	_, a, err := p.change(ctx, now, http.MethodPost, "resume")
	if err != nil && a.Status == http.StatusConflict {
		return wire.Held(err)
	}
	return err
}
