package run

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// users are the rows that the sandbox may belong to: those that name it, the one that it
// names, the one that the ledger remembers, and the one that was asked about.
func (r *looker) users(ctx context.Context, a *reconcile.Action, sb *reconcile.Sandbox) ([]reconcile.Task, error) {
	if r.policy.Tasks.None {
		return nil, nil
	}
	label := sb.Task
	if sb.BadLink {
		label = ""
	}
	var users []reconcile.Task
	//guard:asked-labels-lost harm
	if ids := reconcile.AppendNew(nil, reconcile.NonEmpty(a.Task, label,
		r.view.S.Memory.Sandboxes.Of(sb.Ref).Task)...); len(ids) > 0 {
		rows, err := r.k.Tasks.ByID(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("read the rows that the sandbox may belong to: %w", err)
		}
		//guard:asked-rows-lost harm
		users = append(rows.Tasks, r.view.RemembersWorking(ids, rows.Tasks)...)
	}
	keys := sb.Keys()
	if len(keys) == 0 {
		return users, nil
	}
	rows, err := r.k.Tasks.BySandbox(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the rows that name the sandbox: %w", err)
	}
	//guard:asked-named-by-row harm
	return append(users, rows.Tasks...), nil
}
