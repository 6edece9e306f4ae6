package fleet

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestEndedIsNotCounted: the states come to as many sandboxes as there are; what has ended and is still listed is none.
func TestEndedIsNotCounted(t *testing.T) {
	counts := map[string]int{"owned:daytona": 3, "sandboxes:daytona:running": 2, "sandboxes:daytona:creating": 1,
		"sandboxes:daytona:ended": 4}
	if got := sandboxWords(counts); len(got) != 1 || got[0] != "daytona: 1 creating, 2 running" {
		t.Errorf("by state: %q", got)
	}
	if running, other := sandboxesOf(&reconcile.Overview{Counts: counts}, "daytona"); running != 2 || other != 1 {
		t.Errorf("at daytona %d run and %d do not, want 2 and 1", running, other)
	}
}
