package tasks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var _ reconcile.Retrier = (*Tasks)(nil)

// NoRetry says why nobody but the platform itself can have its tasks run again, "" when [Tasks.Retry] can.
func (c *Compiled) NoRetry() string {
	requeue, known := c.changes[reconcile.StepRequeue]
	_, called := c.calls[reconcile.StepRequeue]
	switch {
	case called:
		return "tasks.requeue.call asks the platform about live tasks only: run these again by its own API"
	case !known:
		return "tasks.requeue is not configured, so sandkeeper does not know how a task is run again"
	case c.several(requeue), c.several(c.changes[reconcile.StepFail]):
		return "tasks.requeue or tasks.fail is more than one UPDATE of the row that is read: run the SQL of " +
			"`sandkeeper affected INCIDENT -o sql`"
	case len(c.marked()) == 0:
		return "tasks.fail sets no column to @reason, so our own write cannot be told from another one"
	}
	return ""
}

// marked are the columns that a fail puts its reason and its mark into.
func (c *Compiled) marked() []string {
	var columns []string
	for _, a := range c.changes[reconcile.StepFail].sets {
		if a.reason && !slices.Contains(columns, a.Column) {
			columns = append(columns, a.Column)
		}
	}
	return columns
}

// Retry sets a row that our own write failed to what tasks.requeue says, while it has the version and the mark of that
// write: what anybody has done to it since is nobody's to undo. A row that is not so is left, and has moved.
func (t *Tasks) Retry(ctx context.Context, id string, failed reconcile.RowBefore, reason string,
) (reconcile.Written, error) {
	if why := t.plan.NoRetry(); why != "" {
		return "", errors.New(why)
	}
	written := reconcile.WriteMoved
	err := t.begin(ctx, taskWrite, func(tx pgx.Tx, _ time.Time) error {
		s, err := t.statements(ctx, tx)
		if err != nil {
			return err
		}
		a, err := s.attempt(reconcile.Write{Step: reconcile.StepRequeue, Task: reconcile.Task{ID: id}, Reason: reason})
		if err != nil || a.id == "" {
			return err // an id that is none of this table names no row
		}
		written, err = a.retry(ctx, tx, failed)
		return err
	})
	if err != nil {
		return "", t.plain("retry task "+id, err)
	}
	return written, nil
}

func (a *attempt) retry(ctx context.Context, tx pgx.Tx, failed reconcile.RowBefore) (reconcile.Written, error) {
	if failed.After == "" || failed.Mark == "" {
		return "", errors.New("the ledger does not know our write's version and mark: run the task again by hand")
	}
	sql, err := render("retry", struct {
		guard
		NewStatus, State string
		Sets             []assignment
		Marked           []string
	}{a.s.guard(&a.Write), a.s.newStatus(a.change), a.s.stateSQL(), a.change.sets, a.s.plan.marked()})
	if err != nil {
		return "", err
	}
	args := pgx.StrictNamedArgs{"id": a.id, "after": failed.After, "mark": failed.Mark}
	if a.change.status != "" {
		args["new_status"] = a.change.status
	}
	if slices.ContainsFunc(a.change.sets, func(set assignment) bool { return set.reason }) {
		args["reason"] = a.reason
	}
	after, err := writeOne(ctx, tx, sql, args)
	if err != nil || after == nil {
		return reconcile.WriteMoved, err
	}
	if err := a.became(after.State); err != nil {
		return "", err
	}
	return reconcile.WriteDone, a.tell(ctx, tx)
}
