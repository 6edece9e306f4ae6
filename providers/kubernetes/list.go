package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// pageSize leaves 64 KiB for each object: managed fields and long environments make Pods
// large, and a page that is too large to read fails for ever.
const pageSize = 250

// again marks the tokens of a listing that was begun again: it may repeat those of the first try.
const again = "again "

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
	return p.base.List(ctx, yield, p.scopes(p.entry.Owns.Labels)...)
}

// Find asks for the sandboxes whose link label names the task. A task that is no value of a
// label is named by none.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	if len(validation.IsValidLabelValue(task)) > 0 {
		return nil, nil
	}
	return p.base.Find(ctx, task, wire.InTurn(p.scopes(p.entry.LabelsOf(task))))
}

// Named reads the sandboxes that rows name by what is no id: see row_holds.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	return p.base.Named(ctx, value, nil, func(labels map[string]string) wire.ReadPage {
		return wire.InTurn(p.scopes(labels))
	})
}

// scopes are what is listed, each by itself.
func (p *Provider) scopes(labels map[string]string) []wire.Scope {
	var out []wire.Scope
	for _, namespace := range p.namespaces {
		for _, k := range p.kinds {
			out = append(out, wire.Scope{Name: k.plural + " of " + namespace, Read: p.pages(k, namespace, labels),
				Ours: len(labels) > 0})
		}
	}
	return out
}

// pages reads the pages of the objects with these labels. No version is asked for, so that
// the server answers with what is true now, not with what it has in its cache.
func (p *Provider) pages(k kind, namespace string, want map[string]string) wire.ReadPage {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if len(want) > 0 {
		query.Set("labelSelector", labels.SelectorFromSet(want).String())
	}
	anew := false
	claimed := claimants{Provider: p, namespace: namespace}
	in := page{Items: make([]object, 0, pageSize)} // of all pages, one after the other
	return func(ctx context.Context, cursor string) (wire.Page, error) {
		query.Del("continue")
		if cursor != "" {
			query.Set("continue", strings.TrimPrefix(cursor, again))
		}
		in.Kind, in.Metadata.Continue = "", ""
		a, err := wire.List(ctx, p.client, p.at(k, namespace)+"?"+query.Encode(), &in)
		if a.Status == http.StatusGone && cursor != "" && !anew { // it took too long: all of it once more
			anew, claimed.alive = true, nil
			query.Del("continue")
			a, err = wire.List(ctx, p.client, p.at(k, namespace)+"?"+query.Encode(), &in)
		}
		switch {
		case a.Status == http.StatusNotFound && k.group != "":
			return wire.Page{}, fmt.Errorf("the cluster knows no %s of %s/v1beta1: install agent-sandbox v1, or set "+
				"objects: pods: %w", k.plural, k.group, err)
		case err != nil:
			return wire.Page{}, err
		case !strings.HasSuffix(in.Kind, "List") || in.Items == nil:
			return wire.Page{}, fmt.Errorf("the answer is no list of items: it is a %q", text.Clip(in.Kind, 80))
		}
		if err := claimed.mark(ctx, k, in.Items); err != nil {
			return wire.Page{}, err
		}
		kept := in.Items[:0]
		for i := range in.Items { // by reference: objects are large
			if !in.Items[i].apart(k) {
				kept = append(kept, in.Items[i])
			}
		}
		next := in.Metadata.Continue
		if anew && next != "" {
			next = again + next
		}
		return wire.PageOf(a, next, kept, func(o *object) reconcile.Sandbox {
			return p.sandbox(k, o, a.Date)
		})
	}
}
