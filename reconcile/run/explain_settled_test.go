package run

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// TestExplainListsForWhatAListingHeld: what the last pass held by what its listing showed, no look at the one thing
// tells.
func TestExplainListsForWhatAListingHeld(t *testing.T) {
	subject := reconcile.TaskSubject("t1")
	gone := reconcile.SeenSandbox{Gone: true}
	for name, c := range map[string]struct {
		found reconcile.Finding
		want  bool
	}{
		"held by what only a listing shows": {reconcile.Finding{Rule: "sandbox-missing", Subject: subject,
			HeldBy: reconcile.HeldBy{{Kind: reconcile.HeldUnlooked}}}, false},
		"held by a budget": {reconcile.Finding{Rule: "sandbox-missing", Subject: subject,
			HeldBy: reconcile.HeldBy{{Kind: reconcile.HeldBudget}}}, true},
		"another task's": {reconcile.Finding{Rule: "sandbox-missing", Subject: reconcile.TaskSubject("t2"),
			HeldBy: reconcile.HeldBy{{Kind: reconcile.HeldUnlooked}}}, true},
	} {
		memory := reconcile.Memory{Findings: map[reconcile.FindingKey]reconcile.Finding{c.found.Key(): c.found}}
		v := view.New(&reconcile.Snapshot{Memory: memory}, &reconcile.Policy{})
		e := &Explained{Decision: &decide.Decision{Subject: &reconcile.Subject{ID: subject,
			Task: &reconcile.Task{ID: "t1"}, Boxes: []reconcile.SeenSandbox{gone}}}}
		if got := e.settled(v, "t1", reconcile.History{}); got != c.want {
			t.Errorf("%s: settled = %t, want %t", name, got, c.want)
		}
	}
}
