package vercel

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// pageSize is the largest page that the API gives.
const pageSize = 50

// How far back a listing looks for changes of state: always a little, and once an hour, or
// first of all, as far as a session can be alive without one. No plan lets one run for more
// than a day.
const (
	lately   = time.Hour
	farBack  = 25 * time.Hour
	farEvery = time.Hour
)

// List reads what runs, then what stops, then what changed its state recently. A session that
// changes its state while they are read stands in a later part, and pending ones, and those
// in states that the filter has no word for, stand in the last. Where a terminate deletes
// records, all records are read.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	if p.deletes {
		return p.base.List(ctx, yield, wire.Scope{Read: p.pages(byCreation())})
	}
	now, back := p.client.Now(), lately
	far := now.Unix()-p.swept.Load() >= int64(farEvery.Seconds())
	if far {
		back = farBack
	}
	listing, err := p.base.List(ctx, yield,
		wire.Scope{Name: running, Read: p.pages(withStatus(running))},
		wire.Scope{Name: stopping, Read: p.pages(withStatus(stopping))},
		wire.Scope{Name: "recently changed", Read: p.changed(back)})
	if err == nil && listing.Complete && far {
		p.swept.Store(now.Unix())
	}
	return listing, err
}

// Find asks for the sandboxes whose link label names the task. The API filters by one tag.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	return p.base.Find(ctx, task, p.pages(withTag(p.entry.Link.TaskLabel, p.entry.Link.Value(task))))
}

func withTag(key, value string) url.Values {
	query := byCreation()
	query.Set("tags", key+":"+value)
	return query
}

// byCreation is the order that does not move while it is read.
func byCreation() url.Values { return url.Values{"sortBy": {"createdAt"}, "sortOrder": {"asc"}} }

func withStatus(status string) url.Values {
	query := byCreation()
	query.Set("status", status)
	return query
}

// pages reads the sandboxes that a query asks for, without those that are over.
func (p *Provider) pages(query url.Values) wire.ReadPage {
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		out, _, err := p.page(ctx, query, cursor)
		return out, err
	}
}

// changed reads the sandboxes whose state changed recently, latest first, as far back as is
// asked for by the provider's clock.
func (p *Provider) changed(back time.Duration) wire.ReadPage {
	query := url.Values{"sortBy": {"statusUpdatedAt"}, "sortOrder": {"desc"}}
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		out, oldest, err := p.page(ctx, query, cursor)
		if err == nil && !oldest.IsZero() && oldest.Before(out.Date.Add(-back)) {
			out.Next = ""
		}
		return out, err
	}
}

// page reads one page, and says when the state of its last record changed.
func (p *Provider) page(ctx context.Context, query url.Values, cursor string) (
	out wire.Page, last time.Time, err error,
) {
	query = maps.Clone(query)
	query.Set("project", p.project)
	query.Set("limit", strconv.Itoa(pageSize))
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	var in page
	a, err := wire.List(ctx, p.client, p.at(query), &in)
	switch {
	case err != nil:
		return out, last, err
	case in.Items == nil || in.Paging == nil:
		return out, last, errors.New("the answer is no page: it lacks sandboxes or pagination")
	case len(in.Items) > 0:
		last = in.Items[len(in.Items)-1].since().time()
	}
	out, err = wire.PageOf(a, in.Paging.Next, in.Items, func(r *record) reconcile.Sandbox {
		if r.Name == "" {
			return reconcile.Sandbox{} // neither can be done without
		}
		return p.sandbox(r, a.Date)
	})
	return out.Alive(), last, err
}
