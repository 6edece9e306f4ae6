package kubernetes

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A target is a container that commands can be run in.
type target struct {
	pod       name
	container string
}

// A restingError is that nothing runs where a command was to be run.
type restingError struct{ said string }

func (r *restingError) Error() string { return r.said }

// target is the container behind an id, where everything on the way to it runs.
func (p *Provider) target(ctx context.Context, id string) (target, error) {
	t, _, err := p.behind(ctx, id, func(n name, o *object) error {
		if seen := o.look(n.kind, p.container); seen.state != reconcile.SandboxRunning {
			return &restingError{fmt.Sprintf("%s is %s", n, cmp.Or(seen.raw, "in no known state"))}
		}
		return nil
	})
	return t, err
}

// inAnyState lets pass what does not run.
func inAnyState(name, *object) error { return nil }

// behind is the container behind an id, and its Pod, as the cluster shows it now. Each step
// from a claim to its Pod compares uids: a name in an annotation or a status may be anybody's.
func (p *Provider) behind(ctx context.Context, id string, passes func(name, *object) error) (target, object, error) {
	var o object
	n, err := parseID(id)
	if err == nil {
		_, err = p.read(ctx, n, &o)
	}
	for err == nil {
		if err = passes(n, &o); err != nil || n.word == pods.word {
			break
		}
		n, err = p.below(ctx, n, &o)
	}
	return target{n, o.main(p.container)}, o, err
}

// below reads what stands behind a claim or a Sandbox in its place.
func (p *Provider) below(ctx context.Context, n name, o *object) (name, error) {
	next := name{sandboxes, n.namespace, o.Status.Sandbox.Name, ""}
	if n.word == sandboxes.word {
		next = name{pods, n.namespace, cmp.Or(o.Metadata.Annotations.Pod, n.name), ""}
	}
	if next.name == "" {
		return next, &restingError{n.String() + " has no sandbox"}
	}
	if _, err := p.read(ctx, next, o); err != nil {
		return next, err
	}
	if by := o.controller(); by == nil || by.UID != n.uid {
		return next, &restingError{fmt.Sprintf("%s does not belong to %s", next, n)}
	}
	next.uid = o.Metadata.UID
	return next, nil
}
