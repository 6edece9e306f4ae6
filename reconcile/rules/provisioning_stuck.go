package rules

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// provisioningStuck finds a sandbox that has been coming up for too long. Its task is failed with it only where
// what is wrong with the sandbox may be held against the task.
func provisioningStuck(v *view.View, s *reconcile.Subject) Result {
	kept := healthyResult("no sandbox of it is coming up")
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || b.State != reconcile.SandboxCreating || !b.Owned ||
			v.Ending[b.Ref] && s.LinkState == reconcile.LinkLive {
			continue
		}
		out := judgeComingUp(v, s, b)
		if out.Found {
			return out
		}
		if kept.Suspect == "" {
			kept = out
		}
	}
	return kept
}

func judgeComingUp(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) Result {
	after := After(v, "provisioning-stuck", s)
	//guard:provisioning-recovered P6
	age := min(v.SandboxAge(*b), v.Observed(reconcile.ListingOf(b.Provider)))
	if age < after {
		return Result{Suspect: fmt.Sprintf("%s for %s of %s", b.Raw, text.Duration(age), text.Duration(after))}
	}
	if s.LinkState == reconcile.LinkLive && s.Task != nil {
		//guard:provisioning-alive harm
		if sign, alive := v.Alive(s.Task); alive {
			return Result{
				Suspect: fmt.Sprintf(
					"%s for %s, but its worker was last seen %s ago",
					b.Raw,
					text.Duration(age),
					text.Duration(sign),
				),
			}
		}
	}
	cause, because := v.Cause(s)
	return Result{
		Found: true, Due: true, Sandbox: b, Holds: explainedElsewhere(v, s, b),
		Reason: reconcile.Joined(
			fmt.Sprintf("sandbox %s has been %s for %s, limit %s", b.ID, b.Raw, text.Duration(age), text.Duration(after)),
			cause, aloneWords(v, s, b),
		),
		Evidence: append([]reconcile.Evidence{boxSeenAs(b)}, because...),
	}
}

// aloneWords say that a sandbox is repaired alone, and why nothing is held against its task.
func aloneWords(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) string {
	switch {
	case v.AwaitsTurn(s, b):
		return "only this sandbox: its task waits for its turn"
	case v.Replaced(s, b):
		return "only this sandbox: a label alone links it with the task"
	}
	return ""
}

// heldBecause is one hold that has nothing but a reason.
func heldBecause(kind reconcile.HeldKind, reason string) reconcile.HeldBy {
	return reconcile.HeldBy{{Kind: kind, Reason: reason}}
}

// explainedElsewhere holds steps against a sandbox whose task is live outside `where`, or
// was not read: it may be narrowed out of the judgement on purpose.
func explainedElsewhere(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) reconcile.HeldBy {
	switch s.LinkState {
	case reconcile.LinkUnread:
		if !v.P.Tasks.None {
			//guard:explained-unread harm
			return heldBecause(reconcile.HeldUnread, "its task was not read")
		}
	case reconcile.LinkExplained:
		if by := v.S.Explained[b.Ref]; by != "" && s.Task == nil {
			return heldBecause(reconcile.HeldExplained, "a row of "+by+" explains it")
		}
		if s.Task != nil && s.Task.State.Rests() {
			return heldBecause(reconcile.HeldExplained, "a row of a task that is "+string(s.Task.State)+" explains it")
		}
		//guard:explained-outside harm
		return heldBecause(reconcile.HeldUnread, "its task is outside `where`")
	case reconcile.LinkUnknown:
		//guard:explained-shared harm
		if !v.P.Providers[b.Provider].Exclusive {
			return heldBecause(reconcile.HeldNotExclusive, "its task is not known here, and the account may be shared")
		}
	case reconcile.LinkUnnamed:
		//guard:explained-linkless harm
		if !v.P.Providers[b.Provider].LinkRequired {
			return heldBecause(reconcile.HeldNotExclusive,
				"it has no link to any task (link: {required: true} where each must have one)")
		}
	case reconcile.LinkUnparsable:
		//guard:explained-unparsable P1
		return heldBecause(reconcile.HeldUnparsable, "what it names is no id of the task table")
	}
	return nil
}
