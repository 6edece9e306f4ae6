package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// pageSize is the largest page that both halves document: the Worker's contract, and the
// vendor for the listing before this one. A control plane that refuses it is asked for pages
// of its own size.
const pageSize = 1000

// errNoResult is an answer that says well and holds nothing.
var errNoResult = errors.New("the answer is no result: it lacks success or result")

// app is the address of the application, and of what is below it.
func (p *Provider) app(parts ...string) string {
	return p.control.At(append([]string{"accounts", p.entry.Extra[keyAccount], "containers", "applications",
		p.entry.Extra[keyApplication]}, parts...)...)
}

// certainControl believes a 404 that comes from the API and not from its router. Whether the
// application is there is asked besides: see gone.
func certainControl(a wire.Answer, s wire.Said) bool {
	return s.Field == "errors" && s.Code != "7000" && s.Code != "7003"
}

// shown is a page of instances and where the next one is.
type shown struct {
	instances []instance
	answer    wire.Answer
	next      string
}

// instances reads one page of all states: some belong neither to the vendor's "active" nor to
// its "not-active".
func (p *Provider) instances(ctx context.Context, prefix, cursor string) (shown, error) {
	query := url.Values{}
	if !p.modest.Load() {
		query.Set("per_page", strconv.Itoa(pageSize))
	}
	if prefix != "" {
		query.Set("name_prefix", prefix)
	}
	if cursor != "" {
		query.Set("page_token", cursor)
	}
	a, err := p.control.Read(ctx, wire.Call{What: "instances", URL: p.app("instances-v2") + "?" + query.Encode(),
		Max: wire.MaxPage})
	if err != nil {
		return shown{}, err
	}
	if a.Status == http.StatusBadRequest && query.Has("per_page") && cursor == "" {
		p.modest.Store(true)
		return p.instances(ctx, prefix, "")
	}
	var in envelope[[]instance]
	if err := wire.DecodePage(p.control, a, &in); err != nil {
		return shown{}, err
	}
	if !in.Success || in.Result == nil {
		return shown{}, errNoResult
	}
	for i := range in.Result {
		if in.Result[i].ID == "" {
			return shown{}, fmt.Errorf("item %d has no id", i)
		}
	}
	return shown{in.Result, a, in.Info.Next}, nil
}

// instance reads one by the id of its Durable Object.
func (p *Provider) instance(ctx context.Context, id string) (*instance, wire.Answer, error) {
	var in envelope[instance]
	a, err := p.control.Get(ctx, wire.Call{What: "instance", URL: p.app("instances", id)}, &in)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return nil, a, p.gone(ctx, err)
	case err != nil:
		return nil, a, err
	case !in.Success || in.Result.ID == "":
		return nil, a, errNoResult
	case !strings.EqualFold(in.Result.ID, id):
		return nil, a, fmt.Errorf("the answer is another instance: %s", wire.Clip(in.Result.ID, 80))
	}
	return &in.Result, a, nil
}

// gone makes sure that it was the instance that was not found, and not its application: of
// an application that is not there, or not seen with this token, nothing is known.
func (p *Provider) gone(ctx context.Context, notFound error) error {
	_, _, err := p.application(ctx)
	switch {
	case errors.Is(err, reconcile.ErrNotFound): // not wrapped: it is not the instance's
		return fmt.Errorf("neither the instance nor its application was found: %s", err.Error())
	case err != nil:
		return fmt.Errorf("the instance was not found; see whether its application is: %w", err)
	}
	return notFound
}

// instanceOf reads the one that belongs to a record, or that a sandbox's id names. Whether
// one that was not found may yet be there without its name is told besides.
func (p *Provider) instanceOf(ctx context.Context, id string, r *record) (i *instance, asOf time.Time, err error) {
	switch {
	case r != nil && r.Actor != "":
		i, a, err := p.instance(ctx, r.Actor)
		return i, a.Date, err
	case r == nil && isObject(id):
		i, a, err := p.instance(ctx, id)
		return i, a.Date, err
	}
	err = p.eachInstance(ctx, id, func(one *instance, date time.Time) {
		asOf = date
		if one.Name == id {
			i = one
		}
	})
	if err == nil && i == nil {
		err = fmt.Errorf("%w: no instance has that name", reconcile.ErrNotFound)
	}
	return i, asOf, err
}

// nameless reports whether there is a container without a name: it may be anybody's.
func (p *Provider) nameless(ctx context.Context) (found bool, err error) {
	err = p.eachInstance(ctx, "", func(i *instance, _ time.Time) { found = found || i.nameless() })
	return found, err
}

func (p *Provider) eachInstance(ctx context.Context, prefix string, visit func(*instance, time.Time)) error {
	return wire.EachPage(ctx, func(ctx context.Context, cursor string) (wire.Page, error) {
		page, err := p.instances(ctx, prefix, cursor)
		for i := range page.instances {
			visit(&page.instances[i], page.answer.Date)
		}
		return wire.Page{Next: page.next}, err
	}, func(wire.Page) error { return nil })
}

// isObject reports whether an id is that of a Durable Object.
func isObject(id string) bool {
	return len(id) == 64 && strings.Trim(id, "0123456789abcdefABCDEF") == ""
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

func (p *Provider) application(ctx context.Context) (application, wire.Answer, error) {
	var in envelope[application]
	a, err := p.control.Get(ctx, wire.Call{What: "application", URL: p.app()}, &in)
	if err == nil && (!in.Success || in.Result.ID == "") {
		err = errNoResult
	}
	return in.Result, a, err
}
