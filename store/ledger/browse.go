package ledger

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Findings reads a part of the findings that somebody chose, newest first, and the cursor of the part after it; a zero
// one when this is the last.
func (g *Reader) Findings(ctx context.Context, c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
	args := pgx.StrictNamedArgs{"held_by": reconcile.HeldBegins(c.HeldBy), "incident": c.Incident, "template": c.Template}
	query := "browse_findings_resolved"
	switch {
	case c.State == reconcile.ChosenResolved && c.Sort == oldest:
		query = "browse_findings_resolved_oldest"
	case c.State != reconcile.ChosenResolved && c.Sort != "" && c.Sort != youngest:
		args["state"] = c.State
		return sorted(ctx, g, "browse_findings_sorted", &c, chosenArgs(&c, args), scanFinding)
	case c.State != reconcile.ChosenResolved:
		query, args["state"] = "browse_findings_open", c.State
	}
	rows, next, err := part(ctx, g, query, &c, args, scanFindingRow)
	if err != nil {
		return nil, next, fmt.Errorf("read findings: %w", err)
	}
	return column(rows, func(r findingRow) reconcile.FindingSeen { return r.FindingSeen }), next, nil
}

// Actions reads a part of the actions that somebody chose, newest first, as Findings does; of one pass in the order in
// which they were planned.
func (g *Reader) Actions(ctx context.Context, c reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error) {
	if c.Pass != 0 {
		return g.passActions(ctx, &c)
	}
	args := pgx.StrictNamedArgs{"step": string(c.Step), "outcome": string(c.Outcome), "author": c.Author}
	query := "browse_actions_open"
	switch {
	case c.State == reconcile.ChosenClosed && c.Sort == oldest:
		query = "browse_actions_closed_oldest"
	case c.State == reconcile.ChosenClosed:
		query = "browse_actions_closed"
	case c.Sort != "" && c.Sort != youngest:
		return sorted(ctx, g, "browse_actions_sorted", &c, chosenArgs(&c, args), scanAction)
	}
	rows, next, err := part(ctx, g, query, &c, args, scanActionRow)
	if err != nil {
		return nil, next, fmt.Errorf("read actions: %w", err)
	}
	return column(rows, func(r actionRow) reconcile.Action { return r.Action }), next, nil
}

func (g *Reader) passActions(ctx context.Context, c *reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error) {
	rows, err := all(ctx, g.pool, "browse_actions_pass", pgx.StrictNamedArgs{
		"pass": c.Pass, "key": clean(c.After.Key), "most": c.Most + 1,
	}, scanActionRow)
	if err != nil {
		return nil, reconcile.Cursor{}, fmt.Errorf("read the actions of pass %d: %w", c.Pass, err)
	}
	rows, next := cut(rows, c.Most)
	return column(rows, func(r actionRow) reconcile.Action { return r.Action }), next, nil
}

// OperatorEvents reads a part of what operators asked for, newest first.
func (g *Reader) OperatorEvents(ctx context.Context, after reconcile.Cursor, most int,
) ([]reconcile.TimelineEvent, reconcile.Cursor, error) {
	key, err := numberOf(after)
	if err != nil {
		return nil, reconcile.Cursor{}, err
	}
	rows, err := all(ctx, g.pool, "browse_operators", pgx.StrictNamedArgs{
		"at": stamp(after.At), "key": key, "most": most + 1,
	}, scanEventRow)
	if err != nil {
		return nil, reconcile.Cursor{}, fmt.Errorf("read what operators did: %w", err)
	}
	rows, next := cut(rows, most)
	return column(rows, func(r eventRow) reconcile.TimelineEvent { return r.TimelineEvent }), next, nil
}

// PassesBelow reads the passes below a number, newest first; 0 is the newest.
func (g *Reader) PassesBelow(ctx context.Context, below int64, most int) ([]reconcile.PassSeen, error) {
	found, err := all(ctx, g.pool, "browse_passes", pgx.StrictNamedArgs{"below": below, "most": most}, scanPass)
	if err != nil {
		return nil, fmt.Errorf("read passes below %d: %w", below, err)
	}
	return found, nil
}

// NewestAffected reads a part of the verdicts of an incident while it lasted, newest first. [reconcile.ErrNotFound]
// means that there is no such incident.
func (g *Reader) NewestAffected(ctx context.Context, id string, after reconcile.Cursor, most int,
) ([]reconcile.Verdict, reconcile.Cursor, error) {
	key, err := numberOf(after)
	if err != nil {
		return nil, reconcile.Cursor{}, err
	}
	var found []verdictRow
	err = g.inSnapshot(ctx, func(tx pgx.Tx) error {
		of, err := incident(ctx, tx, id)
		if err != nil {
			return err
		}
		found, err = all(ctx, tx, "browse_incident_verdicts", pgx.StrictNamedArgs{
			"signature": of.Signature, "first": of.FirstSeen, "closed": stamp(of.ClosedAt),
			"at": stamp(after.At), "key": key, "most": most + 1,
		}, scanVerdictRow)
		return err
	})
	if err != nil {
		return nil, reconcile.Cursor{}, fmt.Errorf("read the newest tasks of incident %s: %w", id, err)
	}
	rows, next := cut(found, most)
	return column(rows, func(r verdictRow) reconcile.Verdict { return r.Verdict }), next, nil
}

// Search finds tasks, sandboxes and incidents by an id or a part of one, what is there first.
func (g *Reader) Search(ctx context.Context, text string, most int) ([]reconcile.FoundSubject, error) {
	if text = clean(text); text == "" {
		return nil, nil
	}
	found, err := all(ctx, g.pool, "search", pgx.StrictNamedArgs{
		"text": text, "end": text + "\U0010FFFF", "most": most,
	}, scanFoundSubject)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// A keyed row says where the part after it begins.
type keyed interface{ cursor() reconcile.Cursor }

// part reads one row more than is wanted, to know whether another part follows.
func part[T keyed](ctx context.Context, g *Reader, query string, c *reconcile.Chosen, args pgx.StrictNamedArgs,
	scan func(pgx.Rows) (T, error)) ([]T, reconcile.Cursor, error) {
	args = chosenArgs(c, args)
	args["at"], args["key"], args["most"] = stamp(c.After.At), any(clean(c.After.Key)), c.Most+1
	var zero T
	if _, numbered := any(zero).(findingRow); numbered {
		number, err := numberOf(c.After)
		if err != nil {
			return nil, reconcile.Cursor{}, err
		}
		args["key"] = number
	}
	rows, err := all(ctx, g.pool, query, args, scan)
	if err != nil {
		return nil, reconcile.Cursor{}, err
	}
	rows, next := cut(rows, c.Most)
	return rows, next, nil
}

func cut[T keyed](rows []T, most int) ([]T, reconcile.Cursor) {
	if len(rows) <= most || most <= 0 {
		return rows, reconcile.Cursor{}
	}
	return rows[:most], rows[most-1].cursor()
}

// numberOf is the number in a cursor's key; 0 of the zero cursor.
func numberOf(c reconcile.Cursor) (int64, error) {
	if c.Key == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(c.Key, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the cursor %q: %w", c.Key, err)
	}
	return n, nil
}

type findingRow struct {
	reconcile.FindingSeen
	number int64
}

func (r findingRow) cursor() reconcile.Cursor {
	return reconcile.Cursor{At: latest(r.OpenedAt, r.ResolvedAt), Key: strconv.FormatInt(r.number, 10)}
}

func scanFindingRow(rows pgx.Rows) (findingRow, error) {
	var r findingRow
	var err error
	r.FindingSeen, err = scanFindingAnd(rows, &r.number)
	return r, err
}

type actionRow struct{ reconcile.Action }

func (r actionRow) cursor() reconcile.Cursor {
	if r.ClosedAt.IsZero() {
		return reconcile.Cursor{At: r.PlannedAt, Key: r.ID}
	}
	return reconcile.Cursor{At: r.ClosedAt, Key: r.ID}
}

func scanActionRow(rows pgx.Rows) (actionRow, error) {
	a, err := scanAction(rows)
	return actionRow{a}, err
}

type verdictRow struct{ reconcile.Verdict }

func (r verdictRow) cursor() reconcile.Cursor {
	return reconcile.Cursor{At: r.At, Key: strconv.FormatInt(r.Number, 10)}
}

func scanVerdictRow(rows pgx.Rows) (verdictRow, error) {
	v, err := scanVerdict(rows)
	return verdictRow{v}, err
}

type eventRow struct {
	reconcile.TimelineEvent
	number int64
}

func (r eventRow) cursor() reconcile.Cursor {
	return reconcile.Cursor{At: r.At, Key: strconv.FormatInt(r.number, 10)}
}

func scanEventRow(rows pgx.Rows) (eventRow, error) {
	var e eventRow
	err := rows.Scan(at(&e.At), &e.Subject, &e.Kind, &e.What, &e.number)
	return e, err
}

func scanFoundSubject(rows pgx.Rows) (reconcile.FoundSubject, error) {
	var f reconcile.FoundSubject
	err := rows.Scan((*string)(&f.Type), &f.Provider, &f.ID, &f.Name, &f.Task, &f.State, &f.There)
	return f, err
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
