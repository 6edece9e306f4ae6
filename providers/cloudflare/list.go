package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A part is one page of what a half has: each sandbox as that half knows it.
type part struct {
	pairs []pair
	date  time.Time
	next  string
}

// A readPart reads the page of a half at a cursor.
type readPart func(ctx context.Context, cursor string) (part, error)

// partOf makes a part of a half's items. One without an id makes the whole an error.
func partOf[B any](a wire.Answer, err error, next string, items []B, of func(*B) (pair, string)) (part, error) {
	if err != nil {
		return part{}, err
	}
	out := part{make([]pair, len(items)), a.Date, next}
	for i := range items {
		var id string
		if out.pairs[i], id = of(&items[i]); id == "" {
			return part{}, fmt.Errorf("item %d has no id", i)
		}
	}
	return out, nil
}

// each reads all that a half has. It ends well only when that was so.
func each(ctx context.Context, read readPart, visit func(of pair, date time.Time)) error {
	return wire.EachPage(ctx, func(ctx context.Context, cursor string) (wire.Page, error) {
		in, err := read(ctx, cursor)
		for _, of := range in.pairs {
			visit(of, in.date)
		}
		return wire.Page{Next: in.next}, err
	}, func(wire.Page) error { return nil })
}

// shown is a part in the words of the contract, without what is over: the control plane lists
// that for months.
func (p *Provider) shown(in part) wire.Page {
	out := wire.Page{Sandboxes: make([]reconcile.Sandbox, len(in.pairs)), Next: in.next, Date: in.date}
	for i, of := range in.pairs {
		out.Sandboxes[i] = p.sandbox(of, in.date)
	}
	return out.Alive()
}

func (p *Provider) pages(read readPart) wire.ReadPage {
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		in, err := read(ctx, cursor)
		return p.shown(in), err
	}
}

// List reads the registry, the containers, or both. With both the registry goes first: a
// sandbox that is made meanwhile is a container without a record for a moment, which is
// harmless, and never a record without a container.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	ids := map[string]bool{}
	listing, err := p.list(ctx, func(page []reconcile.Sandbox) error {
		for i := range page {
			ids[page[i].ID] = true
		}
		return yield(page)
	})
	if err == nil {
		p.listed.Store(&ids)
	}
	return listing, err
}

// lists reports whether the last listing of this process showed the id.
func (p *Provider) lists(id string) bool {
	ids := p.listed.Load()
	return ids != nil && (*ids)[id]
}

func (p *Provider) list(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	switch {
	case p.worker == nil:
		return p.base.List(ctx, yield, wire.Scope{Read: p.pages(p.control.pages(""))})
	case p.control == nil:
		return p.base.List(ctx, yield, wire.Scope{Read: p.pages(p.worker.page)})
	}
	j, err := p.join(ctx)
	if err != nil {
		return reconcile.Listing{Provider: p.entry.Name}, p.base.Wrap("list", "sandboxes", fmt.Errorf("the Worker: %w", err))
	}
	listing, err := p.base.List(ctx, yield,
		wire.Scope{Name: "the control plane", Read: p.pages(j.containers)},
		wire.Scope{Name: "the Worker", Read: p.pages(j.rest)},
		wire.Scope{Name: "the Worker's list", Read: p.pages(j.doubted)})
	if !j.date.IsZero() {
		listing.Date = j.date // nothing was listed before
	}
	if j.dark != nil && len(listing.Missing) == 1 {
		listing.Missing[0] += " (" + text.Clip(j.dark.Error(), 200) + ")"
	}
	if listing.Complete {
		j.forget()
	}
	if err == nil && errors.Is(j.dark, reconcile.ErrUnauthorized) { // whoever knows that asks again only later
		err = p.base.Wrap("list", "containers", j.dark)
	}
	return listing, err
}

// Lacks are the parts that change something, of terminate, that an entry has no half for.
func Lacks(e entry.Entry) []string {
	if e.Extra["worker_url"] == "" && e.Extra["instance_api"] != "true" {
		return []string{"terminate"}
	}
	return nil
}

// Named reads the sandbox that a row names by name, or those of a label.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	look := func(ctx context.Context, value string) (reconcile.Sandbox, error) {
		s, _, err := p.look(ctx, value)
		return s, err
	}
	return p.base.Named(ctx, value, look, func(map[string]string) wire.ReadPage {
		if p.worker == nil {
			return p.pages(p.control.pages(""))
		}
		return p.pages(p.worker.page)
	})
}

// Find reads the records that name the task, with what is behind them. The control plane
// alone knows no tasks.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	if p.worker == nil {
		return nil, nil
	}
	found, err := p.base.Find(ctx, task, p.pages(p.worker.page))
	if err != nil || p.control == nil {
		return found, err
	}
	for i := range found {
		named := found[i].Owned
		if found[i], err = p.Get(ctx, found[i].ID); err != nil {
			return nil, err // also of one that went meanwhile: the next look finds out
		}
		found[i].Owned = found[i].Owned || named && !found[i].Excepted
	}
	return found, nil
}
