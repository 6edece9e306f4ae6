package e2b

import (
	"context"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// resumedFor is for how many seconds a sandbox runs that an operator brings back: the longest
// that every plan allows. What its time was before, nothing tells.
const resumedFor = 3600

// Suspend pauses the sandbox: memory, processes and disk are kept, for as long as nobody
// kills it. One that resumes at any call is woken by the next one of its users.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.frame.Suspend(ctx, expected, p.turns())
}

// Resume brings it back for an hour, because an operator asks for it. Nothing else here ever
// connects to a sandbox.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	return p.frame.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	return wire.Turns{
		Look: p.look,
		Stop: func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			return p.turned(p.client.Once(ctx, wire.Call{What: "pause", Method: http.MethodPost,
				URL: p.client.At("sandboxes", now.ID, "pause"), Body: []byte("{}")}))
		},
		Start: p.connect,
		Resting: func(reconcile.Sandbox) reconcile.Termination {
			return reconcile.TerminateDone // also while it is being paused, which looks the same
		},
	}
}

func (p *Provider) connect(ctx context.Context, now reconcile.Sandbox) error {
	a, err := p.client.Once(ctx, wire.Call{What: "connect", Method: http.MethodPost,
		URL: p.client.At("sandboxes", now.ID, "connect"), Body: fmt.Appendf(nil, `{"timeout":%d}`, resumedFor)})
	if err != nil {
		return err
	}
	var b box
	err = p.client.Decode(a, &b)
	switch {
	case err != nil && a.Status == http.StatusConflict:
		return wire.Held(err)
	case err == nil && b.ID != now.ID:
		return fmt.Errorf("the answer names sandbox %q", wire.Clip(b.ID, 80))
	}
	return err
}
