package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
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
// known to be there and nothing more: its state is unknown. That is what a 403 says here, unless
// its words are of the key's own team (e2b-dev/infra asks who owns it, also of public ones).
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	return p.base.Template(ctx, "template", name, p.template)
}

func (p *Provider) template(ctx context.Context, name string) (out reconcile.Template, a wire.Answer, err error) {
	var alias, t template
	out.Name = name
	a, err = p.client.Get(ctx, wire.Call{What: "alias", URL: p.client.At("templates", "aliases", name)}, &alias)
	words := fmt.Sprint(err)
	switch {
	case a.Status == http.StatusForbidden && wire.IsJSON(a.Header) && !contains(words, "this team", "eam is "):
		out.Raw = "of another team"
		return out, a, nil
	case err == nil && wire.CheckID(alias.ID) != nil:
		err = errors.New("the answer names no template")
	}
	if err != nil {
		return out, a, err
	}
	build, err := p.build(ctx, alias.ID, name)
	if err != nil {
		return out, a, err
	}
	a, err = p.client.Get(ctx, wire.Call{What: "template", URL: p.client.At("templates", alias.ID)}, &t)
	if err == nil && t.ID != alias.ID {
		err = fmt.Errorf("the answer is another template: %q", text.Clip(t.ID, 80))
	}
	out.ID, out.Raw, out.LastUsed = t.ID, t.status(build), t.LastUsed.Time
	out.State = templateStates[out.Raw]
	return out, a, err
}

// build is the build that the name's tag stands for; "" where the server knows no tags, or not
// this one.
func (p *Provider) build(ctx context.Context, id, name string) (build string, err error) {
	_, tag, _ := strings.Cut(name, ":")
	var tags []struct {
		Tag   string `json:"tag"`
		Build string `json:"buildID"`
	}
	a, err := p.client.Get(ctx, wire.Call{What: "tags", URL: p.client.At("templates", id, "tags")}, &tags)
	if a.Status == http.StatusNotFound || a.Status == http.StatusNotImplemented {
		return "", nil
	}
	for _, t := range tags {
		if t.Tag == cmp.Or(tag, "default") {
			build = t.Build
		}
	}
	return build, err
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
