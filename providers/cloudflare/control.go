package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// pageSize is the largest page that both halves document: the Worker's contract, and the
// vendor for the listing before this one. A control plane that refuses it is asked for pages
// of its own size.
const pageSize = 1000

// errNoResult is an answer that says well and holds nothing.
var errNoResult = errors.New("the answer is no result: it lacks success or result")

// A control is the vendor's control plane, as one application sees it.
type control struct {
	*wire.Client
	account, application string
	kills                bool        // it may end containers
	modest               atomic.Bool // it refuses our page size
}

// app is the address of the application, and of what is below it.
func (c *control) app(parts ...string) string {
	return c.At(append([]string{"accounts", c.account, "containers", "applications", c.application}, parts...)...)
}

// certainControl believes a 404 that comes from the API and not from its router. Whether the
// application is there is asked besides: see gone.
func certainControl(a wire.Answer, s wire.APIError) bool {
	return s.Field == "errors" && s.Code != "7000" && s.Code != "7003"
}

// pages reads the containers whose names begin so, of all states: some belong neither to the
// vendor's "active" nor to its "not-active".
func (c *control) pages(prefix string) readPart {
	return func(ctx context.Context, cursor string) (part, error) {
		query := url.Values{"name_prefix": {prefix}, "page_token": {cursor}, "per_page": {strconv.Itoa(pageSize)}}
		if c.modest.Load() {
			query.Del("per_page")
		}
		maps.DeleteFunc(query, func(_ string, values []string) bool { return values[0] == "" })
		var in envelope[[]instance]
		a, err := wire.List(ctx, c.Client, c.app("instances-v2")+"?"+query.Encode(), &in)
		switch {
		case a.Status == http.StatusBadRequest && query.Has("per_page") && cursor == "":
			c.modest.Store(true)
			return c.pages(prefix)(ctx, "")
		case err == nil && (!in.Success || in.Result == nil):
			err = errNoResult
		}
		return partOf(a, err, in.Info.Next, in.Result, func(i *instance) (pair, string) { return pair{instance: i}, i.ID })
	}
}

// result reads a thing that the control plane has.
func result[T any](ctx context.Context, c *control, what, address string) (T, time.Time, error) {
	var in envelope[T]
	a, err := c.Get(ctx, wire.Call{What: what, URL: address}, &in)
	if err == nil && !in.Success {
		err = errNoResult
	}
	return in.Result, a.Date, err
}

// one reads a container by the id of its Durable Object.
func (c *control) one(ctx context.Context, id string) (*instance, time.Time, error) {
	i, asOf, err := result[instance](ctx, c, "instance", c.app("instances", id))
	switch {
	case err != nil:
		return nil, asOf, c.gone(ctx, err)
	case i.ID == "":
		return nil, asOf, errNoResult
	case !strings.EqualFold(i.ID, id):
		return nil, asOf, fmt.Errorf("the answer is another instance: %s", text.Clip(i.ID, 80))
	}
	return &i, asOf, nil
}

// gone makes sure that it was the instance that was not found, and not its application: of
// an application that is not there, or not seen with this token, nothing is known.
func (c *control) gone(ctx context.Context, notFound error) error {
	if !errors.Is(notFound, reconcile.ErrNotFound) {
		return notFound
	}
	_, err := c.read(ctx)
	switch {
	case errors.Is(err, reconcile.ErrNotFound): // not wrapped: it is not the instance's
		return fmt.Errorf("neither the instance nor its application was found: %s", err.Error())
	case err != nil:
		return fmt.Errorf("the instance was not found; see whether its application is: %w", err)
	}
	return notFound
}

// isObject reports whether an id is that of a Durable Object.
func isObject(id string) bool {
	return len(id) == 64 && strings.Trim(id, "0123456789abcdefABCDEF") == ""
}

// find reads the container that belongs to a record, or that a sandbox's id names.
func (c *control) find(ctx context.Context, id string, r *record) (i *instance, asOf time.Time, err error) {
	switch {
	case r != nil && r.Actor != "":
		return c.one(ctx, r.Actor)
	case r == nil && isObject(id):
		return c.one(ctx, id)
	}
	err = each(ctx, c.pages(id), func(of pair, date time.Time) {
		if asOf = date; of.instance.Name == id {
			i = of.instance
		}
	})
	if err == nil && i == nil {
		err = fmt.Errorf("%w: no instance has that name", reconcile.ErrNotFound)
	}
	return i, asOf, err
}

type application struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Max    float64 `json:"max_instances"`
	Health struct {
		Instances struct {
			Active   float64 `json:"active"`
			Assigned float64 `json:"assigned"`
		} `json:"instances"`
	} `json:"health"`
}

// running is about how many containers run for objects.
func (a application) running() float64 {
	return a.Health.Instances.Active + a.Health.Instances.Assigned
}

// read reads the application.
func (c *control) read(ctx context.Context) (application, error) {
	app, _, err := result[application](ctx, c, "application", c.app())
	if err == nil && app.ID == "" {
		err = errNoResult
	}
	return app, err
}

// notEnabled is how the control plane refuses the calls on instances that it does not offer
// to everybody.
const notEnabled = "not enabled for this application"

// notTerminable says why a container without a record cannot be ended; "" where it can.
func (p *Provider) notTerminable() string {
	const otherwise = "end it there, or give instance_api where the vendor enabled it"
	switch {
	case p.control == nil || p.control.kills:
		return ""
	case p.worker == nil:
		return "the control plane ends no containers: give worker_url, " + otherwise
	}
	return "the control plane ends no containers, and the Worker has no record of this one: " + otherwise
}

// kill ends a container that no Worker has a record of, by a call that the vendor enables for
// some accounts.
func (c *control) kill(ctx context.Context, i *instance) (reconcile.Termination, error) {
	var in envelope[any]
	a, err := c.Ask(ctx, wire.Call{What: "delete", Method: http.MethodDelete, URL: c.app("instances", i.ID)}, &in)
	switch {
	case a.Status == http.StatusBadRequest && strings.Contains(err.Error(), notEnabled):
		return reconcile.TerminateRefused, wire.Unable(err.Error())
	case err != nil:
		return "", c.gone(ctx, err)
	case !in.Success:
		return "", errNoResult
	}
	return reconcile.TerminateAccepted, nil
}
