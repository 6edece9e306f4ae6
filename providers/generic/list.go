package generic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// List reads every page of every scope. It is not complete where the platform says that it
// left something out.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	var lacks []string
	out, err := p.frame.List(ctx, yield, p.scopes(p.spec.list, vars{}, &lacks)...)
	if err == nil && len(lacks) > 0 {
		out.Complete, out.Missing = false, append(out.Missing, lacks...)
	}
	return out, err
}

// Find asks for the sandboxes of a task where that is described, else searches the list.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	c := p.spec.find
	if c == nil {
		c = p.spec.list
	}
	var found []reconcile.Sandbox
	var lacks []string
	for _, scope := range p.scopes(c, vars{"task": task}, &lacks) {
		some, err := p.frame.Find(ctx, task, scope.Read)
		if err == nil && len(lacks) > 0 {
			err = fmt.Errorf("find sandboxes of task %s at %s: the answer lacks %q", task, p.entry.Name, lacks)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
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

	met  map[string]bool // ids on the pages that were read
	last []string        // ids on the last one of them
	step int             // by so many the page before was overlapped
}

// A sheet is one page as it came.
type sheet struct {
	wire.Page
	env map[string]any
	url string
}

// fetch reads the page at a place: cursor, page or offset.
func (r *reading) fetch(ctx context.Context, at vars) (sheet, error) {
	v := vars{"limit": r.spec.pages.Size, "cursor": "", "page": 0, "offset": 0}
	maps.Copy(v, r.vars)
	maps.Copy(v, at)
	k, err := r.request(r.call, v)
	if err != nil {
		return sheet{}, err
	}
	return r.fetchBy(ctx, k, at)
}

func (r *reading) fetchBy(ctx context.Context, k wire.Call, at vars) (sheet, error) {
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
		out.Next = linked(a.Header)
	}
	return out, r.fill(&out)
}

// fill reads the sandboxes of a page. A list that is null is empty, one that is not there is
// no list.
func (r *reading) fill(s *sheet) error {
	v, err := r.spec.items.Run(s.env)
	items, ok := v.([]any)
	if err == nil && !ok && (v != nil || !r.spec.items.Present(s.env)) {
		err = errors.New("the answer holds no list there")
	}
	if err != nil {
		return fmt.Errorf("read list.items: %w", err)
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

// lacking notes what the platform says that it left out.
func (r *reading) lacking(s *sheet) error {
	v, err := r.spec.lacking.Run(s.env)
	if err != nil {
		return fmt.Errorf("read list.missing: %w", err)
	}
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			name, _ := formula.Text(item)
			*r.lacks = append(*r.lacks, wire.Clip(name, 80))
		}
	case bool:
		if v {
			*r.lacks = append(*r.lacks, "a part that is not named")
		}
	default:
		if name, ok := formula.Text(v); name != "" || !ok {
			*r.lacks = append(*r.lacks, wire.Clip(cmp.Or(name, "a part that is not named"), 80))
		}
	}
	return nil
}

// more is whether there is a further page, where that is described.
func (r *reading) more(s *sheet) (more, said bool, err error) {
	if r.spec.more == nil {
		return false, false, nil
	}
	v, err := r.spec.more.Run(s.env)
	more, ok := v.(bool)
	if err == nil && !ok {
		err = errors.New("it is neither true nor false")
	}
	if err != nil {
		return false, true, fmt.Errorf("read list.more: %w", err)
	}
	return more, true, nil
}

func (r *reading) whole(ctx context.Context, _ string) (wire.Page, error) {
	s, err := r.fetch(ctx, vars{})
	if err == nil {
		err = r.alone(&s)
	}
	s.Next = ""
	return s.Page, err
}

// alone refuses a page that is to be the only one and tells of a further one, or is as full as
// was asked for: the rest would be taken for gone.
func (r *reading) alone(s *sheet) error {
	next, _, err := r.named(s)
	if err != nil {
		return fmt.Errorf("read list.next: %w", err)
	}
	more, _, err := r.more(s)
	size := r.spec.pages.Size
	limited := size > 0 && r.call.address.Has("limit")
	switch {
	case err != nil:
		return err
	case next != "" || more:
		return errors.New("the answer tells of a further page: give list.paging")
	case limited && len(s.Sandboxes) >= size:
		return errors.New("the page is full, and no other is asked for: give list.paging")
	}
	return nil
}

func (r *reading) byCursor(ctx context.Context, cursor string) (wire.Page, error) {
	s, err := r.fetch(ctx, vars{"cursor": cursor})
	if err == nil {
		s.Next, err = r.next(&s)
	}
	return s.Page, err
}

// byLink follows links. The address of the first page is described, the others' come from
// the platform, and stay on its host.
func (r *reading) byLink(ctx context.Context, link string) (wire.Page, error) {
	var s sheet
	var err error
	if link == "" {
		s, err = r.fetch(ctx, vars{})
	} else {
		s, err = r.fetchBy(ctx, wire.Call{What: r.call.what, Method: http.MethodGet, URL: link}, vars{})
	}
	if err != nil {
		return s.Page, err
	}
	next, err := r.next(&s)
	if s.Next = next; err == nil && next != "" {
		s.Next, err = sameHost(s.url, next)
	}
	return s.Page, err
}

// next is the cursor or link that a page names. A full page without the field was cut off
// by somebody, or the expression is wrong.
func (r *reading) next(s *sheet) (string, error) {
	next, given, err := r.named(s)
	if err != nil {
		return "", fmt.Errorf("read list.next: %w", err)
	}
	more, said, err := r.more(s)
	switch {
	case err != nil, said && !more:
		return "", err
	case said && next == "":
		return "", errors.New("the answer says that there are more and names no next page")
	case next == "" && !said && len(s.Sandboxes) >= r.spec.pages.Size && !given:
		return "", errors.New("the page is full and says nothing of a next one: is list.next right?")
	}
	return next, nil
}

// named is the next page as the answer names it, by the expression or else in the Link
// header, and whether it says anything of one.
func (r *reading) named(s *sheet) (next string, given bool, err error) {
	if r.spec.next == nil {
		headers, _ := s.env["headers"].(map[string]any)
		_, given = headers["link"]
		return s.Next, given, nil
	}
	v, err := r.spec.next.Run(s.env)
	next, ok := formula.Text(v)
	switch {
	case err != nil:
		return "", false, err
	case !ok && v != nil, v == true:
		return "", false, errors.New("it is neither a text nor a number")
	case v == false:
		next = ""
	}
	return next, r.spec.next.Present(s.env), nil
}

func ids(boxes []reconcile.Sandbox) []string {
	out := make([]string, len(boxes))
	for i := range boxes {
		out[i] = boxes[i].ID
	}
	return out
}

// meet remembers what stood on a page and counts what is new.
func (r *reading) meet(boxes []reconcile.Sandbox) (fresh int) {
	for i := range boxes {
		if !r.met[boxes[i].ID] {
			r.met[boxes[i].ID] = true
			fresh++
		}
	}
	return fresh
}

// knows reports whether anything on the page was met before.
func (r *reading) knows(boxes []reconcile.Sandbox) bool {
	return slices.ContainsFunc(boxes, func(b reconcile.Sandbox) bool { return r.met[b.ID] })
}
