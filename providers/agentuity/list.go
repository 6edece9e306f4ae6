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
)

// pageSize is the largest page that the API gives.
const pageSize = 100

// List reads every page of every region, oldest sandbox first. A region that cannot be read
// makes the listing incomplete. Where the entry names a project, only its sandboxes are asked
// for: the cost of a pass follows what is ours.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	places, err := p.named(ctx)
	if err != nil {
		return reconcile.Listing{Provider: p.entry.Name}, fmt.Errorf("list sandboxes of %s: regions: %w", p.entry.Name, err)
	}
	scopes := make([]wire.Scope, len(places))
	for i, r := range places {
		scopes[i] = wire.Scope{Name: r, Read: p.pages(r)}
	}
	return p.frame.List(ctx, yield, scopes...)
}

// Find finds none: a listing shows no metadata that could name a task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	return p.frame.Find(ctx, task, func(context.Context, string) (wire.Page, error) {
		return wire.Page{}, wire.Unable("a listing shows no metadata") // unreachable: New refuses such a link
	})
}

// named are the regions to ask, as the control plane names them now.
func (p *Provider) named(ctx context.Context) ([]string, error) {
	if len(p.regions) > 0 {
		return p.regions, nil
	}
	if !p.everywhere() {
		return []string{""}, nil
	}
	a, err := p.client.Read(ctx, wire.Call{What: "regions", URL: p.client.At("cli", "region")})
	if err != nil {
		return nil, err
	}
	in, err := open[[]struct {
		Region string `json:"region"`
	}](p, a)
	if err != nil {
		return nil, err
	}
	var all []string
	if old := p.known.Load(); old != nil {
		all = slices.Clone(*old) // one that is not named any more may still hold sandboxes
	}
	for _, r := range in.Data {
		if !region.MatchString(r.Region) {
			return nil, fmt.Errorf("the answer names region %q", wire.Clip(r.Region, 40))
		}
		all = append(all, r.Region)
	}
	if len(in.Data) == 0 {
		return nil, errors.New("the answer names no region; set region: in the provider's entry")
	}
	slices.Sort(all)
	all = slices.Compact(all)
	p.known.Store(&all)
	return all, nil
}

// places are the regions to ask, as they were named last.
func (p *Provider) places(ctx context.Context) ([]string, error) {
	if known := p.known.Load(); known != nil {
		return *known, nil
	}
	return p.named(ctx)
}

// A reader reads the pages of one region. They are counted by rows, so that who ends moves
// all that follow: each page begins with the last row of the one before, or we step back
// until one does.
type reader struct {
	*Provider
	region string
	met    map[string]bool
}

// pages reads the pages of a region's sandboxes. The cursor is the number of a row.
func (p *Provider) pages(place string) wire.ReadPage {
	r := &reader{Provider: p, region: place, met: map[string]bool{}}
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		from, _ := strconv.Atoi(cursor) // "" is the first; the others are our own
		rows, a, from, err := r.joined(ctx, from)
		if err != nil {
			return wire.Page{}, err
		}
		return r.page(rows, a, from)
	}
}

// A rowset is one page on the wire.
type rowset struct {
	Sandboxes []box `json:"sandboxes"`
	Total     *int  `json:"total"`
}

// joined reads rows that begin with one that was read before.
func (r *reader) joined(ctx context.Context, from int) (rowset, wire.Answer, int, error) {
	for back := 10; ; back *= 3 {
		rows, a, err := r.rows(ctx, from)
		if err != nil || from == 0 || len(rows.Sandboxes) > 0 && r.met[rows.Sandboxes[0].ID] {
			return rows, a, from, err
		}
		from = max(0, from-back) // so many may have ended since
	}
}

func (r *reader) rows(ctx context.Context, from int) (rowset, wire.Answer, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(from)}, "sort": {"created"},
		"direction": {"asc"}}
	if r.project != "" {
		query.Set("projectId", r.project)
	}
	rows, a, err := fetch[rowset](ctx, r.Provider, call{region: r.region, path: []string{"sandbox"}, query: query,
		Call: wire.Call{What: "list", Max: wire.MaxPage}})
	if err == nil && (rows.Sandboxes == nil || rows.Total == nil) {
		err = errors.New("the answer is no page: it lacks sandboxes or total")
	}
	return rows, a, err
}

// page is what the rows show. What has ended is left out: it may stand there for long.
func (r *reader) page(rows rowset, a wire.Answer, from int) (wire.Page, error) {
	out := wire.Page{Sandboxes: make([]reconcile.Sandbox, 0, len(rows.Sandboxes)), Date: a.Date}
	fresh := 0
	for i := range rows.Sandboxes {
		b := &rows.Sandboxes[i]
		if b.ID == "" {
			return wire.Page{}, fmt.Errorf("item %d has no id", i)
		}
		if r.met[b.ID] {
			continue
		}
		fresh++
		r.met[b.ID] = true
		if s := r.listed(b, a); s.State != reconcile.SandboxEnded {
			out.Sandboxes = append(out.Sandboxes, s)
		}
	}
	next := from + len(rows.Sandboxes)
	switch {
	case next < *rows.Total && fresh == 0, next >= *rows.Total && len(r.met) < *rows.Total:
		return wire.Page{}, fmt.Errorf("the listing shows %d sandboxes and says that there are %d", len(r.met), *rows.Total)
	case next < *rows.Total:
		out.Next = strconv.Itoa(next - 1)
	}
	return out, nil
}

// listed is a row. It is of the project that was asked for; a get shows whether that is so.
func (r *reader) listed(b *box, a wire.Answer) reconcile.Sandbox {
	if b.Project == nil && r.project != "" {
		b.Project = &named{ID: r.project}
	}
	b.Region = r.home(b.Region, r.region)
	return r.sandbox(b, a.Date)
}
