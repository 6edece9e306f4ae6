package agentuity

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// pageSize is the largest page that the API gives.
const pageSize = 100

// List reads every page of every region, oldest sandbox first. A region that cannot be read
// makes the listing incomplete. Where the entry names a project, only its sandboxes are asked
// for: the cost of a pass follows what is ours. With a sandbox goes what is remembered of it.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	places, err := p.named(ctx)
	if err != nil {
		return reconcile.Listing{Provider: p.entry.Name}, p.base.Wrap("list", "sandboxes", err)
	}
	gone := map[any]bool{}
	p.waiting.Range(func(id, _ any) bool { gone[id] = true; return true })
	listing, err := p.base.List(ctx, func(page []reconcile.Sandbox) error {
		for i := range page {
			delete(gone, page[i].ID)
		}
		return yield(page)
	}, p.scopes(places)...)
	if listing.Complete {
		for id := range gone {
			p.waiting.Delete(id)
		}
	}
	return listing, err
}

// scopes are the regions, each listed by itself.
func (p *Provider) scopes(places []string) []wire.Scope {
	out := make([]wire.Scope, len(places))
	for i, place := range places {
		out[i] = wire.Scope{Name: place, Read: p.reader(place).page}
	}
	return out
}

// Named reads the sandboxes that rows name by name.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	places, err := p.named(ctx)
	if err != nil {
		return nil, p.base.Wrap("find sandbox", value, err)
	}
	return p.base.Named(ctx, value, nil, func(map[string]string) wire.ReadPage { return wire.InTurn(p.scopes(places)) })
}

// Find finds none: a listing shows no metadata that could name a task.
func (*Provider) Find(context.Context, string) ([]reconcile.Sandbox, error) { return nil, nil }

// named are the regions to ask, as the control plane names them now.
func (p *Provider) named(ctx context.Context) ([]string, error) {
	if len(p.regions) > 0 {
		return p.regions, nil
	}
	in, _, err := ask[[]struct {
		Region string `json:"region"`
	}](ctx, p, &call{Call: wire.Call{What: "regions", URL: p.client.At("cli", "region")}})
	switch {
	case errors.Is(err, reconcile.ErrUnauthorized):
		return nil, fmt.Errorf("regions, which only a CLI key may ask for; with another name them in region: %w", err)
	case err != nil:
		return nil, fmt.Errorf("regions: %w", err)
	case len(in.Data) == 0:
		return nil, errors.New("the answer names no region; set region: in the provider's entry")
	}
	var all []string
	if old := p.known.Load(); old != nil {
		all = slices.Clone(*old) // one that is not named any more may still hold sandboxes
	}
	for _, r := range in.Data {
		if !region.MatchString(r.Region) {
			return nil, fmt.Errorf("the answer names region %q", text.Clip(r.Region, 40))
		}
		all = append(all, r.Region)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	p.known.Store(&all)
	return all, nil
}

// anywhere asks one region after the other, as they were named last, until one has what is
// looked for. It is gone only when each of them is certain of it; one that is out of order
// hides nothing of the others.
func (p *Provider) anywhere(ctx context.Context, look func(place string) error) error {
	var places []string
	var err, unknown error
	if known := p.known.Load(); known != nil {
		places = *known
	} else if places, err = p.named(ctx); err != nil {
		return err
	}
	for _, place := range places {
		if err = look(place); err == nil {
			return nil
		}
		if unknown == nil && !errors.Is(err, reconcile.ErrNotFound) {
			unknown = err
		}
	}
	if unknown != nil {
		return unknown
	}
	return err
}

// A reader reads the pages of one region. They are counted by rows, so that who ends moves
// all that follow: each page begins with the last row of the one before, or we step back
// until one does.
type reader struct {
	*Provider
	region string
	met    map[string]bool

	rows   []box // that were read last
	total  int
	answer wire.Answer
}

func (p *Provider) reader(place string) *reader {
	return &reader{Provider: p, region: place, met: map[string]bool{}}
}

// page reads a page. The cursor is the number of a row.
func (r *reader) page(ctx context.Context, cursor string) (wire.Page, error) {
	from, _ := strconv.Atoi(cursor) // "" is the first; the others are our own
	from, err := r.joined(ctx, from)
	if err != nil {
		return wire.Page{}, err
	}
	before := len(r.met)
	out, err := wire.PageOf(r.answer, "", r.rows, func(b *box) reconcile.Sandbox {
		r.met[b.ID] = true
		b.Region = r.home(b.Region, r.region)
		if b.Project == nil && r.project != "" {
			b.Project = &named{ID: r.project} // which was asked for; a get shows whether that is so
		}
		return r.sandbox(b, r.answer.Date)
	})
	next := from + len(r.rows)
	switch {
	case err != nil:
	case next < r.total && len(r.met) == before, next >= r.total && len(r.met) < r.total:
		err = fmt.Errorf("the listing shows %d sandboxes and says that there are %d", len(r.met), r.total)
	case next < r.total:
		out.Next = strconv.Itoa(next - 1)
	}
	return out.Alive(), err // what has ended may stand there for long
}

// joined reads rows that begin with one that was read before, and says which row that is.
func (r *reader) joined(ctx context.Context, from int) (int, error) {
	for back := 10; ; back *= 3 {
		err := r.read(ctx, from)
		if err != nil || from == 0 || len(r.rows) > 0 && r.met[r.rows[0].ID] {
			return from, err
		}
		from = max(0, from-back) // so many may have ended since
	}
}

func (r *reader) read(ctx context.Context, from int) error {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(from)}, "sort": {"created"},
		"direction": {"asc"}}
	if r.project != "" {
		query.Set("projectId", r.project)
	}
	c := r.at(r.region, "list", query, "sandbox")
	c.Max = wire.MaxPage
	in, a, err := ask[struct {
		Sandboxes []box `json:"sandboxes"`
		Total     *int  `json:"total"`
	}](ctx, r.Provider, c)
	switch {
	case err != nil:
		return err
	case in.Data.Sandboxes == nil || in.Data.Total == nil:
		return errors.New("the answer is no page: it lacks sandboxes or total")
	}
	r.rows, r.total, r.answer = in.Data.Sandboxes, *in.Data.Total, a
	return nil
}
