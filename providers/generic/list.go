package generic

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// List reads every page of every scope. It is not complete where the platform says that it
// left something out.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	var lacks []string
	out, err := p.base.List(ctx, yield, p.scopes(p.spec.calls["list"], vars{}, &lacks)...)
	out.OursOnly = true // whether the description asks for ours alone, only who wrote it knows
	if err == nil && len(lacks) > 0 {
		out.Complete, out.Missing = false, append(out.Missing, lacks...)
	}
	return out, err
}

// Find asks for the sandboxes of a task where that is described, else searches the list.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	what := "find"
	if p.spec.calls[what] == nil {
		what = "list"
	}
	return p.search(what, vars{"task": p.entry.Link.Value(task)}, func(read wire.ReadPage) ([]reconcile.Sandbox, error) {
		return p.base.Find(ctx, task, read)
	})
}

// Named searches the list for what rows hold that is no id.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	return p.search("list", vars{}, func(read wire.ReadPage) ([]reconcile.Sandbox, error) {
		return p.base.Named(ctx, value, nil, func(map[string]string) wire.ReadPage { return read })
	})
}

// search looks in all scopes. Where an answer lacks a part, what is looked for may be there.
func (p *Provider) search(what string, v vars, look func(wire.ReadPage) ([]reconcile.Sandbox, error)) (
	[]reconcile.Sandbox, error,
) {
	var lacks []string
	scopes := p.scopes(p.spec.calls[what], v, &lacks)
	read := scopes[0].Read
	if len(scopes) > 1 {
		read = wire.InTurn(scopes)
	}
	found, err := look(read)
	if err == nil && len(lacks) > 0 {
		err = p.base.Wrap("search", what, fmt.Errorf("the answer lacks %q", lacks))
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// scopes are the parts that are listed one by one.
func (p *Provider) scopes(c *call, v vars, lacks *[]string) []wire.Scope {
	var out []wire.Scope
	for _, name := range p.spec.pages.Scopes {
		of := maps.Clone(v)
		of["scope"] = name
		out = append(out, wire.Scope{Name: name, Read: p.pagesOf(c, of, lacks)})
	}
	if out == nil {
		out = append(out, wire.Scope{Read: p.pagesOf(c, v, lacks)})
	}
	return out
}

// pagesOf reads the pages of one listing, in the way in which the platform gives them.
func (p *Provider) pagesOf(c *call, v vars, lacks *[]string) wire.ReadPage {
	r := &reading{Provider: p, call: c, vars: v, lacks: lacks, met: map[string]bool{}}
	switch p.spec.pages.Paging {
	case "cursor":
		return r.byCursor
	case "link":
		return r.byLink
	case "page":
		return r.byNumber
	case "offset":
		return r.byOffset
	}
	return r.whole
}

// A reading is one listing under way.
type reading struct {
	*Provider
	call  *call
	vars  vars
	lacks *[]string

	met   map[string]bool // ids on the pages that were read
	last  []string        // ids on the last one of them
	step  int             // by so many the page before was overlapped
	links bool            // one of them had a Link header
}

// A sheet is one page as it came.
type sheet struct {
	wire.Page
	env  map[string]any
	url  string
	told bool  // its Link header tells of pages
	link error // its Link header is not understood
}

// fetch reads the page at a place: cursor, page or offset, or the link that leads to it.
func (r *reading) fetch(ctx context.Context, at vars, link string) (sheet, error) {
	v := vars{"limit": r.spec.pages.Size, "cursor": "", "page": 0, "offset": 0}
	maps.Copy(v, r.vars)
	maps.Copy(v, at)
	k, err := r.request(r.call, v)
	if link != "" {
		k, err = wire.Call{What: r.call.what, URL: link}, nil
	}
	if err != nil {
		return sheet{}, err
	}
	k.Max = wire.MaxPage
	a, err := r.client.Read(ctx, k)
	if err != nil {
		return sheet{}, err
	}
	in := r.spec.read(a)
	if err := r.sound(in, a); err != nil {
		return sheet{}, err
	}
	maps.Copy(in.env, at)
	out := sheet{env: in.env, url: k.URL, Page: wire.Page{Date: a.Date}}
	if r.spec.next == nil {
		out.Next, out.told, out.link = wire.NextLink(a.Header)
	}
	err = r.fill(&out)
	if words := r.client.APIError(a).Text; err != nil && words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return out, err
}

// fill reads the sandboxes of a page. A list that is null is empty where a plain path leads to
// it; what else comes to nothing is no list.
func (r *reading) fill(s *sheet) error {
	v, err := r.spec.items.Run(s.env)
	items, ok := v.([]any)
	if err == nil && !ok && (v != nil || !r.spec.items.Present(s.env)) {
		err = errors.New("the answer holds no list there")
	}
	if err != nil {
		return within("list.items", err)
	}
	s.env["count"] = len(items)
	s.Sandboxes = make([]reconcile.Sandbox, len(items))
	for i, item := range items {
		if s.Sandboxes[i], err = r.sandbox(item, s.Date); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return r.lacking(s)
}

// within says which key of the description an error met; nil stays nil.
func within(key string, err error) error {
	if err != nil {
		err = fmt.Errorf("read %s: %w", key, err)
	}
	return err
}

// lacking notes what the platform says that it left out.
func (r *reading) lacking(s *sheet) error {
	v, err := r.spec.lacking.Run(s.env)
	parts, list := v.([]any)
	if !list && v != nil && v != false && v != "" {
		parts = []any{v}
	}
	for _, part := range parts {
		name, _ := formula.Text(part)
		if name == "" || part == true {
			name = "a part that is not named"
		}
		*r.lacks = append(*r.lacks, text.Clip(name, 80))
	}
	return within("list.missing", err)
}

// more is whether there is a further page, where that is described.
func (r *reading) more(s *sheet) (more, said bool, err error) {
	v, err := r.spec.more.Run(s.env)
	more, truth := v.(bool)
	if r.spec.more != nil && err == nil && !truth {
		err = errors.New("it is neither true nor false")
	}
	return more, r.spec.more != nil, within("list.more", err)
}

// next is the next page as the answer names it, by the expression or else in the Link header,
// and whether it says anything of one.
func (r *reading) next(s *sheet) (next string, given bool, err error) {
	if r.spec.next == nil {
		return s.Next, s.told, nil
	}
	v, err := r.spec.next.Run(s.env)
	next, ok := formula.Text(v)
	switch {
	case err == nil && (!ok && v != nil || v == true):
		err = errors.New("it is neither a text nor a number")
	case v == false:
		next = ""
	}
	return next, r.spec.next.Speaks(s.env), within("list.next", err)
}
