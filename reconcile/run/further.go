package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// explainedBy is the further table whose row explains the sandbox; "" when none does.
func (k observer) explainedBy(ctx context.Context, sb reconcile.Sandbox) (string, error) {
	s := reconcile.Snapshot{Explained: map[reconcile.Ref]string{}}
	if k.Policy.Tasks.None {
		return "", nil
	}
	err := k.readFurther(ctx, &s, []reconcile.Sandbox{sb})
	return s.Explained[sb.Ref], err
}

// readFurther asks the further tables of the platform for the sandboxes that they may explain and
// that no live task does.
func (k observer) readFurther(ctx context.Context, s *reconcile.Snapshot, sandboxes []reconcile.Sandbox) error {
	wanted := make([][]string, len(k.Policy.Tasks.ExplainedBy))
	for i := range sandboxes {
		for _, key := range sandboxes[i].Further {
			wanted[key.By] = append(wanted[key.By], key.Value)
		}
	}
	for by, values := range wanted {
		if len(values) == 0 {
			continue
		}
		table := k.Policy.Tasks.ExplainedBy[by].Table
		slices.Sort(values)
		values = slices.Compact(values)
		held, err := k.Tasks.Explaining(ctx, by, values)
		if ctx.Err() != nil {
			return fmt.Errorf("read which sandboxes %s explains: %w", table, err)
		}
		//guard:further-unread harm
		if err != nil {
			k.Log.WarnContext(ctx, "a table that explains sandboxes cannot be read: all that it may explain is left",
				"table", table, "err", err)
			held, table = values, table+", which could not be read,"
		}
		slices.Sort(held)
		for _, sb := range sandboxes {
			for _, key := range sb.Further {
				if _, explains := slices.BinarySearch(held, key.Value); explains && key.By == by {
					s.Explained[sb.Ref] = table
				}
			}
		}
	}
	return nil
}
