package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var templateStates = map[string]reconcile.TemplateState{
	"ready":    reconcile.TemplateActive,
	"building": reconcile.TemplateBuilding,
	"waiting":  reconcile.TemplateBuilding,
	"error":    reconcile.TemplateFailed,
}

// A template is one of our team's.
type template struct {
	ID       string     `json:"templateID"`
	LastUsed wire.Stamp `json:"lastSpawnedAt"`
	Builds   []struct {
		ID     string `json:"buildID"`
		Status string `json:"status"`
	} `json:"builds"`
}

// Template reads a template by alias, by team/alias or by id, each with a tag behind it or
// not. It is as its tag's build is. One of another team, as the vendor's own are, can be
// known to be there and nothing more: its state is unknown.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	t, asOf, err := p.template(ctx, name)
	var no *wire.Refusal
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.Template{Name: name, Raw: "missing", State: reconcile.TemplateMissing, AsOf: asOf}, nil
	case errors.As(err, &no) && no.Status == http.StatusForbidden && strings.Contains(no.Words, "access to") &&
		strings.Contains(no.Words, "template"):
		return reconcile.Template{Name: name, Raw: "of another team", AsOf: asOf}, nil
	case err != nil:
		return reconcile.Template{}, fmt.Errorf("read template %s of %s: %w", name, p.entry.Name, err)
	}
	t.Name, t.AsOf = name, asOf
	return t, nil
}

func (p *Provider) template(ctx context.Context, name string) (out reconcile.Template, asOf time.Time, err error) {
	if err := wire.CheckID(name); err != nil {
		return out, asOf, err
	}
	var t template
	a, err := p.client.Get(ctx, wire.Call{What: "alias", URL: p.client.At("templates", "aliases", name)}, &t)
	if err == nil && wire.CheckID(t.ID) != nil {
		err = errors.New("the answer names no template")
	}
	if err != nil {
		return out, a.Date, err
	}
	build, err := p.build(ctx, t.ID, name)
	if err != nil {
		return out, a.Date, err
	}
	id := t.ID
	a, err = p.client.Get(ctx, wire.Call{What: "template", URL: p.client.At("templates", id)}, &t)
	if err == nil && t.ID != id {
		err = fmt.Errorf("the answer is another template: %q", wire.Clip(t.ID, 80))
	}
	raw := t.status(build)
	return reconcile.Template{ID: id, Raw: raw, State: templateStates[raw], LastUsed: t.LastUsed.Time}, a.Date, err
}

// build is the build that the name's tag stands for; "" where the server knows no tags, or not
// this one.
func (p *Provider) build(ctx context.Context, id, name string) (string, error) {
	_, tag, _ := strings.Cut(name, ":")
	if tag == "" {
		tag = "default"
	}
	var tags []struct {
		Tag   string `json:"tag"`
		Build string `json:"buildID"`
	}
	a, err := p.client.Get(ctx, wire.Call{What: "tags", URL: p.client.At("templates", id, "tags")}, &tags)
	if a.Status == http.StatusNotFound || a.Status == http.StatusNotImplemented {
		return "", nil
	}
	for _, t := range tags {
		if t.Tag == tag {
			return t.Build, err
		}
	}
	return "", err
}

// status is that of the build, where it is on the first page. Else one that is ready is
// enough, and without one the newest tells most.
func (t template) status(build string) string {
	best := ""
	for _, b := range slices.Backward(t.Builds) {
		if b.ID == build && build != "" {
			return b.Status
		}
		if best != "ready" {
			best = b.Status
		}
	}
	return best
}

// Activate cannot be: no template is ever inactive here.
func (p *Provider) Activate(context.Context, string) error {
	return wire.Unable("templates of e2b are never inactive")
}
