package e2b

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// pageSize is the largest page that the API gives.
const pageSize = 100

// List reads every page, in the order of their starts: one that is resumed meanwhile moves to
// the end and is met there. In the vendor's usual order it would be missed.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	read := p.pages(p.entry.Owns.Labels)
	return p.frame.List(ctx, yield, wire.Scope{Read: func(ctx context.Context, cursor string) (wire.Page, error) {
		page, err := read(ctx, cursor)
		if err == nil && cursor == "" && len(page.Sandboxes) == 0 {
			err = p.team(ctx)
		}
		return page, err
	}})
}

// team asks whether the key is of the team that the entry names. One of another team sees
// nothing, and is told of each of our sandboxes that it does not exist: an empty listing is
// believed only where that is not so.
func (p *Provider) team(ctx context.Context) error {
	team := p.entry.Extra["team"]
	if team == "" {
		return nil
	}
	var in []struct {
		At float64 `json:"timestampUnix"`
	}
	_, err := p.client.Get(ctx, wire.Call{What: "team", URL: p.client.At("teams", team, "metrics")}, &in)
	if err != nil {
		return fmt.Errorf("is the key of team %s? %w", team, err)
	}
	return nil
}

// Find asks for the sandboxes whose link label names the task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	want := map[string]string{}
	maps.Copy(want, p.entry.Owns.Labels)
	want[p.entry.Link.TaskLabel] = task
	return p.frame.Find(ctx, task, p.pages(want))
}

// pages reads the pages of the sandboxes with these labels, and of others where the labels
// cannot be asked for.
func (p *Provider) pages(labels map[string]string) wire.ReadPage {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "order": {"asc"}}
	if filter := metadata(labels); filter != "" {
		query.Set("metadata", filter)
	}
	running := 0 // on the pages that were read
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		query.Del("nextToken")
		if cursor != "" {
			query.Set("nextToken", cursor)
		} else {
			running = 0
		}
		return p.page(ctx, query, &running)
	}
}

// metadata is the filter for those of the labels that can be asked for. The vendor unescapes
// a filter three times, and others with its protocol as often as they like; what is left out
// here stays a filter of our own.
func metadata(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if plain(key) && plain(labels[key]) {
			pairs = append(pairs, key+"="+labels[key])
		}
	}
	return strings.Join(pairs, "&")
}

// plain texts are the same however often they are unescaped.
func plain(text string) bool {
	return text != "" && strings.Trim(text,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

func (p *Provider) page(ctx context.Context, query url.Values, running *int) (wire.Page, error) {
	a, err := p.client.Read(ctx, wire.Call{What: "list", URL: p.client.At("v2", "sandboxes") + "?" + query.Encode(),
		Max: wire.MaxPage})
	if err != nil {
		return wire.Page{}, err
	}
	var in []box
	if err := wire.DecodePage(p.client, a, &in); err != nil {
		return wire.Page{}, err
	}
	if in == nil {
		return wire.Page{}, errors.New("the answer is no page")
	}
	out := wire.Page{Sandboxes: make([]reconcile.Sandbox, len(in)), Next: a.Header.Get("X-Next-Token"), Date: a.Date}
	for i := range in {
		if in[i].ID == "" {
			return wire.Page{}, fmt.Errorf("item %d has no id", i)
		}
		out.Sandboxes[i] = p.sandbox(&in[i], a.Date)
		if out.Sandboxes[i].State == reconcile.SandboxRunning {
			*running++
		}
	}
	return out, cut(a.Header, len(in), *running)
}

// cut is the error of a last page that need not be the last: what leads to the next is in a
// header, which something between may have dropped. A full page is believed to be the last
// only when as many run as the vendor counts.
func cut(h http.Header, items, running int) error {
	if items < pageSize || h.Get("X-Next-Token") != "" {
		return nil
	}
	total, err := strconv.Atoi(h.Get("X-Total-Running"))
	switch {
	case err != nil:
		return errors.New("a full page without X-Next-Token and X-Total-Running: does a proxy drop the headers?")
	case total > running:
		return fmt.Errorf("a full page without X-Next-Token, and only %d of %d that run were listed", running, total)
	}
	return nil
}
