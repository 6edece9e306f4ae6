package cloudflare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Get reads one sandbox by id: its record and its container. Gone is what has neither.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.frame.Get(ctx, id, func(ctx context.Context, id string) (reconcile.Sandbox, error) {
		s, _, err := p.look(ctx, id)
		return s, err
	})
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, pair, error) {
	of, asOf, err := p.pair(ctx, id)
	if err != nil {
		return reconcile.Sandbox{}, of, err
	}
	s := p.sandbox(of, asOf)
	if s.ID != id { // asked by its object's id, as before there was a Worker
		s.ID = id
		p.entry.Mark(&s)
	}
	return s, of, nil
}

// pair reads what there is of a sandbox, the record first.
func (p *Provider) pair(ctx context.Context, id string) (of pair, asOf time.Time, err error) {
	if p.worker == nil {
		of.instance, asOf, err = p.instanceOf(ctx, id, nil)
		return of, asOf, err
	}
	var a wire.Answer
	of.record, a, err = p.record(ctx, id)
	of.blind = p.control == nil
	if of.blind || err != nil && !errors.Is(err, reconcile.ErrNotFound) {
		return of, a.Date, err
	}
	of.instance, asOf, err = p.instanceOf(ctx, id, of.record)
	switch {
	case err == nil && of.record == nil && of.instance.Name != "" && of.instance.Name != id:
		of.record, a, err = p.record(ctx, of.instance.Name)
		if errors.Is(err, reconcile.ErrNotFound) {
			err = nil
		}
	case of.record != nil && errors.Is(err, reconcile.ErrNotFound):
		// Asked for by name, it may be one that does not tell its name.
		err = nil
		if of.record.Actor == "" {
			of.blind, err = p.nameless(ctx)
		}
	}
	if !a.Date.IsZero() {
		asOf = a.Date
	}
	return of, asOf, err
}

// Terminate asks the Worker to end the sandbox: its container, if there is one, and its
// record. That repairs a record without a container as well. It looks first, and leaves
// alone what was created anew under the same id.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	var of pair
	look := func(ctx context.Context, id string) (s reconcile.Sandbox, err error) {
		s, of, err = p.look(ctx, id)
		if err == nil && !expected.CreatedAt.IsZero() && s.CreatedAt.After(expected.CreatedAt.Add(time.Second)) {
			err = fmt.Errorf("%w: created anew at %s", wire.ErrAnother, s.CreatedAt.Format(time.RFC3339))
		}
		return s, err
	}
	return p.frame.Terminate(ctx, expected, look,
		func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			if of.record == nil {
				return p.kill(ctx, of.instance)
			}
			return p.end(ctx, of)
		})
}

// end asks the Worker once. That it took the request is no proof: the next look is.
func (p *Provider) end(ctx context.Context, of pair) (reconcile.Termination, error) {
	a, err := p.worker.Once(ctx, wire.Call{What: "delete", Method: http.MethodDelete, URL: p.worker.At(of.record.ID)})
	if err != nil {
		return "", err
	}
	err = p.worker.Refuse(a)
	switch {
	case a.OK() && strings.Contains(a.Header.Get("Content-Type"), "html"):
		return "", fmt.Errorf("%w: a page, where the Worker should be", wire.ErrNotAPI)
	case a.OK(), a.Status == http.StatusConflict: // is being ended already
		return reconcile.TerminateAccepted, nil
	case errors.Is(err, reconcile.ErrNotFound) && of.instance != nil:
		return p.kill(ctx, of.instance)
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.Status == http.StatusBadRequest, a.Status == http.StatusMethodNotAllowed,
		a.Status == http.StatusUnprocessableEntity:
		return reconcile.TerminateRefused, err
	}
	return "", err
}

// notEnabled is how the control plane refuses the calls on instances that it does not offer
// to everybody.
const notEnabled = "not enabled for this application"

// kill ends a container that no Worker has a record of, where the entry says that the control
// plane can: a call that the vendor enables for some accounts.
func (p *Provider) kill(ctx context.Context, i *instance) (reconcile.Termination, error) {
	if p.entry.Extra[keyInstances] != "true" {
		why := "the control plane ends no containers; give worker_url, or instance_api where the vendor enabled it"
		if p.worker != nil {
			why = "the Worker has no record of this container; end it there, or give instance_api where the vendor enabled it"
		}
		return reconcile.TerminateRefused, wire.Unable(why)
	}
	a, err := p.control.Once(ctx, wire.Call{What: "delete", Method: http.MethodDelete, URL: p.app("instances", i.ID)})
	if err != nil {
		return "", err
	}
	var in envelope[any]
	err = p.control.Decode(a, &in)
	switch {
	case a.Status == http.StatusBadRequest && strings.Contains(cmp.Or(err, errNoResult).Error(), notEnabled):
		return reconcile.TerminateRefused, wire.Unable(err.Error())
	case errors.Is(err, reconcile.ErrNotFound):
		return "", p.gone(ctx, err)
	case err == nil && !in.Success:
		return "", errNoResult
	case err != nil:
		return "", err
	}
	return reconcile.TerminateAccepted, nil
}
