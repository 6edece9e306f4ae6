package cloudflare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// routes are paths of the Worker beside those of sandboxes: no sandbox has such an id.
var routes = []string{"stats", "list", "cleanup", "audit"}

// certainWorker believes a 404 whose words are of a sandbox. What a router says of a path that
// it does not know is not enough, be it in JSON, with a code, or with the path in it, which
// may be called sandbox as well: the listing decides.
func certainWorker(a wire.Answer, s wire.Said) bool {
	if a.Status == http.StatusGone {
		return wire.IsJSON(a.Header)
	}
	words := strings.ToLower(s.Text)
	return s.Code == "sandbox_not_found" || strings.Contains(words, "sandbox") && !strings.Contains(words, "/") &&
		(s.Code == "not_found" || strings.Contains(words, "not found"))
}

// registry reads a page of the Worker's registry.
func (p *Provider) registry(ctx context.Context, cursor string) ([]record, wire.Answer, string, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	a, err := p.worker.Read(ctx, wire.Call{What: "list", URL: p.worker.At("list") + "?" + query.Encode(),
		Max: wire.MaxPage})
	if err != nil {
		return nil, a, "", err
	}
	var in records
	if bytes.HasPrefix(bytes.TrimLeft(a.Body, " \r\n\t"), []byte("[")) {
		err = wire.DecodePage(p.worker, a, &in.Sandboxes)
	} else {
		err = wire.DecodePage(p.worker, a, &in)
	}
	if err == nil && in.Sandboxes == nil {
		err = errors.New("the answer is no list: it lacks sandboxes")
	}
	for i := range in.Sandboxes {
		if err == nil && in.Sandboxes[i].ID == "" {
			err = fmt.Errorf("item %d has no id", i)
		}
	}
	return in.Sandboxes, a, in.Next, err
}

// record reads one by its id. A Worker that has no such call has a list.
func (p *Provider) record(ctx context.Context, id string) (*record, wire.Answer, error) {
	if slices.Contains(routes, id) {
		return nil, wire.Answer{}, fmt.Errorf("%w: %q is a path of the Worker", reconcile.ErrUnknownID, id)
	}
	var r record
	a, err := p.worker.Get(ctx, wire.Call{What: "get", URL: p.worker.At(id)}, &r)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return nil, a, err
	case a.Status == http.StatusNotFound, a.Status == http.StatusMethodNotAllowed, a.Status == http.StatusNotImplemented:
		return p.listed(ctx, id)
	case err != nil:
		return nil, a, err
	case r.ID == "":
		return nil, a, errors.New("the answer is no sandbox: it has no id")
	case r.ID != id:
		return nil, a, fmt.Errorf("the answer is another sandbox: %s", wire.Clip(r.ID, 80))
	}
	return &r, a, nil
}

// listed looks a record up in the whole registry.
func (p *Provider) listed(ctx context.Context, id string) (*record, wire.Answer, error) {
	var found *record
	var first wire.Answer
	err := p.eachRecord(ctx, func(r *record, a wire.Answer) {
		first = a
		if r.ID == id {
			found = r
		}
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%w: the registry does not list it", reconcile.ErrNotFound)
	}
	return found, first, err
}

// eachRecord reads the whole registry. It ends well only when that was so.
func (p *Provider) eachRecord(ctx context.Context, visit func(*record, wire.Answer)) error {
	err := wire.EachPage(ctx, func(ctx context.Context, cursor string) (wire.Page, error) {
		page, a, next, err := p.registry(ctx, cursor)
		if err != nil {
			return wire.Page{}, err
		}
		for i := range page {
			visit(&page[i], a)
		}
		return wire.Page{Next: next}, nil
	}, func(wire.Page) error { return nil })
	if err != nil {
		return fmt.Errorf("the Worker: %w", err)
	}
	return nil
}
