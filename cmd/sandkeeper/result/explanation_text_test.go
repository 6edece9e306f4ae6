package result

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// TestHealthyIsWhatWasJudgedHealthy: explain says why something is healthy of that alone.
func TestHealthyIsWhatWasJudgedHealthy(t *testing.T) {
	subject := &reconcile.Subject{ID: "task:t1", Task: &reconcile.Task{ID: "t1", State: reconcile.TaskRunning}}
	decision := &decide.Decision{Subject: subject, Kept: "silent for 1m, limit 15m", KeptBy: "inactive"}
	found := &decide.Plan{Findings: []reconcile.Finding{{Rule: "heartbeat-lost", Reason: "worker fell silent"}}}
	for name, tt := range map[string]struct {
		seen run.Explained
		says string
		not  string
	}{
		"no rule finds it": {
			run.Explained{Decision: decision, Plan: &decide.Plan{}}, "healthy because: silent for 1m", ""},
		"one rule finds it, and another does not": {
			run.Explained{Decision: decision, Plan: found}, "heartbeat-lost: worker fell silent", "healthy because"},
		"its row is none that is judged": {
			run.Explained{Row: &reconcile.Task{ID: "t1", State: reconcile.TaskUnknown}}, "not judged: the row is outside",
			"healthy because"},
		"it is parked": {
			run.Explained{Row: &reconcile.Task{ID: "t1", State: reconcile.TaskParked, Status: "SUSPENDED"}},
			"not judged: the task is parked by design, its status is SUSPENDED", "does not map"},
		"it is parked, and outside": {
			run.Explained{Row: &reconcile.Task{ID: "t1", State: reconcile.TaskParked, Status: "SUSPENDED", Outside: true}},
			"not judged: the row is outside", "by design"},
	} {
		t.Run(name, func(t *testing.T) {
			e := Explanation{ID: "t1"}
			if tt.seen.Decision != nil {
				e.fill(&tt.seen)
			} else {
				e.past(&tt.seen, reconcile.History{})
			}
			var b bytes.Buffer
			e.verdictText(&b, console.NewPaint(&b))
			if got := b.String(); !strings.Contains(got, tt.says) || tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("it says\n%s\nwant %q and not %q in it", got, tt.says, tt.not)
			}
		})
	}
}
