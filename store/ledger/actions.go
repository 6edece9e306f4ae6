package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// OpenActions reads the actions that are not closed, of these remedies or of all, oldest remedy first.
func (g *Keeper) OpenActions(ctx context.Context, remedies ...string) ([]reconcile.Action, error) {
	found, err := all(ctx, g.pool, "open_actions", pgx.StrictNamedArgs{"remedies": remedies}, scanAction)
	if seals := g.seals.Load(); err == nil && seals.On() {
		var now time.Time
		now, err = g.Now(ctx)
		found = column(found, func(a reconcile.Action) reconcile.Action { return seals.Checked(a, now) })
	}
	if err != nil {
		return nil, fmt.Errorf("read open actions: %w", err)
	}
	return found, nil
}

// actionWrites withdraw first, so that a place that comes free is free for what is new, and
// count last, when they wait for no action any more.
func actionWrites(r reconcile.Record, now time.Time) ([]write, error) {
	puts, err := planWrites(r.Actions)
	if err != nil || len(puts)+len(r.Withdrawn) == 0 {
		return nil, err
	}
	writes := []write{{"plan_lock", nil}, {"withdraw_actions", pgx.StrictNamedArgs{"ids": r.Withdrawn, "now": now}}}
	return append(append(writes, puts...), countWithdrawn(r.Withdrawn)), nil
}

// countWithdrawn counts what this transaction withdrew: of these actions, and after them.
func countWithdrawn(ids []string) write {
	return write{"count_withdrawn", pgx.StrictNamedArgs{"ids": ids}}
}

// planWrites write first steps before later ones, which come only with them.
func planWrites(actions []reconcile.Action) ([]write, error) {
	var writes []write
	var first, later []reconcile.Action
	for _, a := range actions {
		if a.Seq == 0 {
			first = append(first, a)
		} else {
			later = append(later, a)
		}
	}
	for _, steps := range [][]reconcile.Action{first, later} {
		if len(steps) == 0 {
			continue
		}
		put, err := putActions(steps)
		if err != nil {
			return nil, err
		}
		writes = append(writes, put)
	}
	return writes, nil
}

func putActions(as []reconcile.Action) (write, error) {
	facts, befores := make([]string, len(as)), make([]*string, len(as))
	for i, a := range as {
		var err error
		if facts[i], err = evidence(a.Evidence); err != nil {
			return write{}, err
		}
		if befores[i], err = rowBefore(a.Before); err != nil {
			return write{}, err
		}
	}
	type action = reconcile.Action
	text := func(pick func(action) string) []string {
		return column(as, func(a action) string { return clean(pick(a)) })
	}
	when := func(pick func(action) time.Time) []pgtype.Timestamptz {
		return column(as, func(a action) pgtype.Timestamptz { return stamp(pick(a)) })
	}
	return write{"put_actions", pgx.StrictNamedArgs{
		"ids":          text(func(a action) string { return a.ID }),
		"remedies":     text(func(a action) string { return a.Remedy }),
		"seqs":         column(as, func(a action) int { return a.Seq }),
		"passes":       column(as, func(a action) int64 { return a.Pass }),
		"rules":        text(func(a action) string { return a.Rule }),
		"subjects":     text(func(a action) string { return a.Subject }),
		"providers":    text(func(a action) string { return a.Provider }),
		"sandboxes":    text(func(a action) string { return a.Sandbox }),
		"tasks":        text(func(a action) string { return a.Task }),
		"steps":        text(func(a action) string { return string(a.Step) }),
		"reasons":      text(func(a action) string { return a.Reason }),
		"evidence":     facts,
		"row_only":     column(as, func(a action) bool { return a.RowOnly }),
		"planned_at":   when(func(a action) time.Time { return a.PlannedAt }),
		"next_attempt": when(func(a action) time.Time { return a.NextAttempt }),
		"began":        when(func(a action) time.Time { return a.Began }),
		"signatures":   text(func(a action) string { return a.Signature }),
		"authors":      text(func(a action) string { return a.Author }),
		"running":      column(as, func(a action) bool { return a.Running }),
		"anyway":       column(as, func(a action) bool { return a.Anyway }),
		"befores":      befores,
		"seals":        text(func(a action) string { return a.Seal }),
	}}, nil
}

// rowBefore is a row as it was before our write, as JSON; nil when it is not known.
func rowBefore(b *reconcile.RowBefore) (*string, error) {
	if b == nil {
		return nil, nil
	}
	kept := reconcile.RowBefore{After: clean(b.After), Mark: clean(b.Mark), Columns: map[string]*string{}}
	for name, value := range b.Columns {
		if value != nil {
			text := clean(*value)
			value = &text
		}
		kept.Columns[clean(name)] = value
	}
	text, err := jsonText(kept)
	return &text, err
}
