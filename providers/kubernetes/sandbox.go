package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Get reads one object by name and compares its uid. What is no such id may be another
// provider's, and is not here unless the cluster has an object by it.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, func(ctx context.Context, id string) (reconcile.Sandbox, error) {
		if _, err := parseID(id); err != nil {
			return reconcile.Sandbox{}, p.unlike(ctx, id, err)
		}
		return p.look(&object{})(ctx, id)
	})
}

// uids are of this form, and so are the ids of some other providers.
var uids = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// unlike says what a value is that is no id. Rows may hold names or uids, and nobody is to be
// told that such an object is gone. Nothing can be asked for by a uid.
func (p *Provider) unlike(ctx context.Context, value string, noID error) error {
	there, err := false, error(nil)
	switch {
	case uids.MatchString(value):
		err = wire.EachPage(ctx, wire.InTurn(p.scopes(p.entry.Owns.Labels)), func(page wire.Page) error {
			there = there || slices.ContainsFunc(page.Sandboxes, func(s reconcile.Sandbox) bool {
				return strings.HasSuffix(s.ID, "_"+value)
			})
			return nil
		})
	case len(validation.IsDNS1123Subdomain(value)) == 0:
		there, err = p.called(ctx, value)
	}
	switch {
	case err != nil:
		return err
	case there:
		return fmt.Errorf("%w, and the cluster has an object by it: say link: {sandbox: name}, and row_holds", noID)
	}
	return fmt.Errorf("%w: %w", reconcile.ErrNotFound, noID)
}

// called reports whether an object has the name.
func (p *Provider) called(ctx context.Context, value string) (bool, error) {
	for _, namespace := range p.namespaces {
		for _, k := range p.kinds {
			_, err := p.read(ctx, name{k, namespace, value, ""}, &object{})
			if err == nil || !errors.Is(err, reconcile.ErrNotFound) {
				return err == nil, err
			}
		}
	}
	return false, nil
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
		return a, fmt.Errorf("%w: %s has uid %s now", wire.ErrAnother, n, text.Clip(o.Metadata.UID, 40))
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
		Size:      o.box(k, p.container).size(),
		Labels:    o.Metadata.Labels,
		CreatedAt: o.Metadata.CreationTimestamp.Time,
		UpdatedAt: o.changed(),
		ExpiresAt: o.expires(),
		AsOf:      asOf,
		Error:     text.Clip(p.client.Redact(seen.why), 500),
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
