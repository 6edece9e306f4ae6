package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

func putIncidents(is []reconcile.Incident) (write, error) {
	type incident = reconcile.Incident
	is = lastOf(is, func(i incident) string { return i.ID })
	facts := make([]string, len(is))
	for n, i := range is {
		var err error
		if facts[n], err = evidence(i.Evidence); err != nil {
			return write{}, err
		}
	}
	text := func(pick func(incident) string) []string {
		return column(is, func(i incident) string { return clean(pick(i)) })
	}
	when := func(pick func(incident) time.Time) []pgtype.Timestamptz {
		return column(is, func(i incident) pgtype.Timestamptz { return stamp(pick(i)) })
	}
	return write{"put_incidents", pgx.StrictNamedArgs{
		"ids":        text(func(i incident) string { return i.ID }),
		"signatures": text(func(i incident) string { return i.Signature }),
		"rules":      text(func(i incident) string { return i.Rule }),
		"providers":  text(func(i incident) string { return i.Provider }),
		"templates":  text(func(i incident) string { return i.Template }),
		"errors":     text(func(i incident) string { return i.Error }),
		"causes":     text(func(i incident) string { return i.Cause }),
		"evidence":   facts,
		"opened_at":  when(func(i incident) time.Time { return i.OpenedAt }),
		"first_seen": when(func(i incident) time.Time { return i.FirstSeen }),
		"last_seen":  when(func(i incident) time.Time { return i.LastSeen }),
		"closed_at":  when(func(i incident) time.Time { return i.ClosedAt }),
		"counts":     column(is, func(i incident) int { return i.Count }),
		"costs":      column(is, func(i incident) float64 { return i.Cost }),
	}}, nil
}

// incidentRow is an incident with the signature of who released it.
type incidentRow struct {
	reconcile.Incident
	seal string
}

func scanIncident(r pgx.Rows) (incidentRow, error) {
	var i incidentRow
	var facts []byte
	err := r.Scan(&i.ID, &i.Signature, &i.Rule, &i.Provider, &i.Template, &i.Error, &i.Cause, &facts, at(&i.OpenedAt),
		at(&i.FirstSeen), at(&i.LastSeen), at(&i.ClosedAt), &i.Count, &i.Cost, at(&i.ReleasedAt), &i.ReleasedBy.Author,
		&i.ReleasedBy.Reason, &i.seal, at(&i.AckedAt), &i.AckedBy.Author, &i.AckedBy.Reason)
	if err != nil {
		return i, err
	}
	i.Evidence, err = facing(facts)
	return i, err
}

// Incidents reads up to most incidents: the open ones, oldest first, then those that were
// closed, newest first.
func (g *Reader) Incidents(ctx context.Context, most int) ([]reconcile.Incident, error) {
	var found []reconcile.Incident
	err := g.inSnapshot(ctx, func(tx pgx.Tx) error {
		return read(ctx, tx, incidentReadings(&found, max(most, 0), g.seals.Load()))
	})
	if err != nil {
		return nil, fmt.Errorf("read incidents: %w", err)
	}
	return found[:min(len(found), max(most, 0))], nil
}

func incidentReadings(found *[]reconcile.Incident, most int, seals *protocol.Seals) []reading {
	take := func(i incidentRow) { *found = append(*found, seals.Incident(i.Incident, i.seal)) }
	return []reading{
		each("open_incidents", nil, scanIncident, take),
		each("closed_incidents", pgx.StrictNamedArgs{"most": most}, scanIncident, take),
	}
}

// Incident reads one incident. [reconcile.ErrNotFound] means that there is none of this id.
func (g *Reader) Incident(ctx context.Context, id string) (reconcile.Incident, error) {
	var found reconcile.Incident
	err := g.inSnapshot(ctx, func(tx pgx.Tx) error {
		row, err := incident(ctx, tx, id)
		found = g.seals.Load().Incident(row.Incident, row.seal)
		return err
	})
	if err != nil {
		return reconcile.Incident{}, fmt.Errorf("read incident %s: %w", id, err)
	}
	return found, nil
}

func incident(ctx context.Context, tx pgx.Tx, id string) (incidentRow, error) {
	found, err := all(ctx, tx, "incident", pgx.StrictNamedArgs{"id": id}, scanIncident)
	if err == nil && len(found) == 0 {
		err = reconcile.ErrNotFound
	}
	if err != nil {
		return incidentRow{}, err
	}
	return found[0], nil
}

// ReleaseIncident lets go on what an open incident holds. [reconcile.ErrNotFound] means that
// there is none of this id.
func (g *Operators) ReleaseIncident(ctx context.Context, id string, by reconcile.Attribution) error {
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		seals := g.seals.Load()
		row, err := incident(ctx, tx, id)
		found := seals.Incident(row.Incident, row.seal)
		if err == nil {
			err = protocol.CheckReleasable(found)
		}
		if err == nil && !row.ReleasedAt.IsZero() {
			_, err = exec(ctx, tx, "release_again", pgx.StrictNamedArgs{"id": id, "seal": row.seal})
		}
		if err != nil {
			return nil, err
		}
		l := protocol.Lift{Attribution: by, At: now}
		return []line{{"incident:" + id, "released"}}, counted(ctx, tx, "release_incident", pgx.StrictNamedArgs{
			"id": id, "author": clean(by.Author), "reason": clean(by.Reason), "now": now,
			"seal": seals.Sign(protocol.IncidentRelease(&found, l)),
		}, errors.New("it was closed or released just now"))
	})
	if err != nil {
		return fmt.Errorf("release incident %s: %w", id, err)
	}
	return nil
}

// Affected reads the verdicts of an incident's signature while it lasted, oldest first.
// [reconcile.ErrNotFound] means that there is no such incident.
func (g *Reader) Affected(ctx context.Context, id string) ([]reconcile.Verdict, error) {
	var found []reconcile.Verdict
	err := g.inSnapshot(ctx, func(tx pgx.Tx) error {
		of, err := incident(ctx, tx, id)
		if err != nil {
			return err
		}
		found, err = all(ctx, tx, "victims", pgx.StrictNamedArgs{
			"signature": of.Signature, "first": of.FirstSeen, "closed": stamp(of.ClosedAt),
		}, scanVerdict)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read affected tasks of incident %s: %w", id, err)
	}
	return found, nil
}
