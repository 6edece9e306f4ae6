package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// pageSize leaves 64 KiB for each object: managed fields and long environments make Pods
// large, and a page that is too large to read fails for ever.
const pageSize = 250

// A page is one page of a listing.
type page struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []object `json:"items"`
}

// List reads every page of every kind and namespace, as of one moment each: the pages show
// what was there when the first one was read. Where labels prove the ownership, only
// objects with these labels are asked for.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return p.frame.List(ctx, yield, p.scopes(p.entry.Owns.Labels)...)
}

// Find asks for the sandboxes whose link label names the task. A task that is no value of a
// label is named by none.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	if len(validation.IsValidLabelValue(task)) > 0 {
		return nil, nil
	}
	want := map[string]string{}
	maps.Copy(want, p.entry.Owns.Labels)
	want[p.entry.Link.TaskLabel] = task
	return p.frame.Find(ctx, task, inTurn(p.scopes(want)))
}

// scopes are what is listed, each by itself.
func (p *Provider) scopes(labels map[string]string) []wire.Scope {
	var out []wire.Scope
	for _, namespace := range p.namespaces {
		for _, k := range p.kinds {
			out = append(out, wire.Scope{Name: k.plural + " of " + namespace, Read: p.pages(k, namespace, labels)})
		}
	}
	return out
}

// inTurn reads the pages of all scopes, one scope after the other.
func inTurn(scopes []wire.Scope) wire.ReadPage {
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		number, inner, _ := strings.Cut(cursor, " ")
		at, _ := strconv.Atoi(number) // "" is the first
		page, err := scopes[at].Read(ctx, inner)
		switch {
		case err != nil:
			return page, fmt.Errorf("%s: %w", scopes[at].Name, err)
		case page.Next != "":
			page.Next = fmt.Sprint(at, " ", page.Next)
		case at+1 < len(scopes):
			page.Next = fmt.Sprint(at+1, " ")
		}
		return page, nil
	}
}

// pages reads the pages of the objects with these labels. No version is asked for, so that
// the server answers with what is true now, not with what it has in its cache.
func (p *Provider) pages(k kind, namespace string, want map[string]string) wire.ReadPage {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if len(want) > 0 {
		query.Set("labelSelector", labels.SelectorFromSet(want).String())
	}
	in := page{Items: make([]object, 0, pageSize)} // of all pages, one after the other
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		ask := maps.Clone(query)
		if cursor != "" {
			ask.Set("continue", cursor)
		}
		call := wire.Call{What: "list " + k.plural, URL: p.at(k, namespace) + "?" + ask.Encode(), Max: wire.MaxPage}
		a, err := p.client.Read(ctx, call)
		if err != nil {
			return wire.Page{}, err
		}
		return p.page(k, a, &in)
	}
}

func (p *Provider) page(k kind, a wire.Answer, in *page) (wire.Page, error) {
	if a.Status == http.StatusNotFound && k.group != "" {
		return wire.Page{}, fmt.Errorf("the cluster knows no %s of %s/v1beta1: install agent-sandbox v1, or set objects: "+
			"pods: %w", k.plural, k.group, p.client.Refuse(a))
	}
	in.Kind, in.Metadata.Continue = "", ""
	if err := wire.DecodePage(p.client, a, in); err != nil {
		return wire.Page{}, err
	}
	if !strings.HasSuffix(in.Kind, "List") || in.Items == nil {
		return wire.Page{}, fmt.Errorf("the answer is no list: it is %q", wire.Clip(in.Kind, 80))
	}
	out := wire.Page{Sandboxes: make([]reconcile.Sandbox, 0, len(in.Items)), Next: in.Metadata.Continue, Date: a.Date}
	for i := range in.Items {
		o := &in.Items[i]
		if o.Metadata.UID == "" || o.Metadata.Name == "" {
			return wire.Page{}, fmt.Errorf("item %d has no uid or no name", i)
		}
		if !o.apart(k) {
			out.Sandboxes = append(out.Sandboxes, p.sandbox(k, o, a.Date))
		}
	}
	return out, nil
}
