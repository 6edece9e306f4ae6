package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Recall reads what is known in one snapshot. It writes nothing: a role that may only read
// is enough, and a database that was never migrated is a fresh memory.
func (g *Keeper) Recall(ctx context.Context) (reconcile.Memory, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return reconcile.Memory{}, err
	}
	m := reconcile.Memory{Now: now}
	err = pgx.BeginTxFunc(ctx, g.pool, snapshot, func(tx pgx.Tx) error {
		if err := g.lately(ctx, tx); err != nil {
			return err
		}
		return recall(ctx, tx, &m, g.seals.Load())
	})
	if errors.Is(err, errNoSchema) {
		return reconcile.Memory{Now: now, Fresh: true}, nil
	}
	if err != nil {
		return reconcile.Memory{}, fmt.Errorf("recall: %w", err)
	}
	return m, nil
}

var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// A reading is one query of a snapshot and what becomes of its rows.
type reading struct {
	query string
	args  pgx.StrictNamedArgs
	take  func(rows pgx.Rows) error
}

// read sends all readings at once and takes their rows one after the other: a snapshot
// costs one round trip, not one for each table.
func read(ctx context.Context, tx pgx.Tx, readings []reading) (err error) {
	batch := &pgx.Batch{}
	for _, r := range readings {
		batch.Queue(queries[r.query], r.args)
	}
	results := tx.SendBatch(ctx, batch)
	defer func() { err = errors.Join(err, results.Close()) }()
	for _, r := range readings {
		rows, err := results.Query()
		if err == nil {
			err = r.take(rows)
		}
		if err != nil {
			return failed(r.query, err)
		}
	}
	return nil
}

// sparse are the readings of which queries/filled.sql says whether there is anything to read.
var sparse = []string{"modes", "pauses", "holds", "releases", "breakers", "proofs", "arms", "learned", "proof_grace",
	"canaries", "recall_templates", "open_incidents", "open_findings", "open_actions", "recall_verdicts", "tallies",
	"recall_armed", "overview_findings", "overview_rules", "overview_resolved", "overview_actions", "overview_open_total",
	"overview_recent", "closed_incidents", "regretted", "score_actions", "score_verdicts", "trend_findings",
	"trend_leaking", "trend_actions", "trend_saved", "recall_hour"}

// readFilled is read without those readings that would find nothing: the transaction is a snapshot, so that what is
// empty remains empty. A pass of a quiet fleet asks one question in the place of twenty, and so does a page.
func readFilled(ctx context.Context, tx pgx.Tx, readings []reading) error {
	var filled []string
	if err := one(ctx, tx, "filled", nil, &filled); err != nil {
		return err
	}
	return read(ctx, tx, ofFilled(readings, filled))
}

// short are readings of a few rows that each pass makes.
var short = []string{"recall_sources", "recall_templates", "recall_installation"}

// readRecalled is readFilled of what a pass recalls: what is short is read with what is filled, by one statement.
func readRecalled(ctx context.Context, tx pgx.Tx, readings []reading) error {
	var filled []string
	first := []reading{each("filled", nil, scanTexts, func(names []string) { filled = names })}
	var rest []reading
	for _, r := range readings {
		if slices.Contains(short, r.query) {
			first = append(first, r)
		} else {
			rest = append(rest, r)
		}
	}
	if err := readAtOnce(ctx, tx, first); err != nil {
		return err
	}
	return read(ctx, tx, ofFilled(rest, filled))
}

func scanTexts(r pgx.Rows) (texts []string, err error) {
	err = r.Scan(&texts)
	return texts, err
}

// ofFilled leaves out the readings that would find nothing.
func ofFilled(readings []reading, filled []string) []reading {
	return slices.DeleteFunc(readings, func(r reading) bool {
		return slices.Contains(sparse, r.query) && !slices.Contains(filled, r.query)
	})
}

// each makes a reading that hands over row by row.
func each[T any](query string, args pgx.StrictNamedArgs, scan func(pgx.Rows) (T, error), take func(T)) reading {
	return reading{query, args, func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			row, err := scan(rows)
			if err != nil {
				return err
			}
			take(row)
		}
		return rows.Err()
	}}
}

// many is each for thousands of rows: all are scanned into one, which saves most of the
// memory that reading them would take.
func many[T any](query string, args pgx.StrictNamedArgs, columns func(*T) []any, take func(*T) error) reading {
	return reading{query, args, func(rows pgx.Rows) error {
		defer rows.Close()
		var row T
		into := columns(&row)
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			if err := take(&row); err != nil {
				return err
			}
		}
		return rows.Err()
	}}
}

func (s *sandboxRow) recallProbes(m *reconcile.Memory) (err error) {
	if !s.probes.at.IsZero() {
		m.Probes[s.Ref], err = s.probes.seen(s.Ref)
	}
	return err
}

// Sources reads the trust in the sources as the last pass left it.
func (g *Keeper) Sources(ctx context.Context) (map[string]reconcile.SourceSeen, error) {
	sources := map[string]reconcile.SourceSeen{}
	found, err := all(ctx, g.pool, "recall_sources", nil, scanSource)
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && missing(refusal) {
		return sources, nil // never migrated
	}
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	for _, s := range found {
		sources[s.Name] = s
	}
	return sources, nil
}

func recall(ctx context.Context, tx pgx.Tx, m *reconcile.Memory, seals *protocol.Seals) error {
	return recallBut(ctx, tx, m, seals, worldReadings(m)...)
}

// recallBut recalls everything but tasks and sandboxes, and what else is to be read.
func recallBut(ctx context.Context, tx pgx.Tx, m *reconcile.Memory, seals *protocol.Seals, readings ...reading) error {
	var ends []time.Time
	var full time.Time
	readings = append(append(readings, sourceReadings(m)...), workReadings(m, &ends, &full)...)
	readings = append(readings, controlReadings(&m.Controls, m.Now, seals)...)
	readings = append(readings, verdictReadings(m)...)
	readings = append(readings, canaryReading(&m.Canaries))
	if err := readRecalled(ctx, tx, readings); err != nil {
		return err
	}
	for i := range m.Actions {
		m.Actions[i] = seals.Checked(m.Actions[i], m.Now)
	}
	protocol.Remember(m, ends, full)
	return nil
}

// worldReadings are what was seen of tasks and sandboxes.
func worldReadings(m *reconcile.Memory) []reading {
	recent := pgx.StrictNamedArgs{"recent": m.Now.Add(-protocol.Recent)}
	m.Probes = map[reconcile.Ref]reconcile.ProbeSeen{}
	return []reading{
		many("recall_tasks", recent, (*taskSeenRow).columns, func(t *taskSeenRow) error {
			m.Tasks.Put(t.ID, t.seen())
			return nil
		}),
		many("recall_sandboxes", recent, (*sandboxRow).columns, func(s *sandboxRow) error {
			m.RememberSandbox(&s.SandboxSeen)
			return s.recallProbes(m)
		}),
	}
}

// sourceReadings are what was seen of templates and sources.
func sourceReadings(m *reconcile.Memory) []reading {
	m.Templates = map[reconcile.Ref]reconcile.TemplateSeen{}
	m.Sources = map[string]reconcile.SourceSeen{}
	return []reading{
		each("recall_templates", nil, scanTemplate, func(t reconcile.TemplateSeen) {
			m.Templates[reconcile.Ref{Provider: t.Provider, ID: t.Name}] = t
		}),
		each("recall_sources", nil, scanSource, func(s reconcile.SourceSeen) { m.Sources[s.Name] = s }),
	}
}

// workReadings are what sandkeeper came to and did, and the ends of its passes.
func workReadings(m *reconcile.Memory, ends *[]time.Time, full *time.Time) []reading {
	m.Findings = map[reconcile.FindingKey]reconcile.Finding{}
	return []reading{
		each("open_findings", nil, scanFinding, func(f reconcile.FindingSeen) { m.Findings[f.Key()] = f.Finding }),
		each("open_actions", pgx.StrictNamedArgs{"remedies": nil}, scanAction,
			func(a reconcile.Action) { m.Actions = append(m.Actions, a) }),
		each("recall_hour", pgx.StrictNamedArgs{"hour_ago": m.Now.Add(-protocol.Hour)}, scanCount,
			func(n int) { m.Spent.Hour = n }),
		{"recall_installation", pgx.StrictNamedArgs{"most": protocol.MostGaps + 1}, func(rows pgx.Rows) error {
			return takeInstallation(rows, m, ends, full)
		}},
	}
}

func scanCount(r pgx.Rows) (int, error) {
	var n int
	return n, r.Scan(&n)
}

func takeInstallation(rows pgx.Rows, m *reconcile.Memory, ends *[]time.Time, full *time.Time) error {
	defer rows.Close()
	for rows.Next() {
		var known []string
		if err := rows.Scan(at(&m.WatchSince), &known, at(full), ends); err != nil {
			return err
		}
		m.Known = protocol.Known(known)
	}
	return rows.Err()
}
