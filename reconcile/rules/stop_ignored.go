package rules

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// stopIgnored finds a task that a person stopped while its sandbox lives on.
func stopIgnored(v *view.View, s *reconcile.Subject) Result {
	if s.Task == nil || s.LinkState != reconcile.LinkEnded || s.Task.State != reconcile.TaskStopped {
		return apart(v, s, "stopped tasks are")
	}
	b := remaining(v, s)
	if b == nil {
		return healthyResult(reconcile.FirstOf(v.LeftWords(s), "it was stopped and no sandbox of it is left"))
	}
	after := After(v, "stop-ignored", s)
	age, by := v.StateAge(s)
	//guard:stop-resumed harm
	if born := v.Born(*b); mayBeLaters(v, b) && tellsAge(b) && born < age {
		if grace := max(after, After(v, "finished-lingering", s)); born < grace {
			return Result{Suspect: fmt.Sprintf("stopped %s ago; "+
				"the present session of its sandbox began %s ago, and has until %s",
				text.Duration(age), text.Duration(born), text.Duration(grace))}
		}
	}
	if age < after {
		return Result{Suspect: fmt.Sprintf("stopped %s ago, its sandbox has until %s", text.Duration(age),
			text.Duration(after))}
	}
	return Result{
		Found: true, Due: true, Sandbox: b, Holds: boxUnsure(b), Since: age,
		Reason: fmt.Sprintf(
			"task %s was stopped %s ago by %s, its sandbox is still %s",
			s.Task.ID,
			text.Duration(age),
			by,
			b.Raw,
		),
		Evidence: []reconcile.Evidence{
			{
				Source: "tasks",
				At:     s.Task.AsOf,
				Fact:   fmt.Sprintf("status %s for %s by %s", s.Task.Status, text.Duration(age), by),
			},
			boxSeenAs(b),
		},
	}
}

// mayBeLaters reports whether a sandbox that was made after the stop may be a later task's, whose row does not say so
// yet: only a name links it, and names come again.
func mayBeLaters(v *view.View, b *reconcile.SeenSandbox) bool {
	//guard:stop-name-again harm
	return b.StableName || b.Task == "" && !v.P.Providers[b.Provider].SandboxIsID
}

// tellsAge reports whether anything tells how old a sandbox is. One that is not proven ours is not remembered, so that
// nothing ever does where its provider's clock is off: it is held for that, and shown, in place of a wait without end.
func tellsAge(b *reconcile.SeenSandbox) bool {
	//guard:stop-ageless live
	if b.Unproven != "" {
		return false
	}
	return !b.CreatedAt.IsZero()
}

// remaining is the sandbox of an ended task that has to go next. One that nobody may end
// now, because its terminate is open, its state is not known, nothing proves that it is ours or only the ledger
// remembers that it was the task's, stands behind the others and starves none of them.
func remaining(v *view.View, s *reconcile.Subject) *reconcile.SeenSandbox {
	var behind *reconcile.SeenSandbox
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || !b.State.Exists() || b.State == reconcile.SandboxDeleting {
			continue
		}
		//guard:remaining-at-rest harm
		if v.P.IsLeft(b.Sandbox) {
			continue
		}
		//guard:remaining-starves live
		if b.Owned && b.State != reconcile.SandboxUnknown && b.Unproven == "" && !v.Ending[b.Ref] && !v.OnlyRemembered(s, b) {
			return b
		}
		if behind == nil {
			behind = b
		}
	}
	return behind
}

// boxUnsure is what holds a step against a sandbox in a state that the adapter does not know.
func boxUnsure(b *reconcile.SeenSandbox) reconcile.HeldBy {
	//guard:unknown-state harm
	if b.State == reconcile.SandboxUnknown {
		return heldBecause(reconcile.HeldUnknown, fmt.Sprintf("unknown state %q", b.Raw))
	}
	return nil
}

func boxSeenAs(b *reconcile.SeenSandbox) reconcile.Evidence {
	return reconcile.Evidence{
		Source: b.Provider,
		At:     b.AsOf,
		Fact:   fmt.Sprintf("sandbox %s is %s, created %s%s", b.ID, b.Raw, text.Time(b.CreatedAt), datedAhead(b)),
		About:  reconcile.BoxSubject(reconcile.Ref{Provider: b.Provider, ID: b.ID}),
	}
}

// datedAhead says what is believed instead of a time of creation that is still to come; "" when it is not.
func datedAhead(b *reconcile.SeenSandbox) string {
	if !view.DatedAhead(b.Sandbox) {
		return ""
	}
	return " (dated " + text.Duration(b.CreatedAt.Sub(b.AsOf)) +
		" ahead, which is not believed: its age counts from when the ledger first saw it)"
}
