package rules

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// recordWithoutContainer finds a sandbox that the platform's own registry says is running
// while nothing runs behind it. It is seen by two full passes at least, some time apart: a
// container that is just starting looks the same. Ending it repairs the record. A worker that still speaks refutes it.
func recordWithoutContainer(v *view.View, s *reconcile.Subject) Result {
	b := noContainer(v, s)
	if b == nil {
		return healthyResult("no sandbox of it is a record without a container")
	}
	if s.Task != nil && s.LinkState == reconcile.LinkLive {
		//guard:hollow-alive harm
		if sign, alive := v.Alive(s.Task); alive {
			return Result{Suspect: fmt.Sprintf("nothing runs behind the record of sandbox %s, but its worker was "+
				"last seen %s ago", b.ID, text.Duration(sign))}
		}
	}
	return Result{
		//guard:hollow-twice harm
		Found: true, Sandbox: b, Sightings: max(v.P.Rules["record-without-container"].Looks, 2),
		Holds: append(explainedElsewhere(v, s, b), boxUnsure(b)...),
		Reason: reconcile.Joined(fmt.Sprintf("the record of sandbox %s says %s, and nothing runs behind it", b.ID, b.Raw),
			text.Clip(b.Error, 200), subjectWhose(s)),
		Evidence: []reconcile.Evidence{
			boxSeenAs(b),
			{Source: b.Provider, At: b.AsOf, Fact: "the record says " + b.Raw + ", no container answers for it"},
		},
	}
}

// noContainer is a sandbox of the subject that is a record alone. One that is on its way out stands
// behind the others.
func noContainer(v *view.View, s *reconcile.Subject) *reconcile.SeenSandbox {
	var behind *reconcile.SeenSandbox
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || !b.Owned || !b.NoContainer || !b.State.Exists() || b.State == reconcile.SandboxDeleting {
			continue
		}
		if !v.Ending[b.Ref] {
			return b
		}
		behind = b
	}
	return behind
}
