package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestRecordOfALargeFleet: what is more than one statement writes is written whole, each row as it was seen last, and
// counted once; a record that is refused writes nothing of any part.
func TestRecordOfALargeFleet(t *testing.T) {
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), nil)
	lease, err := g.TakeLease(t.Context(), "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2*rowsAtOnce + 1
	fleet := func(live bool, state reconcile.TaskState) (r reconcile.Record) {
		for i := range n {
			r.Tasks = append(r.Tasks, reconcile.TaskSeen{ID: fmt.Sprint("t", i), State: state, Live: live})
			r.Sandboxes = append(r.Sandboxes, reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "p", ID: fmt.Sprint("s", i)}})
		}
		again := r.Tasks[0]
		again.Status = "seen last"
		r.Tasks = append(r.Tasks, again)
		return r
	}
	record(t, g, lease, fleet(true, reconcile.TaskRunning))
	m := recalled(t, g)
	if len(m.Tasks) != n || len(m.Sandboxes) != n || m.Tasks["t0"].Status != "seen last" {
		t.Errorf("recalled %d tasks and %d sandboxes, the first task %q; want %d of each and the one that was seen last",
			len(m.Tasks), len(m.Sandboxes), m.Tasks["t0"].Status, n)
	}
	record(t, g, lease, fleet(false, reconcile.TaskCompleted))
	measures, err := g.Measures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range measures.Counters {
		if c.Name == "tasks_ended" && c.Value != n {
			t.Errorf("%d tasks %s were counted as ended, want %d", c.Value, c.What, n)
		}
	}
	refused := fleet(true, reconcile.TaskRunning)
	refused.Pass = 1 << 40
	if err := g.Record(t.Context(), lease, refused); err == nil {
		t.Error("a pass that never began was recorded")
	}
	if m := recalled(t, g); m.Tasks["t0"].Live {
		t.Error("a record that was refused wrote a part of it")
	}
}
