package rules

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// overAge finds a sandbox that is older than any sandbox should be, whatever its task does.
// The row that it leaves behind is sandbox-missing's.
func overAge(v *view.View, s *reconcile.Subject) Result {
	const none = "there is no maximum age for its class"
	if !v.Ageing {
		return healthyResult(none)
	}
	after := After(v, "over-age", s)
	if after <= 0 {
		return healthyResult(none)
	}
	b := eldest(v, s)
	if b == nil {
		return healthyResult("no sandbox of it is here")
	}
	//guard:over-age-anothers live
	if s.Task != nil && s.LinkState == reconcile.LinkLive && view.BoxAnothers(b, s.Task) {
		return Result{Suspect: fmt.Sprintf("sandbox %s is labelled for task %s by now", b.ID, b.Task)}
	}
	//guard:over-age-further harm
	if by := v.S.Explained[b.Ref]; by != "" && s.Task == nil {
		return Result{Suspect: "a row of " + by + " explains it"}
	}
	age := v.Born(*b)
	if age < after {
		return no(v, func() string {
			return fmt.Sprintf("sandbox %s is %s old, the maximum is %s", b.ID, text.Duration(age), text.Duration(after))
		})
	}
	return Result{
		//guard:over-age-explained harm
		//guard:over-age-unknown harm
		Found: true, Due: true, Sandbox: b, Holds: append(explainedElsewhere(v, s, b), boxUnsure(b)...), Since: age - after,
		Reason: reconcile.Joined(fmt.Sprintf("sandbox %s is %s old, the maximum is %s%s", b.ID, text.Duration(age),
			text.Duration(after), datedAhead(b)), subjectWhose(s)),
		Evidence: []reconcile.Evidence{
			boxSeenAs(b),
			{Source: b.Provider, At: b.AsOf, Fact: fmt.Sprintf("%s old, the maximum is %s", text.Duration(age),
				text.Duration(after))},
		},
	}
}

// eldest is the oldest sandbox of the subject that may be ended. One that nobody may end now
// stands behind the others and starves none of them.
func eldest(v *view.View, s *reconcile.Subject) *reconcile.SeenSandbox {
	var best *reconcile.SeenSandbox
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || !b.Owned || !b.State.Exists() || b.State == reconcile.SandboxDeleting {
			continue
		}
		//guard:over-age-at-rest harm
		if v.P.IsLeft(b.Sandbox) {
			continue
		}
		if best == nil || before(v, b, best) {
			best = b
		}
	}
	return best
}

// before reports whether a is to be ended before b: it can be at all, or it is older.
func before(v *view.View, a, b *reconcile.SeenSandbox) bool {
	stuck := func(b *reconcile.SeenSandbox) bool { return b.State == reconcile.SandboxUnknown || v.Ending[b.Ref] }
	if stuck(a) != stuck(b) {
		return stuck(b)
	}
	return v.Born(*a) > v.Born(*b)
}

// subjectWhose says in words which task the subject's sandboxes belong to, "" when none is known.
func subjectWhose(s *reconcile.Subject) string {
	if s.Task == nil {
		return ""
	}
	return fmt.Sprintf("its task %s is %s", s.Task.ID, s.Task.Status)
}
