package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Suspend stops the sandbox: its processes end, its disk is kept and counts against the
// disk quota. An ephemeral one is refused, because the vendor deletes it when it stops. A
// sandbox with an auto-delete interval is deleted by the vendor that long after the stop.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Suspend(ctx, expected, p.turns())
}

// Resume starts the sandbox again, from its disk.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	return p.base.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	ephemeral := "" // as the look showed it
	return wire.Turns{
		Look: func(ctx context.Context, id string) (reconcile.Sandbox, error) {
			b, a, err := p.get(ctx, id)
			s := p.sandbox(&b, a.Date)
			ephemeral = s.NotStoppable
			return s, err
		},
		Stop: func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			if ephemeral != "" {
				return reconcile.TerminateRefused, errors.New(ephemeral)
			}
			return p.stop(ctx, now.ID)
		},
		Start: func(ctx context.Context, now reconcile.Sandbox) error {
			_, a, err := p.turn(ctx, now.ID, "start")
			return wire.Unstarted(a, err)
		},
		Resting: func(now reconcile.Sandbox) reconcile.Termination { return stopped(now.Raw) },
	}
}

// stopped tells what is stopped or paused from what is on the way there.
func stopped(state string) reconcile.Termination {
	switch state {
	case "stopped", "paused", "archived":
		return reconcile.TerminateDone
	}
	return reconcile.TerminateAccepted
}

func (p *Provider) stop(ctx context.Context, id string) (reconcile.Termination, error) {
	now, a, err := p.turn(ctx, id, "stop?force=false")
	if err != nil {
		return wire.Unchanged(a, err, http.StatusBadRequest)
	}
	return stopped(now.State), nil
}

// turn asks for a change of state, once more while another one is under way.
func (p *Provider) turn(ctx context.Context, id, verb string) (b box, a wire.Answer, err error) {
	a, err = p.client.Alter(ctx, wire.Call{What: "turn", Method: http.MethodPost,
		URL: p.client.At("sandbox", id) + "/" + verb}, &b)
	if err == nil && b.ID != id {
		err = fmt.Errorf("the answer names sandbox %q", text.Clip(b.ID, 80))
	}
	return b, a, err
}
