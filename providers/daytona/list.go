package daytona

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// pageSize is the largest page that the API gives.
const pageSize = 200

// List reads every page, in the order of creation, so that nothing moves between pages while
// they are read: those of a large fleet side by side, each part from a moment of creation on. Where
// labels prove the ownership, only sandboxes with these labels are asked for: the cost of a pass
// follows what is ours.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	ours := p.entry.Owns.Labels
	return p.base.List(ctx, yield, wire.Scope{Read: p.pages(ours), Ours: len(ours) > 0,
		From: func(made time.Time) wire.ReadPage { return p.pagesFrom(ours, made) }})
}

// Find asks for the sandboxes whose link label names the task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	return p.base.Find(ctx, task, p.there(p.pages(p.entry.LabelsOf(task))))
}

// there leaves out what the list shows as being deleted and no get finds: a delete of a failed one
// hides it from all but the list, for days.
func (p *Provider) there(read wire.ReadPage) wire.ReadPage {
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		page, err := read(ctx, cursor)
		kept := page.Sandboxes[:0]
		for _, s := range page.Sandboxes {
			if err == nil && s.State == reconcile.SandboxDeleting {
				switch _, gone := p.look(ctx, s.ID); {
				case errors.Is(gone, reconcile.ErrNotFound):
					continue
				case gone != nil:
					err = fmt.Errorf("look whether %s is still there: %w", text.Clip(s.ID, 80), gone)
				}
			}
			kept = append(kept, s)
		}
		page.Sandboxes = kept
		return page, err
	}
}

// Named asks for a sandbox by name, which the vendor takes where ids go, or by the label that
// rows hold.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	return p.base.Named(ctx, value, func(ctx context.Context, name string) (reconcile.Sandbox, error) {
		b, a, err := p.read(ctx, name)
		if err == nil && b.Name != name && b.ID != name {
			err = fmt.Errorf("the answer is another sandbox: %s", text.Clip(b.ID, 80))
		}
		return p.sandbox(&b, a.Date), err
	}, func(labels map[string]string) wire.ReadPage { return p.there(p.pages(labels)) })
}

// pages reads the pages of the sandboxes with these labels, one after the other.
func (p *Provider) pages(labels map[string]string) wire.ReadPage {
	return p.pagesFrom(labels, time.Time{})
}

// pagesFrom reads those of the sandboxes that were made at a moment or later; zero: of all.
func (p *Provider) pagesFrom(labels map[string]string, made time.Time) wire.ReadPage {
	var in page
	var room []reconcile.Sandbox
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		query, err := listQuery(labels)
		if err != nil {
			return wire.Page{}, err
		}
		if !made.IsZero() {
			query.Set("createdAtAfter", made.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		page, err := p.page(ctx, query, &in, room)
		room = page.Sandboxes
		return page, err
	}
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

// page reads a page to where the one before was read to: what its sandboxes were made of, and they.
func (p *Provider) page(ctx context.Context, query url.Values, in *page, room []reconcile.Sandbox) (wire.Page, error) {
	*in = page{Items: in.Items[:0]}
	a, err := wire.List(ctx, p.client, p.client.At("sandbox")+"?"+query.Encode(), in)
	if err != nil {
		return wire.Page{}, err
	}
	next, err := in.next()
	if err != nil {
		return wire.Page{}, err
	}
	if len(in.Items) > 0 {
		p.belongs(in.Items[0].Organization)
	}
	return wire.PageIn(room, a, next, in.Items, func(b *box) reconcile.Sandbox { return p.sandbox(b, a.Date) })
}

// next is the cursor of the following page, "" when this was the last. An answer without
// items is no page. The specification requires nextCursor; the vendor's own client takes a
// missing one for null, as some servers leave null fields out, and so does this one. A full
// page without it was cut off by somebody.
func (p *page) next() (string, error) {
	var cursor *string
	left := len(p.Items) == 0 && cap(p.Items) > 0 // as it was before the answer: a list without items has no room either
	if p.Items == nil || left || p.Next == nil && len(p.Items) >= pageSize {
		return "", errors.New("the answer is no page: it lacks items or nextCursor")
	}
	if p.Next == nil {
		return "", nil
	}
	if err := json.Unmarshal(p.Next, &cursor); err != nil || cursor == nil { // null: the last page
		return "", err
	}
	return *cursor, nil
}
