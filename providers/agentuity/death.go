package agentuity

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The events that begin a run and the one that ends it for good. Others tell nothing of either.
const destroyEvent = "destroy"

var beginning = map[string]bool{"create": true, "lifecycle:started": true, "lifecycle:resumed": true}

// Death is the event destroy of what a get shows as over. Only the newest 100 events can be read; a sandbox that is
// lost with its machine leaves none, and whether the events of what was deleted are kept the vendor does not say.
func (p *Provider) Death(ctx context.Context, id string) (reconcile.Death, error) {
	return p.base.Death(ctx, id, func(ctx context.Context) (reconcile.Death, error) {
		b, a, err := p.get(ctx, id)
		if err != nil {
			return reconcile.Death{}, err
		}
		if state := states[b.Status]; state != reconcile.SandboxEnded && state != reconcile.SandboxFailed {
			return reconcile.Death{}, wire.NoRecord("it is " + text.Clip(b.Status, 40))
		}
		events, err := p.events(ctx, reconcile.Sandbox{Ref: reconcile.Ref{ID: id}, Region: b.Region})
		if err != nil {
			return reconcile.Death{}, err
		}
		if events == nil {
			return reconcile.Death{}, errors.New("the answer lists no events")
		}
		d, err := destroyed(events, &b)
		d.AsOf = a.Date
		return d, err
	})
}

// destroyed is the newest turn of the sandbox's life, when that is its end.
func destroyed(events []event, b *box) (reconcile.Death, error) {
	var last event
	for _, e := range events {
		turns := e.Type == destroyEvent || beginning[e.Type]
		if turns && e.Of == b.ID && (last.Type == "" || e.CreatedAt.After(last.CreatedAt.Time)) {
			last = e
		}
	}
	if last.Type != destroyEvent || last.CreatedAt.IsZero() {
		return reconcile.Death{}, wire.NoRecord("its newest event is no end")
	}
	why := "destroyed"
	if said, _ := last.Event["reason"].(string); said != "" {
		why += ": " + said
	}
	if b.ExitCode != nil {
		why += fmt.Sprintf(", exit code %d", *b.ExitCode)
	}
	return reconcile.Death{At: last.CreatedAt.Time, Reason: why, Record: "event " + destroyEvent}, nil
}
