package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Tasks reads a part of the tasks that somebody chose, by id, and the cursor of the part after it. A state is live,
// all, or one of a task's own.
func (g *Reader) Tasks(ctx context.Context, c reconcile.Chosen) ([]reconcile.TaskSeen, reconcile.Cursor, error) {
	if by, down := c.Order(); by != "" && (by != "id" || down) {
		return sorted(ctx, g, "browse_tasks_sorted", &c, pgx.StrictNamedArgs{
			"state": clean(c.State), "text": clean(c.Text), "template": clean(c.Template),
		}, scanTask)
	}
	rows, err := all(ctx, g.pool, "browse_tasks", pgx.StrictNamedArgs{
		"state": clean(c.State), "text": clean(c.Text), "template": clean(c.Template),
		"key": clean(c.After.Key), "most": c.Most + 1,
	}, scanTaskRow)
	if err != nil {
		return nil, reconcile.Cursor{}, fmt.Errorf("read tasks: %w", err)
	}
	rows, next := cut(rows, c.Most)
	return column(rows, func(r taskRow) reconcile.TaskSeen { return r.TaskSeen }), next, nil
}

// Sandboxes reads a part of the sandboxes that somebody chose, by provider and id, as Tasks does. A state is live,
// gone, all, or one of those that exist.
func (g *Reader) Sandboxes(ctx context.Context, c reconcile.Chosen) ([]reconcile.SandboxSeen, reconcile.Cursor, error) {
	if by, down := c.Order(); by != "" && (by != "id" || down) {
		return sorted(ctx, g, "browse_sandboxes_sorted", &c, pgx.StrictNamedArgs{
			"state": clean(c.State), "provider": clean(c.Provider), "text": clean(c.Text),
			"template": clean(c.Template),
		}, scanSandbox)
	}
	query := "browse_sandboxes"
	if c.State == reconcile.ChosenAll || c.State == reconcile.ChosenGone {
		query = "browse_sandboxes_all"
	}
	after, _ := reconcile.ParseRef(c.After.Key)
	rows, err := all(ctx, g.pool, query, pgx.StrictNamedArgs{
		"state": clean(c.State), "provider": clean(c.Provider), "text": clean(c.Text),
		"template":       clean(c.Template),
		"after_provider": clean(after.Provider), "after_id": clean(after.ID), "most": c.Most + 1,
	}, scanBoxRow)
	if err != nil {
		return nil, reconcile.Cursor{}, fmt.Errorf("read sandboxes: %w", err)
	}
	rows, next := cut(rows, c.Most)
	return column(rows, func(r boxRow) reconcile.SandboxSeen { return r.SandboxSeen }), next, nil
}

// Action reads one action. [reconcile.ErrNotFound] means that there is none of this id.
func (g *Reader) Action(ctx context.Context, id string) (reconcile.Action, error) {
	found, err := all(ctx, g.pool, "browse_action", pgx.StrictNamedArgs{"id": clean(id)}, scanAction)
	if err == nil && len(found) == 0 {
		err = reconcile.ErrNotFound
	}
	if err != nil {
		return reconcile.Action{}, fmt.Errorf("read action %s: %w", id, err)
	}
	return found[0], nil
}

// SandboxTotals counts the sandboxes on record by their state; those that are gone count as gone.
func (g *Reader) SandboxTotals(ctx context.Context) (map[string]int, error) {
	found, err := all(ctx, g.pool, "browse_totals", nil, scanRuleCount)
	if err != nil {
		return nil, fmt.Errorf("count sandboxes: %w", err)
	}
	out := map[string]int{}
	for _, c := range found {
		out[c.rule] = c.count
	}
	return out, nil
}

type taskRow struct{ reconcile.TaskSeen }

func (r taskRow) cursor() reconcile.Cursor { return reconcile.Cursor{Key: r.ID} }

func scanTaskRow(rows pgx.Rows) (taskRow, error) {
	t, err := scanTask(rows)
	return taskRow{t}, err
}

type boxRow struct{ reconcile.SandboxSeen }

func (r boxRow) cursor() reconcile.Cursor { return reconcile.Cursor{Key: r.Ref.String()} }

func scanBoxRow(rows pgx.Rows) (boxRow, error) {
	s, err := scanSandbox(rows)
	return boxRow{s}, err
}
