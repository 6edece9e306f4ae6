package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
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
	s, a, err := p.snapshot(ctx, name)
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.Template{Name: name, Raw: "missing", State: reconcile.TemplateMissing, AsOf: a.date}, nil
	}
	if err != nil {
		return reconcile.Template{}, fmt.Errorf("read snapshot %s of %s: %w", name, p.entry.Name, err)
	}
	t := reconcile.Template{
		ID: s.ID, Name: s.Name, Raw: s.State, State: templateStates[s.State], Error: clip(s.ErrorReason, 300),
		LastUsed: s.LastUsedAt.Time, AsOf: a.date,
	}
	used := s.CreatedAt.Time
	if s.LastUsedAt.After(used) {
		used = s.LastUsedAt.Time
	}
	if t.State == reconcile.TemplateActive && !s.General && !used.IsZero() {
		t.ExpiresAt = used.Add(deactivatedAfter)
	}
	return t, nil
}

func (p *Provider) snapshot(ctx context.Context, name string) (snapshot, answer, error) {
	var s snapshot
	if err := checkID(name); err != nil {
		return s, answer{}, err
	}
	a, err := p.client.read(ctx, call{what: "snapshot", url: p.client.at("snapshots", name), max: maxOne})
	if err != nil {
		return s, a, err
	}
	if err := p.client.decode(a, &s); err != nil {
		return s, a, err
	}
	if s.ID == "" || s.ID != name && s.Name != name {
		return s, a, fmt.Errorf("the answer is another snapshot: %q", clip(s.Name, 80))
	}
	return s, a, nil
}

// Activate asks for an inactive snapshot to be pulled again, which takes minutes. One that
// is active or on its way is left alone.
func (p *Provider) Activate(ctx context.Context, name string) error {
	if err := p.activate(ctx, name); err != nil {
		return fmt.Errorf("activate snapshot %s of %s: %w", name, p.entry.Name, err)
	}
	return nil
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
	k := call{what: "activate", method: http.MethodPost, url: p.client.at("snapshots", s.ID, "activate"), max: maxOne}
	a, err := p.client.change(ctx, k)
	if err != nil {
		return err
	}
	err = p.client.decode(a, &snapshot{})
	if a.status == http.StatusBadRequest && strings.Contains(err.Error(), "already active") {
		return nil
	}
	return err
}
