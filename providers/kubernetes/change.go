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
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Terminate deletes the object, if uid and version are still those that were looked at
// right before. A claim's sandbox and Pod go with it. It never deletes by force: a Pod whose
// node does not answer stays, and is reported. An error without a termination means that
// nobody knows whether it was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	var seen object
	return p.base.Terminate(ctx, expected, p.look(&seen),
		func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			return p.end(ctx, &seen, now)
		})
}

func (p *Provider) end(ctx context.Context, o *object, now reconcile.Sandbox) (reconcile.Termination, error) {
	n, err := parseID(now.ID)
	if err != nil {
		return "", err
	}
	if by := o.controller(); by != nil && !(o.survives && by.UID == o.claim()) {
		if p.through && n.kind.word == pods.word {
			return p.endThrough(ctx, n, by)
		}
		return reconcile.TerminateRefused, fmt.Errorf("%s %s controls it and would make it again: terminate that",
			by.Kind, by.Name)
	}
	if o.apart(n.kind) {
		return reconcile.TerminateRefused, errors.New("it belongs to a warm pool or to a claim")
	}
	var after object
	a, err := p.client.Ask(ctx, wire.Call{What: "delete " + n.word, Method: http.MethodDelete,
		URL: p.at(n.kind, n.namespace, n.name), Body: deleteOptions(n.kind, o)}, &after)
	if err != nil {
		return p.undeleted(a, err)
	}
	return deleted(n, a, &after)
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

// undeleted says what the answer to a delete means that is no success.
func (p *Provider) undeleted(a wire.Answer, err error) (reconcile.Termination, error) {
	switch s := p.client.APIError(a); {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.Status == http.StatusConflict && strings.Contains(s.Text, "UID in the precondition"):
		return reconcile.TerminateChanged, nil
	case a.Status == http.StatusConflict:
		// As every report of a node makes it do. Whoever asked reads the task's row again as well.
		return "", wire.Held(fmt.Errorf("it changed since it was looked at: %w", err))
	case refused(a, s):
		return reconcile.TerminateRefused, errors.New(s.Text)
	}
	return "", err
}

// deleted tells what still ends from what the cluster does not show any more: of that it gives
// a Status.
func deleted(n name, a wire.Answer, after *object) (reconcile.Termination, error) {
	s := statusOf(a)
	switch {
	case after.Kind != "Status" && after.Metadata.UID == n.uid:
		return reconcile.TerminateAccepted, nil
	case after.Kind != "Status":
		return "", fmt.Errorf("the answer names uid %q", text.Clip(after.Metadata.UID, 40))
	case s.Status == "Success" && (s.Details.UID == "" || s.Details.UID == n.uid):
		return reconcile.TerminateDone, nil
	}
	return "", fmt.Errorf("the answer to the delete says %s: %s", s.Status, text.Clip(s.Message, 160))
}

// refused reports whether the cluster will not, in words, whoever asks: an admission rule
// denies it, or the object may not be deleted so.
func refused(a wire.Answer, s wire.APIError) bool {
	switch a.Status {
	case http.StatusForbidden, http.StatusBadRequest:
		return strings.Contains(s.Text, "denied the request") || strings.Contains(s.Text, "denied request")
	case http.StatusUnprocessableEntity:
		return s.Text != ""
	}
	return false
}
