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
	return p.base.List(ctx, yield, wire.Scope{Read: p.trusted(p.entry.Owns.Labels),
		Ours: metadata(p.entry.Owns.Labels) != ""})
}

// Find asks for the sandboxes whose link label names the task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	return p.base.Find(ctx, task, p.trusted(p.entry.LabelsOf(task)))
}

// Named asks for the sandbox whose label rows hold: there are no names.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	return p.base.Named(ctx, value, nil, p.trusted)
}

// trusted reads pages with a key of the entry's team, or none.
func (p *Provider) trusted(labels map[string]string) wire.ReadPage {
	read := p.pages(labels)
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		if cursor == "" {
			if err := p.team(ctx); err != nil {
				return wire.Page{}, err
			}
		}
		return read(ctx, cursor)
	}
}

// team asks whether the key is of the team that the entry names. A refusal always counts; no
// answer counts only as long as there was none.
func (p *Provider) team(ctx context.Context) error {
	team := p.entry.Extra["team"]
	if team == "" {
		return nil
	}
	var in []struct {
		At float64 `json:"timestampUnix"`
	}
	_, err := p.client.Get(ctx, wire.Call{What: "team", URL: p.client.At("teams", team, "metrics")}, &in)
	switch {
	case err == nil:
		p.proven.Store(true)
	case errors.Is(err, reconcile.ErrUnauthorized):
		p.proven.Store(false)
	case p.proven.Load():
		return nil
	default:
		err = fmt.Errorf("%w; leave out team: where the server knows no teams", err)
	}
	return p.base.Wrap("ask whether the key is of team", team, err)
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
	var in []box
	a, err := wire.List(ctx, p.client, p.client.At("v2", "sandboxes")+"?"+query.Encode(), &in)
	if err == nil && in == nil {
		err = errors.New("the answer is no page")
	}
	if err != nil {
		return wire.Page{}, err
	}
	for i := range in {
		if states[in[i].State] == reconcile.SandboxRunning {
			*running++
		}
	}
	if err := cut(a.Header, len(in), *running); err != nil {
		return wire.Page{}, err
	}
	return wire.PageOf(a, a.Header.Get("X-Next-Token"), in,
		func(b *box) reconcile.Sandbox { return p.sandbox(b, a.Date) })
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
