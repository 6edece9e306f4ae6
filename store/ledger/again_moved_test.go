package ledger

import (
	"reflect"
	"testing"
	"time"
)

// A table that is written anew (VACUUM FULL, CLUSTER) keeps who wrote each row, and moves the rows.
func TestRecallAgainAfterARewrite(t *testing.T) {
	for name, rewrite := range map[string]string{
		"vacuum full": "VACUUM FULL sandkeeper.task_states",
		"boxes":       "VACUUM FULL sandkeeper.sandboxes",
		"cluster":     "CLUSTER sandkeeper.task_states USING task_states_pkey",
	} {
		t.Run(name, func(t *testing.T) {
			live, _ := fleet(t, 60)
			now := time.Now().Truncate(time.Microsecond)
			g := NewLedger(live.pool, Options{Installation: "test", Clock: func() time.Time { return now }})
			do := func(sql string) {
				t.Helper()
				if _, err := g.base.pool.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				if _, _, err := g.RecallAgain(t.Context(), false); err != nil {
					t.Fatal(err)
				}
			}
			do("UPDATE sandkeeper.task_states SET status = status || 'x' WHERE id = 'task-1'")
			do("UPDATE sandkeeper.sandboxes SET probe_detail = 'x' WHERE task = 'task-1'")
			if _, _, err := g.RecallAgain(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			do(rewrite)
			for turn := range 3 {
				now = now.Add(time.Minute)
				want, err := g.Recall(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got, _, err := g.RecallAgain(t.Context(), false)
				if err != nil {
					t.Fatal(err)
				}
				a, b := everyTask(&got), everyTask(&want)
				if !reflect.DeepEqual(a, b) {
					t.Errorf("turn %d: tasks %d of %d, sandboxes %d of %d", turn, got.Tasks.Len(), want.Tasks.Len(),
						got.Sandboxes.Len(), want.Sandboxes.Len())
					for id := range b {
						if !reflect.DeepEqual(a[id], b[id]) {
							t.Logf("%q recalled again %+v\nwant %+v", id, a[id], b[id])
						}
					}
				}
				if turn == 1 {
					do("UPDATE sandkeeper.task_states SET status = status || 'x' WHERE id = 'task-7'")
				}
			}
		})
	}
}
