package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A box is a sandbox on the wire: of the vendor's fields those that are used. The last three
// are not in listings. Everything may be missing.
type box struct {
	ID        string            `json:"sandboxID"`
	Template  string            `json:"templateID"`
	Alias     string            `json:"alias"`
	State     string            `json:"state"`
	Envd      string            `json:"envdVersion"`
	CPU       wire.Amount       `json:"cpuCount"`
	Memory    wire.Amount       `json:"memoryMB"`
	Metadata  map[string]string `json:"metadata"`
	StartedAt wire.Stamp        `json:"startedAt"`
	EndAt     wire.Stamp        `json:"endAt"`
	Token     string            `json:"envdAccessToken"`
	Domain    string            `json:"domain"`
	Lifecycle *struct {
		AutoResume bool `json:"autoResume"`
		Keepalive  struct {
			Traffic struct {
				Enabled bool `json:"enabled"`
			} `json:"traffic"`
		} `json:"keepalive"` // some servers have it: calls put the end off
	} `json:"lifecycle"` // nil where the server is older than it
}

// states are the vendor's words for the canonical states. What is being paused says paused,
// what is being killed is not found.
var states = map[string]reconcile.SandboxState{
	"running": reconcile.SandboxRunning,
	"paused":  reconcile.SandboxSuspended,
}

// sandbox is the box in the words of the contract. The start is the one of the last resume:
// such a sandbox seems younger than it is, never older. The end of a paused one is when it
// was paused, and it has no other. Nor has it a name, but for a canary, whose label says it.
func (p *Provider) sandbox(b *box, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{
		Ref: reconcile.Ref{ID: b.ID}, Raw: b.State, State: states[b.State], Template: cmp.Or(b.Alias, b.Template),
		Name: b.Metadata[reconcile.CanaryLabel], Labels: b.Metadata,
		CreatedAt: b.StartedAt.Time, UpdatedAt: b.StartedAt.Time, AsOf: asOf,
		Size: wire.Size(b.CPU, 0, b.Memory/1024),
	}
	switch s.State {
	case reconcile.SandboxRunning:
		s.ExpiresAt = b.EndAt.Time
	case reconcile.SandboxSuspended:
		s.UpdatedAt = b.EndAt.Time
	}
	p.entry.Mark(&s, b.Template) // it has an id, and mostly an alias
	return s
}

// is is nil for the sandbox that was asked for. The vendor also takes the longer ids of former
// clients, which rows may still hold, and answers with the short one: that is no news of the
// id that was asked for, least of all that it is gone.
func (b *box) is(id string) error {
	switch b.ID {
	case id:
		return nil
	case "":
		return errors.New("the answer is no sandbox: it has no sandboxID")
	}
	return fmt.Errorf("the answer names sandbox %s: do rows hold the long ids of former clients?", text.Clip(b.ID, 80))
}

// Get reads one sandbox by id. One that is being killed is not found any more.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, p.look)
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	b, a, err := p.get(ctx, id)
	return p.sandbox(&b, a.Date), err
}

func (p *Provider) get(ctx context.Context, id string) (b box, a wire.Answer, err error) {
	a, err = p.client.Get(ctx, wire.Call{What: "get", URL: p.client.At("sandboxes", id)}, &b)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		err = cmp.Or(p.team(ctx), p.certainlyGone(ctx, id), err) // a key of another team is told the same
	case err == nil:
		err = b.is(id)
	}
	return b, a, err
}

// Terminate kills the sandbox, and deletes what is kept of a paused one, after it made sure
// that it still is ours. An error without a termination means that nobody knows whether it
// was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Terminate(ctx, expected, wire.Look(p.look).Or(expected),
		func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			a, err := p.client.Alter(ctx, wire.Call{What: "kill", Method: http.MethodDelete,
				URL: p.client.At("sandboxes", now.ID)}, nil)
			p.noteKill(now.ID, a)
			return turned(a, err)
		})
}

// turned says what the answer to a kill or a pause means. The vendor answers 204, when it is
// done; who answers something else may only have begun.
func turned(a wire.Answer, err error) (reconcile.Termination, error) {
	switch {
	case err != nil:
		return wire.Unchanged(a, err)
	case a.Status == http.StatusNoContent:
		return reconcile.TerminateDone, nil
	}
	return reconcile.TerminateAccepted, nil
}

// resumedFor is for how many seconds a sandbox runs that an operator brings back: the longest
// that every plan allows. What its time was before, nothing tells.
const resumedFor = 3600

// Suspend pauses the sandbox: memory, processes and disk are kept, for as long as nobody
// kills it. One that resumes at any call is woken by the next one of its users.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Suspend(ctx, expected, p.turns())
}

// Resume brings it back for an hour, because an operator asks for it. Nothing else here ever
// connects to a sandbox.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	return p.base.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	ask := func(ctx context.Context, id, verb, body string, v any) (wire.Answer, error) {
		return p.client.Ask(ctx, wire.Call{What: verb, Method: http.MethodPost,
			URL: p.client.At("sandboxes", id, verb), Body: []byte(body)}, v)
	}
	return wire.Turns{
		Look: p.look,
		Stop: func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			return turned(ask(ctx, now.ID, "pause", "{}", nil))
		},
		Start: func(ctx context.Context, now reconcile.Sandbox) error {
			var b box
			a, err := ask(ctx, now.ID, "connect", fmt.Sprintf(`{"timeout":%d}`, resumedFor), &b)
			if err == nil {
				err = b.is(now.ID)
			}
			return wire.Unstarted(a, err)
		},
		Resting: func(reconcile.Sandbox) reconcile.Termination {
			return reconcile.TerminateDone // also while it is being paused, which looks the same
		},
	}
}
