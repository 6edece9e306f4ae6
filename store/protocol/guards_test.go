package protocol

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A claim from a future that a clock's correction undid keeps nobody from the action.
func TestClaimOfAFutureThatWasUndone(t *testing.T) {
	a := reconcile.Action{ClaimedBy: "r1", ClaimedAt: noon, ClaimEnds: noon.Add(time.Hour)}
	for now, want := range map[time.Time]bool{
		noon: true, noon.Add(-5 * time.Second): true, noon.Add(-6 * time.Second): false, noon.Add(time.Hour): false,
	} {
		if got := Living(a, 0, 7, now); got != want {
			t.Errorf("claimed at %s, looked at %s: it lives: %v, want %v", noon, now, got, want)
		}
	}
}

func TestAnotherInstallationIsRefused(t *testing.T) {
	if err := CheckInstallation("prod-eu", "prod-eu"); err != nil {
		t.Errorf("its own: %v", err)
	}
	if CheckInstallation("prod-eu", "staging") == nil {
		t.Error("a ledger of prod-eu was opened by staging")
	}
}
