package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestMark(t *testing.T) {
	for text, want := range map[string]bool{
		"gone [sandkeeper a1]": true, "[sandkeeper a1]": true, "gone [sandkeeper a1] ": true, "": false, "quota exceeded": false,
		"[sandkeeper a1] and then the platform wrote on": false, "list [1]": false,
	} {
		if got := reconcile.Marked(text); got != want {
			t.Errorf("marked(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestEndOfDays: a row with a time beyond what a duration can hold stops nobody.
func TestEndOfDays(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "task t1 running started=1h; find t1 none; row t2 completed updated=1h; "+
		"box daytona/s2 running task=t2")
	end := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	task := &w.S.Tasks[0]
	for _, at := range []*time.Time{&task.Events.Heartbeat, &task.DeadlineAt, &task.AssignedAt, &task.UpdatedAt,
		&task.HeartbeatAt} {
		*at = end
	}
	row := w.S.Rows["t2"]
	row.KeepAliveUntil, row.UpdatedAt, row.ActivityAt = end, end, end
	w.S.Rows["t2"] = row
	_, p := PlanWorld(w)
	if len(p.Steps) != 0 {
		t.Errorf("steps = %q, want none: its worker gave a life sign in the year 9999", stepLines(p))
	}
}
