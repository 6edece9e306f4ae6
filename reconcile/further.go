package reconcile

import (
	"context"
	"fmt"
	"slices"
)

// describe makes a sandbox as a provider showed it fit to be kept, and notes by which values further
// tables may explain it while its labels are at hand.
func (p *Policy) describe(sb *Sandbox) {
	sb.scrub()
	for by, table := range p.Tasks.ExplainedBy {
		values := []string{sb.Name, sb.ID}
		if table.Label != "" {
			values = []string{sb.Labels[table.Label]}
		}
		for _, value := range nonEmpty(values...) {
			if key := (FurtherKey{by, value}); keepsLink(value) && !slices.Contains(sb.Further, key) {
				sb.Further = append(sb.Further, key)
			}
		}
	}
}

// explainedBy is the further table whose row explains the sandbox; "" when none does.
func (k *Keeper) explainedBy(ctx context.Context, sb Sandbox) (string, error) {
	s := Snapshot{Explained: map[Ref]string{}}
	if k.Policy.Tasks.None {
		return "", nil
	}
	err := k.readFurther(ctx, &s, []Sandbox{sb})
	return s.Explained[sb.Ref], err
}

// readFurther asks the further tables of the platform for the sandboxes that they may explain and
// that no live task does.
func (k *Keeper) readFurther(ctx context.Context, s *Snapshot, sandboxes []Sandbox) error {
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
