package run

import (
	"context"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// carryRetry has a task run again that our own write failed, because an operator asked for it. The row is read, then
// the requests, and the write itself leaves a row that has moved since.
func (r *executor) carryRetry(ctx context.Context, a reconcile.Action) reconcile.Action {
	if _, ok := r.k.Tasks.(reconcile.Retrier); !ok || a.Before == nil {
		return r.giveUp(a, "nothing is known of the row as our own write left it")
	}
	f := r.factsOf(&a)
	rows, err := r.k.Tasks.ByID(ctx, []string{a.Task})
	if err != nil {
		return r.later(a, "read the row again: "+err.Error())
	}
	for i := range rows.Tasks {
		f.Row = &rows.Tasks[i]
	}
	r.readWishes(ctx, &a, f)
	ruling := r.rule(&a, f)
	if !ruling.Goes() {
		return r.instead(a, ruling)
	}
	written, err := r.k.effects().retry(ctx, ruling, &a)
	switch {
	case err != nil:
		return r.laterOrNever(a, err.Error())
	case written != reconcile.WriteDone:
		return r.withdraw(a, "the row has moved since it was marked failed: it is left as it is")
	}
	a.Outcome, a.Detail, a.ActedAt, a.ClosedAt = reconcile.OutcomeDone, "", r.now, r.now
	return a
}
