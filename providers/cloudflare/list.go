package cloudflare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// List reads the registry, the containers, or both. With both the registry goes first: a
// sandbox that is made meanwhile is a container without a record for a moment, which is
// harmless, and never a record without a container.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	switch {
	case p.worker == nil:
		return p.frame.List(ctx, yield, wire.Scope{Read: p.containers})
	case p.control == nil:
		return p.frame.List(ctx, yield, wire.Scope{Read: p.pages})
	}
	j, err := p.join(ctx)
	if err != nil {
		return reconcile.Listing{Provider: p.entry.Name}, fmt.Errorf("list sandboxes of %s: %w", p.entry.Name, err)
	}
	listing, err := p.frame.List(ctx, yield,
		wire.Scope{Name: "the control plane", Read: j.containers}, wire.Scope{Name: "the Worker", Read: j.rest})
	if !j.date.IsZero() {
		listing.Date = j.date // nothing was listed before
	}
	if j.dark != nil && len(listing.Missing) == 1 {
		listing.Missing[0] += " (" + wire.Clip(j.dark.Error(), 200) + ")"
	}
	return listing, err
}

// Find reads the records that name the task, with what is behind them. The control plane
// alone knows no tasks.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	if p.worker == nil {
		return nil, nil
	}
	found, err := p.frame.Find(ctx, task, p.pages)
	if err != nil || p.control == nil {
		return found, err
	}
	for i := range found {
		named := found[i].Owned
		if found[i], err = p.Get(ctx, found[i].ID); err != nil {
			return nil, err // also of one that went meanwhile: the next look finds out
		}
		found[i].Owned = found[i].Owned || named
	}
	return found, nil
}

// pages reads the registry alone.
func (p *Provider) pages(ctx context.Context, cursor string) (wire.Page, error) {
	page, a, next, err := p.registry(ctx, cursor)
	if err != nil {
		return wire.Page{}, err
	}
	out := wire.Page{Next: next, Date: a.Date, Sandboxes: make([]reconcile.Sandbox, 0, len(page))}
	for i := range page {
		out.Sandboxes = append(out.Sandboxes, p.sandbox(pair{record: &page[i], blind: true}, a.Date))
	}
	out.Sandboxes = alive(out.Sandboxes)
	return out, nil
}

// containers reads the control plane alone.
func (p *Provider) containers(ctx context.Context, cursor string) (wire.Page, error) {
	page, err := p.instances(ctx, "", cursor)
	if err != nil {
		return wire.Page{}, err
	}
	out := wire.Page{Next: page.next, Date: page.answer.Date, Sandboxes: make([]reconcile.Sandbox, 0, len(page.instances))}
	for i := range page.instances {
		out.Sandboxes = append(out.Sandboxes, p.sandbox(pair{instance: &page.instances[i]}, page.answer.Date))
	}
	out.Sandboxes = alive(out.Sandboxes)
	return out, nil
}

// alive leaves out what is over: the control plane lists it for months.
func alive(all []reconcile.Sandbox) []reconcile.Sandbox {
	return slices.DeleteFunc(all, func(s reconcile.Sandbox) bool { return s.State == reconcile.SandboxEnded })
}

// A join brings records and containers together.
type join struct {
	p        *Provider
	date     time.Time // of the registry's first page
	order    []*record // that have met no container yet, as the registry listed them
	byActor  map[string]*record
	byName   map[string]*record // those that do not tell their actor
	met      map[*record]bool
	whole    bool  // every container was read
	dark     error // why not
	nameless bool  // a container without a name met no record: it may belong to any
}

func (p *Provider) join(ctx context.Context) (*join, error) {
	j := &join{p: p, byActor: map[string]*record{}, byName: map[string]*record{}, met: map[*record]bool{}}
	return j, p.eachRecord(ctx, func(r *record, a wire.Answer) {
		if j.date.IsZero() {
			j.date = a.Date
		}
		j.order = append(j.order, r)
		if r.Actor != "" {
			j.byActor[strings.ToLower(r.Actor)] = r
		} else {
			j.byName[r.ID] = r
		}
	})
}

// containers are the containers with their records, and those that have none.
func (j *join) containers(ctx context.Context, cursor string) (wire.Page, error) {
	page, err := j.p.instances(ctx, "", cursor)
	if j.dark = err; err != nil {
		return wire.Page{}, err
	}
	out := wire.Page{Next: page.next, Date: page.answer.Date}
	for i := range page.instances {
		of := pair{instance: &page.instances[i], record: j.recordOf(&page.instances[i])}
		if of.record != nil && j.met[of.record] {
			continue
		}
		if of.record != nil {
			j.met[of.record] = true
		}
		out.Sandboxes = append(out.Sandboxes, j.p.sandbox(of, page.answer.Date))
	}
	j.whole = page.next == ""
	out.Sandboxes = alive(out.Sandboxes)
	return out, nil
}

func (j *join) recordOf(i *instance) *record {
	if r := j.byActor[strings.ToLower(i.ID)]; r != nil {
		return r
	}
	j.nameless = j.nameless || i.nameless()
	return j.byName[i.Name] // none has the name ""
}

// rest are the records that met no container. That they have none is known only when all
// containers were read, and none of them could be theirs.
func (j *join) rest(context.Context, string) (wire.Page, error) {
	out := wire.Page{Date: j.date}
	for _, r := range j.order {
		if j.met[r] {
			continue
		}
		blind := !j.whole || r.Actor == "" && j.nameless
		out.Sandboxes = append(out.Sandboxes, j.p.sandbox(pair{record: r, blind: blind}, j.date))
	}
	out.Sandboxes = alive(out.Sandboxes)
	return out, nil
}
