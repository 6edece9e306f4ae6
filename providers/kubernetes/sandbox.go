package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

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
		*o = object{}
		a, err := p.read(ctx, n, o)
		if err != nil {
			return reconcile.Sandbox{}, err
		}
		return p.sandbox(n.kind, o, a.Date), nil
	}
}

// read gets an object by name. Where the name has a uid, another object of that name is
// not it.
func (p *Provider) read(ctx context.Context, n name, o *object) (wire.Answer, error) {
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

// Terminate deletes the object, if uid and version are still those that were looked at
// right before. A claim's sandbox and Pod go with it. It never deletes by force: a Pod whose
// node does not answer stays, and is reported. An error without a termination means that
// nobody knows whether it was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	var seen object
	look := p.look(&seen)
	return p.frame.Terminate(ctx, expected, look,
		func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			how, err := p.end(ctx, &seen, now)
			if !errors.Is(err, errMoved) {
				return how, err
			}
			return p.endAgain(ctx, &seen, now)
		})
}

// errMoved is the answer to a delete of an object that changed since it was looked at.
var errMoved = errors.New("it changed since it was looked at")

// endAgain looks again at an object that changed between look and delete, as every report
// of a node makes it do, and tries once more when nothing that matters changed.
func (p *Provider) endAgain(ctx context.Context, seen *object, before reconcile.Sandbox) (
	reconcile.Termination, error,
) {
	now, how, err := p.frame.Before(ctx, before, p.look(seen))
	switch {
	case how != "" || err != nil:
		return how, err
	case now.State == reconcile.SandboxDeleting && before.State != reconcile.SandboxDeleting:
		return reconcile.TerminateAccepted, nil
	case now.Task != before.Task, now.SandboxKey != before.SandboxKey: // it was handed to somebody else
		return reconcile.TerminateChanged, nil
	case now.State != before.State:
		return "", wire.Held(fmt.Errorf("it was %s and is %s", before.Raw, now.Raw))
	}
	how, err = p.end(ctx, seen, now)
	if errors.Is(err, errMoved) {
		return "", wire.Held(err)
	}
	return how, err
}

func (p *Provider) end(ctx context.Context, o *object, now reconcile.Sandbox) (reconcile.Termination, error) {
	n, err := parseID(now.ID)
	if err != nil {
		return "", err
	}
	if by := o.controller(); by != nil {
		return reconcile.TerminateRefused, fmt.Errorf("%s %s controls it and would make it anew: end that", by.Kind, by.Name)
	}
	if o.apart(n.kind) {
		return reconcile.TerminateRefused, errors.New("it belongs to a warm pool or to a claim")
	}
	a, err := p.client.Once(ctx, wire.Call{What: "delete " + n.word, Method: http.MethodDelete,
		URL: p.at(n.kind, n.namespace, n.name), Body: deleteOptions(n.kind, o)})
	if err != nil {
		return "", err
	}
	return p.deleted(n, a)
}

// deleteOptions compare uid and version. The grace period stays the Pod's own.
func deleteOptions(k kind, o *object) []byte {
	propagation := "Foreground"
	if k.word == pods.word {
		propagation = "Background"
	}
	body, _ := json.Marshal(map[string]any{ // texts always encode
		"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation,
		"preconditions": map[string]string{"uid": o.Metadata.UID, "resourceVersion": o.Metadata.ResourceVersion},
	})
	return body
}

// deleted says what the answer to a delete means.
func (p *Provider) deleted(n name, a wire.Answer) (reconcile.Termination, error) {
	var o object
	err := p.client.Decode(a, &o)
	s := p.client.Said(a)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.Status == http.StatusConflict && strings.Contains(s.Text, "UID in the precondition"):
		return reconcile.TerminateChanged, nil
	case a.Status == http.StatusConflict:
		return "", fmt.Errorf("%w: %w", errMoved, err)
	case refused(a, s):
		return reconcile.TerminateRefused, errors.New(s.Text)
	case err != nil:
		return "", err
	case o.Kind == "Status":
		return p.deletedNow(n, a)
	case o.Metadata.UID != n.uid:
		return "", fmt.Errorf("the answer names uid %q", wire.Clip(o.Metadata.UID, 40))
	}
	return reconcile.TerminateAccepted, nil
}

// deletedNow is the answer of a cluster that does not show the object any more.
func (p *Provider) deletedNow(n name, a wire.Answer) (reconcile.Termination, error) {
	s := statusOf(a)
	if s.Status != "Success" || s.Details.UID != "" && s.Details.UID != n.uid {
		return "", fmt.Errorf("the answer to the delete says %s: %s", s.Status, wire.Clip(s.Message, 160))
	}
	return reconcile.TerminateDone, nil
}

// refused reports whether the cluster will not, in words, whoever asks: an admission rule
// denies it, or the object may not be deleted so.
func refused(a wire.Answer, s wire.Said) bool {
	switch a.Status {
	case http.StatusForbidden, http.StatusBadRequest:
		return strings.Contains(s.Text, "denied the request") || strings.Contains(s.Text, "denied request")
	case http.StatusUnprocessableEntity:
		return s.Text != ""
	}
	return false
}
