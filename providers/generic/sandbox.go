package generic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// fieldsOf is what the expressions of a sandbox see: its own fields, or item where it is no
// object.
func fieldsOf(item any) map[string]any {
	if fields, ok := item.(map[string]any); ok {
		return fields
	}
	return map[string]any{"item": item}
}

// sandbox reads one. Only the id is required: what else cannot be read is left empty, and a
// state that is no word is unknown.
func (p *Provider) sandbox(item any, asOf time.Time) (reconcile.Sandbox, error) {
	env, f := fieldsOf(item), &p.spec.fields
	id, err := idOf(f.id, env)
	if err != nil {
		return reconcile.Sandbox{}, err
	}
	raw := textOf(f.state, env)
	s := reconcile.Sandbox{
		Ref:      reconcile.Ref{ID: id},
		Name:     textOf(f.name, env),
		Raw:      raw,
		State:    p.spec.states[raw],
		Template: textOf(f.template, env),
		Region:   textOf(f.region, env),
		Endpoint: textOf(f.endpoint, env),
		Error:    text.Clip(p.client.Redact(textOf(f.fault, env)), 500),
		AsOf:     asOf,
		Size:     reconcile.Size{CPU: amount(f.cpu, env), GPU: amount(f.gpu, env), MemoryGiB: amount(f.memory, env)},

		CreatedAt: moment(f.created, env), UpdatedAt: moment(f.updated, env),
		LastActivityAt: moment(f.active, env), ExpiresAt: moment(f.expires, env),
	}
	if labels, err := f.labels.Run(env); err == nil {
		s.Labels = formula.Labels(labels)
	}
	if p.spec.calls["delete"] == nil {
		s.NotTerminable = "api.delete is not described"
	}
	if p.spec.calls["stop"] != nil && !p.keeps(item) {
		s.NotStoppable = "a stop would delete it, or that is not known"
	}
	p.entry.Mark(&s)
	p.entry.OrName(&s)
	return s, nil
}

// idOf reads the id. A truth is none, and nothing that would ask for something else is.
func idOf(x *formula.Expression, env map[string]any) (string, error) {
	v, err := x.Run(env)
	id, ok := formula.Text(v)
	_, truth := v.(bool)
	switch {
	case err != nil:
		return "", within("sandbox.id", err)
	case !ok || truth:
		return "", errors.New("it has no id")
	}
	return id, wire.CheckID(id)
}

func textOf(x *formula.Expression, env map[string]any) string {
	v, err := x.Run(env)
	if text, ok := formula.Text(v); ok && err == nil {
		return text
	}
	return ""
}

// amount is a number that says how large something is; 0 for what says none.
func amount(x *formula.Expression, env map[string]any) float64 {
	n, err := strconv.ParseFloat(textOf(x, env), 64)
	if err != nil || !(n > 0 && n < 1e9) { // also of what is no number at all
		return 0
	}
	return n
}

func moment(x *formula.Expression, env map[string]any) time.Time {
	v, err := x.Run(env)
	if err != nil {
		v = nil
	}
	return formula.Moment(v)
}

// Get reads one sandbox by id.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, p.look)
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	_, s, err := p.lookAt(ctx, id)
	return s, err
}

// lookAt is look with the item that was read.
func (p *Provider) lookAt(ctx context.Context, id string) (any, reconcile.Sandbox, error) {
	k, err := p.request(p.spec.calls["get"], vars{"id": id})
	if err != nil {
		return nil, reconcile.Sandbox{}, err
	}
	r, a, err := p.hear(ctx, k)
	if err != nil {
		return nil, reconcile.Sandbox{}, err
	}
	item, err := p.spec.item.Run(r.env)
	if err == nil && item == nil {
		err = errors.New("the answer holds no sandbox")
	}
	if err != nil {
		return nil, reconcile.Sandbox{}, within("get.item", err)
	}
	s, err := p.sandbox(item, a.Date)
	if err == nil {
		err = wire.Found(id, s)
	}
	return item, s, err
}

// Terminate deletes the sandbox, after it made sure that the id still is the sandbox
// expected and still ours. It is refused where no delete is described.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	if p.spec.calls["delete"] == nil {
		return reconcile.TerminateRefused, wire.Unable("api.delete is not described: " + p.entry.Name + " is read only")
	}
	return p.base.Terminate(ctx, expected, wire.Look(p.look).Or(expected),
		func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			return p.change(ctx, p.spec.calls["delete"], p.spec.removal, now.ID)
		})
}

// change asks once for a change and says what its answer means.
func (p *Provider) change(ctx context.Context, c *call, v verdicts, id string) (reconcile.Termination, error) {
	k, err := p.request(c, vars{"id": id})
	if err != nil {
		return "", err
	}
	a, err := p.client.Once(ctx, k)
	if err != nil {
		return "", err
	}
	r := p.spec.read(a)
	err = p.client.Refuse(a)
	switch {
	case p.spec.gone(r):
		return reconcile.TerminateGone, nil
	case a.OK() && !r.ours:
		return "", fmt.Errorf("%w: %s", wire.ErrNotAPI, text.Clip(p.client.Redact(a.Header.Get("Content-Type")), 80))
	case r.clear() && v.busy.Is(r.env): // also in a 200: some put every error into one
		return "", wire.Held(err)
	case r.clear() && v.refused.Is(r.env):
		return reconcile.TerminateRefused, err
	case a.OK() && v.done.Is(r.env):
		return reconcile.TerminateDone, nil
	case a.OK():
		return reconcile.TerminateAccepted, nil
	}
	return "", err
}

// Suspend stops the sandbox so that it can come back. One that a stop would delete is
// refused.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	if p.spec.calls["stop"] == nil {
		return reconcile.TerminateRefused, wire.Unable("api.stop is not described for " + p.entry.Name)
	}
	return p.base.Suspend(ctx, expected, p.turns())
}

// Resume starts the sandbox again.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	if p.spec.calls["resume"] == nil {
		return wire.Unable("api.resume is not described for " + p.entry.Name)
	}
	return p.base.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	keeps := false // as the look showed it
	return wire.Turns{
		Look: func(ctx context.Context, id string) (reconcile.Sandbox, error) {
			item, s, err := p.lookAt(ctx, id)
			keeps = p.keeps(item)
			return s, err
		},
		Stop: func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			if !keeps {
				return reconcile.TerminateRefused, errors.New("a stop would delete it, or that is not known")
			}
			return p.change(ctx, p.spec.calls["stop"], p.spec.stopping, now.ID)
		},
		Start: func(ctx context.Context, now reconcile.Sandbox) error {
			how, err := p.change(ctx, p.spec.calls["resume"], p.spec.resuming, now.ID)
			if how == reconcile.TerminateGone {
				err = fmt.Errorf("%w: it went meanwhile", reconcile.ErrNotFound)
			}
			return err
		},
		Resting: func(now reconcile.Sandbox) reconcile.Termination {
			if p.spec.onTheWay[now.Raw] {
				return reconcile.TerminateAccepted
			}
			return reconcile.TerminateDone
		},
	}
}

// keeps reports whether a stop keeps the sandbox: only where the condition is false. A field
// that is not there, or is misspelt, says nothing.
func (p *Provider) keeps(item any) bool {
	if p.spec.deletes == nil {
		return true
	}
	v, err := p.spec.deletes.Run(fieldsOf(item))
	deletes, truth := v.(bool)
	return err == nil && truth && !deletes
}
