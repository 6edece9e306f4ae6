package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// List reads all containers in one answer, oldest first. Where labels prove the ownership,
// only containers with these labels are asked for.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return p.frame.List(ctx, yield, wire.Scope{Read: p.page(p.entry.Owns.Labels)})
}

// Find asks for the containers whose link label names the task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	want := map[string]string{}
	maps.Copy(want, p.entry.Owns.Labels)
	want[p.entry.Link.TaskLabel] = task
	return p.frame.Find(ctx, task, p.page(want))
}

// page reads the only page of the containers with these labels.
func (p *Provider) page(labels map[string]string) wire.ReadPage {
	filters := map[string][]string{}
	for key, value := range labels {
		filters["label"] = append(filters["label"], key+"="+value)
	}
	return func(ctx context.Context, _ string) (wire.Page, error) {
		found, a, err := p.containers(ctx, filters)
		if err != nil {
			return wire.Page{}, err
		}
		slices.SortFunc(found, func(a, b summary) int {
			return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
		})
		out := wire.Page{Sandboxes: make([]reconcile.Sandbox, len(found)), Date: a.Date}
		for i := range found {
			if found[i].ID == "" {
				return wire.Page{}, fmt.Errorf("item %d has no id", i)
			}
			out.Sandboxes[i] = p.listed(&found[i], a.Date)
		}
		return out, nil
	}
}

// containers asks as the engine's client does, and reads the answer in a third of its time.
func (p *Provider) containers(ctx context.Context, filters map[string][]string) ([]summary, wire.Answer, error) {
	c, err := p.engine.ready(ctx)
	if err != nil {
		return nil, wire.Answer{}, err
	}
	text, _ := json.Marshal(filters) // texts always encode
	query := url.Values{"all": {"1"}, "filters": {string(text)}}
	a, err := p.client.Read(ctx, wire.Call{What: "list", Max: maxList,
		URL: p.client.At("v"+c.ClientVersion(), "containers", "json") + "?" + query.Encode()})
	if err != nil {
		return nil, a, err
	}
	var found []summary
	err = wire.DecodePage(p.client, a, &found)
	if err == nil && found == nil {
		err = errors.New("the answer is no list")
	}
	return found, a, p.engine.noted(c, err)
}
