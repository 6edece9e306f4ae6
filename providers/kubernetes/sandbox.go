package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Get reads one object by name and compares its uid.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.frame.Get(ctx, id, p.look(&object{}))
}

// look reads one object into o.
func (p *Provider) look(o *object) wire.Look {
	return func(ctx context.Context, id string) (reconcile.Sandbox, error) {
		n, err := parseID(id)
		if err != nil {
			return reconcile.Sandbox{}, err
		}
		a, err := p.read(ctx, n, o)
		if err != nil {
			if errors.Is(err, reconcile.ErrNotFound) {
				p.left.Delete(id)
			}
			return reconcile.Sandbox{}, err
		}
		items := []object{*o}
		claimed := claimants{Provider: p, namespace: n.namespace}
		if err := claimed.mark(ctx, n.kind, items); err != nil {
			return reconcile.Sandbox{}, err
		}
		o.survives = items[0].survives
		return p.sandbox(n.kind, o, a.Date), nil
	}
}

// read gets an object by name. Where the name has a uid, another object of that name is
// not it.
func (p *Provider) read(ctx context.Context, n name, o *object) (wire.Answer, error) {
	*o = object{}
	a, err := p.client.Get(ctx, wire.Call{What: "get " + n.word, URL: p.at(n.kind, n.namespace, n.name)}, o)
	switch {
	case err != nil:
		return a, err
	case o.Metadata.UID == "" || o.Metadata.Name != n.name || o.Metadata.Namespace != n.namespace:
		return a, errors.New("the answer is not the object that was asked for")
	case n.uid != "" && o.Metadata.UID != n.uid:
		return a, fmt.Errorf("%w: %s has uid %s now", wire.ErrAnother, n, wire.Clip(o.Metadata.UID, 40))
	}
	return a, nil
}

// sandbox is the object in the words of the contract. Its texts are copies: it keeps
// nothing of the answer alive.
func (p *Provider) sandbox(k kind, o *object, asOf time.Time) reconcile.Sandbox {
	seen := o.look(k, p.container)
	s := reconcile.Sandbox{
		Ref:       reconcile.Ref{ID: o.name(k).id()},
		Name:      o.Metadata.Name,
		Raw:       seen.raw,
		State:     seen.state,
		Template:  o.template(k, p.container),
		Region:    cmp.Or(o.Spec.NodeName, o.Status.NodeName),
		Labels:    o.Metadata.Labels,
		CreatedAt: o.Metadata.CreationTimestamp.Time,
		UpdatedAt: o.changed(),
		ExpiresAt: o.expires(),
		AsOf:      asOf,
		Error:     wire.Clip(p.client.Redact(seen.why), 500),
	}
	p.entry.Mark(&s)
	if p.entry.Link.Sandbox == "name" {
		s.SandboxKey = p.key(o)
	}
	s.Owned = s.Owned && !o.apart(k)
	return s
}

// key is what a row names the sandbox by, where that is a name: its own, or what the key
// row_holds says.
func (p *Provider) key(o *object) string {
	switch p.entry.Extra["row_holds"] {
	case "uid":
		return o.Metadata.UID
	case "sandbox":
		return cmp.Or(o.Status.Sandbox.Name, o.Metadata.Name)
	}
	return o.Metadata.Name
}
