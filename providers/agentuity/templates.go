package agentuity

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Template reads a snapshot by name, name:tag or id. Snapshots have no state: one is there,
// or it was deleted.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	s, a, err := p.snapshot(ctx, name)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.Template{Name: name, Raw: "missing", State: reconcile.TemplateMissing, AsOf: a.Date}, nil
	case err != nil:
		return reconcile.Template{}, fmt.Errorf("read snapshot %s of %s: %w", name, p.entry.Name, err)
	}
	return reconcile.Template{ID: s.Snapshot, Name: name, Raw: "there", State: reconcile.TemplateActive, AsOf: a.Date}, nil
}

// snapshot asks one region after the other. It is missing only where each of them is certain.
func (p *Provider) snapshot(ctx context.Context, name string) (s snapshot, a wire.Answer, err error) {
	if err := wire.CheckID(name); err != nil {
		return s, a, err
	}
	places, err := p.places(ctx)
	if err != nil {
		return s, a, fmt.Errorf("regions: %w", err)
	}
	for _, r := range places {
		if s, a, err = p.snapshotIn(ctx, r, name); !errors.Is(err, reconcile.ErrNotFound) {
			break
		}
	}
	return s, a, err
}

// snapshotIn asks for the lineage, which begins with the snapshot itself, takes names as well
// as ids, and tells what was deleted.
func (p *Provider) snapshotIn(ctx context.Context, place, name string) (snapshot, wire.Answer, error) {
	in, a, err := fetch[struct {
		Lineage []snapshot `json:"lineage"`
	}](ctx, p, call{region: place, path: []string{"sandbox", "snapshots", "lineage"},
		query: url.Values{"snapshot": {name}, "limit": {"1"}}, Call: wire.Call{What: "snapshot"}})
	switch {
	case err != nil:
		return snapshot{}, a, err
	case in.Lineage == nil:
		return snapshot{}, a, errors.New("the answer is no lineage")
	case len(in.Lineage) == 0 || in.Lineage[0].Deleted:
		return snapshot{}, a, fmt.Errorf("%w: it was deleted, or never was", reconcile.ErrNotFound)
	case in.Lineage[0].Snapshot == "":
		return snapshot{}, a, errors.New("the answer is no snapshot: it has no id")
	}
	return in.Lineage[0], a, nil
}

// Activate cannot do anything: no snapshot is ever inactive.
func (p *Provider) Activate(_ context.Context, name string) error {
	return fmt.Errorf("activate snapshot %s of %s: %w", name, p.entry.Name,
		wire.Unable("a snapshot of agentuity is there or deleted, and never inactive"))
}
