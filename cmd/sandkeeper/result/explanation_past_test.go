package result

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// TestWhatIsNotSeenIsNotGone: what explain says of a task that is over, and of its sandbox.
func TestWhatIsNotSeenIsNotGone(t *testing.T) {
	at := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	seen := reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "yard", ID: "b1"}, Raw: "up"}
	gone := seen
	gone.GoneAt = at
	row := &reconcile.Task{ID: "t1", State: reconcile.TaskStopped}
	blind := []reconcile.SourceSeen{{Name: "listing:yard", Reason: reconcile.ListingFailed("503")}}
	for name, tt := range map[string]struct {
		id      string
		row     *reconcile.Task
		known   []reconcile.SandboxSeen
		sources []reconcile.SourceSeen
		want    string
	}{
		"a task, its sandbox is gone":    {"t1", row, []reconcile.SandboxSeen{gone}, nil, "the task is over and no sandbox of it is left"},
		"a task that never had any":      {"t1", row, nil, blind, "the task is over and no sandbox of it is left"},
		"a task, its listing fails":      {"t1", row, []reconcile.SandboxSeen{seen}, blind, "the listing of yard is trusted again"},
		"a task, it was only not seen":   {"t1", row, []reconcile.SandboxSeen{seen}, nil, "the task is over; sandbox yard/b1 was up"},
		"a sandbox that is gone":         {"b1", nil, []reconcile.SandboxSeen{gone}, blind, "the sandbox is gone since 2026-02-01"},
		"a sandbox, its listing fails":   {"b1", nil, []reconcile.SandboxSeen{seen}, blind, "is not known until"},
		"its task, asked by the sandbox": {"b1", row, []reconcile.SandboxSeen{seen}, blind, "is not known until"},
	} {
		t.Run(name, func(t *testing.T) {
			e := Explanation{ID: tt.id}
			e.past(&run.Explained{Row: tt.row, Sources: tt.sources}, reconcile.History{Sandboxes: tt.known})
			if !strings.Contains(e.Kept, tt.want) {
				t.Errorf("kept: %q, want %q in it", e.Kept, tt.want)
			}
		})
	}
}
