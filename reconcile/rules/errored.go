package rules

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// errored finds a sandbox in a failed state. Its logs are saved before it is ended; the
// task that it leaves behind is sandbox-missing's. A worker that still speaks refutes the
// provider's word.
func errored(v *view.View, s *reconcile.Subject) Result {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || b.State != reconcile.SandboxFailed || !b.Owned {
			continue
		}
		after := After(v, "errored", s)
		age := min(v.SandboxAge(*b), v.Observed(reconcile.ListingOf(b.Provider)))
		//guard:errored-ageless live
		if age < after && !(age == 0 && neverAges(b)) {
			return Result{Suspect: fmt.Sprintf("%s for %s of %s", b.Raw, text.Duration(age), text.Duration(after))}
		}
		if s.Task != nil && s.LinkState == reconcile.LinkLive {
			//guard:errored-alive harm
			if sign, alive := v.Alive(s.Task); alive && !worksElsewhere(v, s, b) {
				return Result{Suspect: fmt.Sprintf("%s for %s, but its worker was last seen %s ago",
					b.Raw, text.Duration(age), text.Duration(sign))}
			}
		}
		return Result{
			Found: true, Due: true, Sandbox: b, Holds: explainedElsewhere(v, s, b),
			Reason: reconcile.Joined(
				fmt.Sprintf("sandbox %s is in state %s for %s", b.ID, b.Raw, text.Duration(age)),
				text.Clip(b.Error, 200),
			),
			Evidence: []reconcile.Evidence{
				boxSeenAs(b),
				{
					Source: b.Provider,
					At:     b.AsOf,
					Fact:   "the provider's reason: " + reconcile.FirstOf(text.Clip(b.Error, 400), "none given"),
				},
			},
		}
	}
	return healthyResult("no sandbox of it is in a failed state")
}

// neverAges reports whether the ledger cannot tell for how long a sandbox is in its state, now or later: what is not
// proven ours it does not remember. Where its provider tells no time that is believed, it is held for that, and shown,
// in place of a wait without end.
func neverAges(b *reconcile.SeenSandbox) bool { return b.Unproven != "" && !b.Known }

// worksElsewhere reports whether the row names another sandbox that runs, and not the one that failed: who is heard
// works in that one, and says nothing of this.
func worksElsewhere(v *view.View, s *reconcile.Subject, failed *reconcile.SeenSandbox) bool {
	t := s.Task
	if failed.CalledBy(t.Sandbox) {
		return false
	}
	//guard:errored-elsewhere live
	return s.HasBox(func(b *reconcile.SeenSandbox) bool {
		runs := b.Here && b.Owned && b.State == reconcile.SandboxRunning && b.CalledBy(t.Sandbox)
		return runs && !v.Elsewhere(t, b.Sandbox) && !v.Shared(b.Sandbox, failed.Sandbox)
	})
}
