package daytona

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"

	fastjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// maxPages bounds a listing: 400,000 sandboxes.
const maxPages = 2000

// List reads every page, oldest sandbox first, so that nothing moves between pages while
// they are read. Where labels prove the ownership, only sandboxes with these labels are
// asked for: the cost of a pass follows what is ours.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	out := reconcile.Listing{Provider: p.entry.Name}
	err := p.pages(ctx, p.entry.Owns.Labels, func(one listed) error {
		if out.Date.IsZero() {
			out.Date = one.from.date
		}
		return yield(one.sandboxes)
	})
	if err != nil {
		return out, fmt.Errorf("list sandboxes of %s: %w", p.entry.Name, err)
	}
	out.Complete = true
	return out, nil
}

// Find asks for the sandboxes whose link label names the task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	label := p.entry.Link.TaskLabel
	if label == "" || task == "" {
		return nil, nil
	}
	want := map[string]string{}
	maps.Copy(want, p.entry.Owns.Labels)
	want[label] = task
	var found []reconcile.Sandbox
	err := p.pages(ctx, want, func(one listed) error {
		for _, s := range one.sandboxes {
			// Naming the task is what "referenced" asks for.
			s.Owned = s.Owned || p.entry.Owns.ByRowOnly()
			if s.Owned && s.Task == task {
				found = append(found, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find sandboxes of task %s at %s: %w", task, p.entry.Name, err)
	}
	return found, nil
}

// pageSize is the largest page that the API gives.
const pageSize = 200

// A listed page, with the answer that it came from.
type listed struct {
	sandboxes []reconcile.Sandbox
	from      answer
}

// pages calls visit with every page. It ends well only when the provider says that there
// is no further one.
func (p *Provider) pages(ctx context.Context, labels map[string]string, visit func(listed) error) error {
	query, err := listQuery(labels)
	if err != nil {
		return err
	}
	seen, met := map[string]bool{}, map[string]bool{}
	for n := 1; n <= maxPages; n++ {
		one, next, err := p.page(ctx, query)
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		one.sandboxes = unmet(one.sandboxes, met)
		if err := visit(one); err != nil {
			return err
		}
		if next == "" {
			return nil
		}
		if seen[next] {
			return fmt.Errorf("page %d leads back to a page that was read", n)
		}
		seen[next] = true
		query.Set("cursor", next)
	}
	return fmt.Errorf("more than %d pages", maxPages)
}

// unmet leaves out those that stood on an earlier page: they moved while we read.
func unmet(page []reconcile.Sandbox, met map[string]bool) []reconcile.Sandbox {
	kept := 0
	for i := range page {
		if met[page[i].ID] {
			continue
		}
		met[page[i].ID] = true
		if kept != i {
			page[kept] = page[i]
		}
		kept++
	}
	return page[:kept]
}

func listQuery(labels map[string]string) (url.Values, error) {
	query := url.Values{
		"limit": {strconv.Itoa(pageSize)}, "sort": {"createdAt"}, "order": {"asc"},
		"includeErroredDeleted": {"true"}, // a delete of a failed one only hides it
	}
	if len(labels) == 0 {
		return query, nil
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return nil, fmt.Errorf("write the labels filter: %w", err)
	}
	query.Set("labels", string(text))
	return query, nil
}

func (p *Provider) page(ctx context.Context, query url.Values) (listed, string, error) {
	a, err := p.client.read(ctx, call{what: "list", url: p.client.at("sandbox") + "?" + query.Encode(), max: maxPage})
	if err != nil {
		return listed{}, "", err
	}
	var in page
	if err := p.client.decode(a, &in); err != nil {
		return listed{}, "", err
	}
	next, err := in.next()
	if err != nil {
		return listed{}, "", err
	}
	out := listed{sandboxes: make([]reconcile.Sandbox, len(in.Items)), from: a}
	for i := range in.Items {
		if in.Items[i].ID == "" {
			return listed{}, "", fmt.Errorf("item %d has no id", i)
		}
		out.sandboxes[i] = p.sandbox(&in.Items[i], a.date)
	}
	if len(in.Items) > 0 {
		p.belongs(in.Items[0].Organization)
	}
	return out, next, nil
}

// read reads a page as usual, in about half the time of encoding/json: a listing of 10,000
// sandboxes is most of a pass's own work. It reports false, and leaves nothing behind, for
// a page that is odd in any way, which is then read with more patience.
func (p *page) read(body []byte) bool {
	odd := fastjson.Unmarshal(body, p, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if odd != nil {
		*p = page{}
	}
	return odd == nil
}

// next is the cursor of the following page, "" when this was the last. An answer without
// items is no page. The specification requires nextCursor; the vendor's own client takes a
// missing one for null, as some servers leave null fields out, and so does this one. A full
// page without it was cut off by somebody.
func (p *page) next() (string, error) {
	var cursor *string
	if p.Items == nil || p.Next == nil && len(p.Items) >= pageSize {
		return "", errors.New("the answer is no page: it lacks items or nextCursor")
	}
	if p.Next == nil {
		return "", nil
	}
	if err := json.Unmarshal(p.Next, &cursor); err != nil {
		return "", fmt.Errorf("read the cursor: %w", err)
	}
	if cursor == nil {
		return "", nil
	}
	return *cursor, nil
}
