package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// OpenFindings reads the findings that are open, oldest first.
func (g *Reader) OpenFindings(ctx context.Context) ([]reconcile.FindingSeen, error) {
	found, err := all(ctx, g.pool, "open_findings", nil, scanFinding)
	if err != nil {
		return nil, fmt.Errorf("read open findings: %w", err)
	}
	return found, nil
}

// findingWrites close what was resolved, then open or bring up to date what was seen,
// each finding once.
func findingWrites(r reconcile.Record, now time.Time) ([]write, error) {
	var writes []write
	if len(r.Resolved) > 0 {
		writes = append(writes, write{"resolve_findings", pgx.StrictNamedArgs{
			"now":      now,
			"rules":    column(r.Resolved, func(k reconcile.FindingKey) string { return k.Rule }),
			"subjects": column(r.Resolved, func(k reconcile.FindingKey) string { return clean(k.Subject) }),
		}})
	}
	for some := range slices.Chunk(r.Findings, rowsAtOnce) {
		put, err := putFindings(some, now)
		if err != nil {
			return nil, err
		}
		writes = append(writes, put)
	}
	return writes, nil
}

func putFindings(fs []reconcile.Finding, now time.Time) (write, error) {
	facts, held := make([]string, len(fs)), make([]string, len(fs))
	for i, f := range fs {
		var err error
		if facts[i], err = evidence(f.Evidence); err != nil {
			return write{}, err
		}
		if held[i], err = jsonText(cleaned(f.HeldBy.Texts())); err != nil {
			return write{}, err
		}
	}
	type finding = reconcile.Finding
	text := func(pick func(finding) string) []string {
		return column(fs, func(f finding) string { return clean(pick(f)) })
	}
	when := func(pick func(finding) time.Time) []pgtype.Timestamptz {
		return column(fs, func(f finding) pgtype.Timestamptz { return stamp(pick(f)) })
	}
	return write{"put_findings", pgx.StrictNamedArgs{
		"now":        now,
		"rules":      text(func(f finding) string { return f.Rule }),
		"subjects":   text(func(f finding) string { return f.Subject }),
		"providers":  text(func(f finding) string { return f.Provider }),
		"sandboxes":  text(func(f finding) string { return f.Sandbox }),
		"tasks":      text(func(f finding) string { return f.Task }),
		"reasons":    text(func(f finding) string { return f.Reason }),
		"evidence":   facts,
		"first_seen": when(func(f finding) time.Time { return f.FirstSeen }),
		"last_seen":  when(func(f finding) time.Time { return f.LastSeen }),
		"sighted_at": when(func(f finding) time.Time { return f.SightedAt }),
		"sightings":  column(fs, func(f finding) int { return f.Sightings }),
		"due":        column(fs, func(f finding) bool { return f.Due }),
		"held_by":    held,
		"incidents":  text(func(f finding) string { return f.Incident }),
	}}, nil
}
