package daytona

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// deactivatedAfter is for how long an organization's snapshot may be unused before the
// vendor deactivates it.
const deactivatedAfter = 14 * 24 * time.Hour

var templateStates = map[string]reconcile.TemplateState{
	"active":       reconcile.TemplateActive,
	"inactive":     reconcile.TemplateInactive,
	"building":     reconcile.TemplateBuilding,
	"pending":      reconcile.TemplateBuilding,
	"pulling":      reconcile.TemplateBuilding,
	"snapshotting": reconcile.TemplateBuilding,
	"error":        reconcile.TemplateFailed,
	"build_failed": reconcile.TemplateFailed,
}

// Template reads a snapshot by name or id, and says when the vendor will deactivate it.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	return p.base.Template(ctx, "snapshot", name, func(ctx context.Context, name string) (reconcile.Template, wire.Answer,
		error,
	) {
		s, a, err := p.snapshot(ctx, name)
		return p.template(s), a, err
	})
}

func (p *Provider) template(s snapshot) reconcile.Template {
	t := reconcile.Template{ID: s.ID, Name: s.Name, Raw: s.State, State: templateStates[s.State],
		Error: text.Clip(p.client.Redact(s.ErrorReason), 300), LastUsed: s.LastUsedAt.Time}
	used := s.CreatedAt.Time
	if s.LastUsedAt.After(used) {
		used = s.LastUsedAt.Time
	}
	if t.State == reconcile.TemplateActive && !s.General && !used.IsZero() {
		t.ExpiresAt = used.Add(deactivatedAfter)
	}
	return t
}

func (p *Provider) snapshot(ctx context.Context, name string) (snapshot, wire.Answer, error) {
	var s snapshot
	if err := wire.CheckID(name); err != nil {
		return s, wire.Answer{}, err
	}
	a, err := p.client.Get(ctx, wire.Call{What: "snapshot", URL: p.client.At("snapshots", name)}, &s)
	if err == nil && (s.ID == "" || s.ID != name && s.Name != name) {
		err = fmt.Errorf("the answer is another snapshot: %q", text.Clip(s.Name, 80))
	}
	return s, a, err
}

// Activate asks for an inactive snapshot to be pulled again, which takes minutes. One that
// is active or on its way is left alone.
func (p *Provider) Activate(ctx context.Context, name string) error {
	return p.base.Wrap("activate snapshot", name, p.activate(ctx, name))
}

func (p *Provider) activate(ctx context.Context, name string) error {
	s, _, err := p.snapshot(ctx, name)
	if err != nil {
		return err
	}
	switch templateStates[s.State] {
	case reconcile.TemplateActive, reconcile.TemplateBuilding:
		return nil
	}
	a, err := p.client.Alter(ctx, wire.Call{What: "activate", Method: http.MethodPost,
		URL: p.client.At("snapshots", s.ID, "activate")}, &snapshot{})
	if a.Status == http.StatusBadRequest && strings.Contains(err.Error(), "already active") {
		return nil
	}
	return err
}
