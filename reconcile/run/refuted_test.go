package run

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// A verdict on silence whose proof was refuted before the deed is withdrawn, not tried for ever.
func TestRefutedProof(t *testing.T) {
	const world = "task w1 running started=1h ev.heartbeat=5s; box daytona/w1 running task=w1; box daytona/s1 running task=t1; " +
		"task t1 running started=1h ev.heartbeat=2m; probe daytona/w1 answered=10s; probe daytona/s1 "
	for probe, holds := range map[string]bool{"failed=10s": true, "answered=10s": false, "infra=10s": false} {
		j := judgeWorld(worldtest.NewWorld(t, worldtest.Anchor, world+probe))
		for i := range j.Decisions {
			if j.Decisions[i].Subject.ID != "task:t1" {
				continue
			}
			o := &decide.Recheck{View: j.View, Subject: j.Decisions[i].Subject}
			if o.Judge(&reconcile.Action{Rule: "heartbeat-lost", Step: reconcile.StepFail}); (o.Finding != nil) != holds {
				t.Errorf("%s: looked again it is %v (%s), want it to hold: %v", probe, o.Finding, o.Kept, holds)
			}
		}
	}
}
