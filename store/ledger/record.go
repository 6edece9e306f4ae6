package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// RecordEnd is the newest place of the record.
func (g *Reader) RecordEnd(ctx context.Context) (reconcile.RecordPlace, error) {
	found, err := all(ctx, g.pool, "record_end", pgx.StrictNamedArgs{}, scanPlace)
	if err != nil || len(found) == 0 {
		return reconcile.RecordPlace{}, fmt.Errorf("read the end of the record: %w", err)
	}
	return found[0], nil
}

// RecordAfter reads at most so many lines that follow a place, oldest first, and then the passes that ended meanwhile.
// A pass comes after what it wrote: passes are read first, and told once no line is left out.
func (g *Reader) RecordAfter(ctx context.Context, p reconcile.RecordPlace, most int) ([]reconcile.RecordEvent, error) {
	passes, err := all(ctx, g.pool, "record_passes", pgx.StrictNamedArgs{"pass": p.Pass, "most": most}, scanPass)
	if err != nil {
		return nil, fmt.Errorf("read passes after %d: %w", p.Pass, err)
	}
	found, err := all(ctx, g.pool, "record_lines", pgx.StrictNamedArgs{"link": p.Link, "within": p.Within, "most": most},
		scanRecorded)
	if err != nil {
		return nil, fmt.Errorf("read the record after %d: %w", p.Link, err)
	}
	for i := range found {
		p.Link, p.Within = found[i].Place.Link, found[i].Place.Within
		found[i].Place = p
	}
	if len(found) >= most {
		return found, nil
	}
	for i := range passes {
		p.Pass = passes[i].ID
		found = append(found, reconcile.RecordEvent{Place: p, Pass: &passes[i]})
	}
	return found, nil
}

func scanPlace(r pgx.Rows) (p reconcile.RecordPlace, _ error) {
	err := r.Scan(&p.Link, &p.Within, &p.Pass)
	return p, err
}

func scanRecorded(r pgx.Rows) (e reconcile.RecordEvent, _ error) {
	err := r.Scan(&e.Place.Link, &e.Place.Within, at(&e.At), &e.Subject, &e.Kind, &e.What, &e.Number)
	return e, err
}
