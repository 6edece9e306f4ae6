package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// putIncidents opens incidents and brings them up to date. When one was opened, and its
// release, are not a pass's to change.
func (g *incidentTable) putIncidents(is []reconcile.Incident) {
	for _, i := range is {
		i.Evidence, i.ReleasedAt, i.ReleasedBy = slices.Clone(i.Evidence), time.Time{}, reconcile.Attribution{}
		if before, known := g.incidents[i.ID]; known {
			i.OpenedAt, i.ReleasedAt, i.ReleasedBy = before.OpenedAt, before.ReleasedAt, before.ReleasedBy
		}
		g.incidents[i.ID] = i
	}
}

func copiedIncidents(is []reconcile.Incident) []reconcile.Incident {
	for n := range is {
		is[n].Evidence = slices.Clone(is[n].Evidence)
	}
	return is
}

func (g *incidentTable) openIncidents() []reconcile.Incident {
	oldest := func(a, b reconcile.Incident) int {
		return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), cmp.Compare(a.ID, b.ID))
	}
	return copiedIncidents(sorted(g.incidents, oldest, func(i reconcile.Incident) bool { return i.ClosedAt.IsZero() }))
}

// allIncidents are the open ones, and up to most that were closed, newest first.
func (g *incidentTable) allIncidents(most int) []reconcile.Incident {
	newest := func(a, b reconcile.Incident) int {
		return cmp.Or(b.ClosedAt.Compare(a.ClosedAt), cmp.Compare(b.ID, a.ID))
	}
	closed := sorted(g.incidents, newest, func(i reconcile.Incident) bool { return !i.ClosedAt.IsZero() })
	return append(g.openIncidents(), copiedIncidents(cut(closed, most))...)
}

// Incidents reads up to most incidents: the open ones first.
func (g *Ledger) Incidents(ctx context.Context, most int) ([]reconcile.Incident, error) {
	var found []reconcile.Incident
	err := g.locked(ctx, func(time.Time) error {
		found = cut(g.allIncidents(max(most, 0)), max(most, 0))
		return nil
	})
	return found, err
}

// Incident reads one incident.
func (g *Ledger) Incident(ctx context.Context, id string) (reconcile.Incident, error) {
	var found reconcile.Incident
	err := g.locked(ctx, func(time.Time) (err error) {
		found, err = g.incident(id)
		return err
	})
	if err != nil {
		return reconcile.Incident{}, fmt.Errorf("read incident %s: %w", id, err)
	}
	return found, nil
}

func (g *incidentTable) incident(id string) (reconcile.Incident, error) {
	found, known := g.incidents[id]
	if !known {
		return found, reconcile.ErrNotFound
	}
	found.Evidence = slices.Clone(found.Evidence)
	return found, nil
}

// ReleaseIncident lets go on what an open incident holds.
func (g *Operators) ReleaseIncident(ctx context.Context, id string, by reconcile.Attribution) error {
	err := g.operatorRequest(ctx, by, func(now time.Time) ([]line, error) {
		found, err := g.incident(id)
		if err == nil {
			err = protocol.CheckReleasable(found)
		}
		if err != nil {
			return nil, err
		}
		found.ReleasedAt, found.ReleasedBy = now, by
		g.incidents[id] = found
		return []line{{"incident:" + id, "released"}}, nil
	})
	if err != nil {
		return fmt.Errorf("release incident %s: %w", id, err)
	}
	return nil
}

// Affected reads the verdicts of an incident's signature while it lasted, oldest first.
func (g *Ledger) Affected(ctx context.Context, id string) ([]reconcile.Verdict, error) {
	var found []reconcile.Verdict
	err := g.locked(ctx, func(time.Time) error {
		of, err := g.incident(id)
		if err != nil {
			return err
		}
		found = g.verdictsOf(func(v *reconcile.Verdict) bool {
			lasted := of.ClosedAt.IsZero() || !v.At.After(of.ClosedAt)
			return v.Signature == of.Signature && !v.At.Before(of.FirstSeen) && lasted
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read affected tasks of incident %s: %w", id, err)
	}
	return found, nil
}
