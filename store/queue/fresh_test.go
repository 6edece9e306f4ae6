package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestManyProbesAreComparedOnce: whatever the server knows of the queue, which jobs wait already is found without looking
// at all that wait for each that is wanted: a pass that kicks ten thousand probes while as many wait would stand still.
func TestManyProbesAreComparedOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const all, some = 500, 300
	refs := make([]reconcile.Ref, all)
	for i := range refs {
		refs[i] = reconcile.Ref{Provider: "p", ID: fmt.Sprint(i)}
	}
	l.must(l.Kick(t.Context(), reconcile.Work{Probes: refs[:some]}))
	for _, known := range []string{"SELECT", "ANALYZE sandkeeper.river_job"} {
		l.exec(known)
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			if plan := l.planOfFresh(mode); strings.Contains(plan, "Join") || strings.Contains(plan, "Loop") ||
				strings.Contains(plan, "SubPlan") {
				t.Errorf("after %s, with %s, which jobs wait is found by\n%s", known, mode, plan)
			}
		}
	}
	l.must(l.Kick(t.Context(), reconcile.Work{Probes: refs}))
	if n := l.jobs("probe", "available"); n != all {
		t.Errorf("%d probes wait, want each of the %d once", n, all)
	}
}

func (l *lab) planOfFresh(mode string) string {
	l.Helper()
	conn, err := l.pool.Acquire(l.Context())
	l.must(err)
	defer conn.Release()
	_, err = conn.Exec(l.Context(), "SET plan_cache_mode = "+mode)
	l.must(err)
	rows, err := conn.Query(l.Context(), "EXPLAIN "+queries["fresh"], pgx.StrictNamedArgs{
		"queue": probeQueue, "args": []string{`{"provider": "p", "sandbox": "1"}`}, "running": probeTakes,
	})
	l.must(err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	l.must(err)
	return strings.Join(lines, "\n")
}
