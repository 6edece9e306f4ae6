package simtest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// RecallAgain recalls everything, and tells what has changed since this process did so last.
func (c ledgerCalls) RecallAgain(ctx context.Context, anew bool) (reconcile.Memory, *reconcile.Recalled, error) {
	m, err := c.Recall(ctx)
	if err != nil {
		return m, nil, err
	}
	c.p.recalled = worldtest.RecallAgain(c.p.recalled, &m, anew)
	return m, c.p.recalled, nil
}

// LiveAgain reads all live rows, and hands on those that read otherwise than before.
func (c taskCalls) LiveAgain(ctx context.Context, before reconcile.RowsBefore, plain func(*reconcile.Task) bool,
) (reconcile.Rows, bool, error) {
	rows, err := c.Live(ctx)
	if err != nil {
		return rows, false, err
	}
	return LiveAgain(rows, before, plain)
}

// LiveAgain are those of all live rows that read otherwise than before and are not plain, as a task database tells.
func LiveAgain(rows reconcile.Rows, before reconcile.RowsBefore, plain func(*reconcile.Task) bool,
) (reconcile.Rows, bool, error) {
	sums, all := map[int]int64{}, make([]reconcile.RowSum, len(rows.Tasks))
	for i := range rows.Tasks {
		row := rows.Tasks[i]
		row.AsOf = time.Time{}
		text, err := json.Marshal(row)
		if err != nil {
			return rows, false, err
		}
		all[i] = reconcile.RowSum{ID: row.ID, Bucket: int(reconcile.Sum(row.ID) % 5), Sum: int64(reconcile.Sum(string(text)))}
		sums[all[i].Bucket] ^= all[i].Sum
	}
	for bucket, was := range before.Sums() {
		if now := sums[bucket]; now == was {
			delete(sums, bucket)
		} else {
			sums[bucket] = now
		}
	}
	var changed []reconcile.RowSum
	for _, row := range all {
		if _, is := sums[row.Bucket]; is {
			changed = append(changed, row)
		}
	}
	ids, ok := before.Pick(sums, changed)
	if !ok {
		return rows, false, nil
	}
	picked := map[string]bool{}
	for _, id := range ids {
		picked[id] = true
	}
	kept := rows
	kept.Tasks = nil
	for i := range rows.Tasks { // in the order of the table
		if row := &rows.Tasks[i]; picked[row.ID] && !plain(row) {
			kept.Tasks = append(kept.Tasks, *row)
		}
	}
	return kept, true, nil
}
