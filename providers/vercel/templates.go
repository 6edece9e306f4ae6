package vercel

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

type snapshot struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	ExpiresAt stamp  `json:"expiresAt"`
	LastUsed  stamp  `json:"lastUsedAt"`
}

var templateStates = map[string]reconcile.TemplateState{
	"created": reconcile.TemplateActive,
	"failed":  reconcile.TemplateFailed,
	"deleted": reconcile.TemplateMissing,
}

// Template reads a snapshot by id, and says when it will expire. Of images nothing is
// measured: the API for them is another one.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	if strings.ContainsAny(name, "/:@") {
		return reconcile.Template{Name: name, Raw: "an image, which is not measured", AsOf: p.client.Now()}, nil
	}
	return p.base.Template(ctx, "snapshot", name, p.snapshot)
}

func (p *Provider) snapshot(ctx context.Context, name string) (reconcile.Template, wire.Answer, error) {
	var in struct {
		Snapshot snapshot `json:"snapshot"`
	}
	a, err := p.client.Get(ctx, wire.Call{What: "snapshot", URL: p.at(nil, "snapshots", name)}, &in)
	s := in.Snapshot
	switch {
	case err != nil && p.client.APIError(a).Code == noDisk:
		return reconcile.Template{}, a, fmt.Errorf("%w: %w", reconcile.ErrNotFound, err)
	case err != nil:
		return reconcile.Template{}, a, err
	case s.ID != name:
		return reconcile.Template{}, a, fmt.Errorf("the answer is another snapshot: %q", text.Clip(s.ID, 80))
	}
	t := reconcile.Template{ID: s.ID, Name: s.ID, Raw: s.Status, State: templateStates[s.Status],
		LastUsed: s.LastUsed.time(), ExpiresAt: s.ExpiresAt.time()}
	if t.State == reconcile.TemplateActive && !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(a.Date) {
		t.State, t.Raw = reconcile.TemplateMissing, "expired"
	}
	return t, a, nil
}

// Activate is denied: what is deleted or expired does not come back.
func (p *Provider) Activate(_ context.Context, name string) error {
	return wire.Unable("vercel cannot bring snapshot " + name + " back: make a new one")
}
