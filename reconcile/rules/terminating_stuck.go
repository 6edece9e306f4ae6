package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// terminatingStuck finds a sandbox that should be gone: its provider accepted to end it long
// ago, or says since long that it is being deleted. Asking again goes on beside it; this says
// that asking does not help, with a text for the provider's support.
func terminatingStuck(v *view.View, s *reconcile.Subject) Result {
	var waits *reconcile.SeenSandbox
	var longest time.Duration
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if age := leaving(v, b); age > 0 && (waits == nil || age > longest) {
			waits, longest = b, age
		}
	}
	if waits == nil {
		return healthyResult("no sandbox of it is on its way out")
	}
	after := After(v, "terminating-stuck", s)
	if longest < after {
		return no(v, func() string {
			return fmt.Sprintf("sandbox %s is on its way out for %s, limit %s", waits.ID, text.Duration(longest),
				text.Duration(after))
		})
	}
	return foundTerminating(v, s, waits, longest)
}

// leaving is for how long the sandbox has been on its way out, 0 when it is not: since our
// first request that the provider accepted, else since it is seen being deleted.
func leaving(v *view.View, b *reconcile.SeenSandbox) time.Duration {
	if !b.Here || !b.Owned || !b.State.Exists() {
		return 0
	}
	if len(v.Asked) > 0 && v.Asked[b.Ref] != nil {
		return v.Now.Sub(v.Asked[b.Ref].FirstStarted())
	}
	if b.State == reconcile.SandboxDeleting {
		return v.SandboxAge(*b)
	}
	return 0
}

func foundTerminating(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, age time.Duration) Result {
	a := v.Asked[b.Ref]
	reason := fmt.Sprintf("sandbox %s is %s for %s, and %s", b.ID, b.Raw, text.Duration(age), reconcile.Unasked)
	evidence := []reconcile.Evidence{boxSeenAs(b)}
	switch {
	//guard:terminating-ours lost
	case a == nil && b.Seen().GoneByUs:
		reason = fmt.Sprintf("sandbox %s is listed as %s, for %s, and %s confirmed its termination, "+
			"which sandkeeper asked for",
			b.ID, b.Raw, text.Duration(age), b.Provider)
	case a == nil && tried(v, b) != nil:
		reason = fmt.Sprintf("sandbox %s is %s for %s, and sandkeeper asked for it, without an answer that says what "+
			"came of it", b.ID, b.Raw, text.Duration(age))
	case a != nil:
		reason = fmt.Sprintf("sandbox %s was to be terminated %s ago, %s accepted it, and it is still %s",
			b.ID, text.Duration(age), b.Provider, b.Raw)
		evidence = append(evidence, reconcile.Evidence{Source: "ledger", At: a.LastActed(), Fact: fmt.Sprintf(
			"asked %s, first %s, last %s: %s", times(max(a.Asks, 1)), text.Time(a.FirstStarted()), text.Time(a.LastActed()),
			reconcile.FirstOf(a.Detail, "accepted"))})
	}
	evidence = append(evidence, reconcile.Evidence{Source: b.Provider, At: b.AsOf, Fact: supportText(v, b, a, age)})
	return Result{
		Found: true, Due: true, Report: true, Sandbox: b, Since: age,
		Reason: reconcile.Joined(reason, subjectWhose(s)), Evidence: evidence,
	}
}

// tried is an open action of ours that asked for the end of the sandbox, and was not told whether it was heard; nil
// when there is none.
func tried(v *view.View, b *reconcile.SeenSandbox) *reconcile.Action {
	for i := range v.S.Memory.Actions {
		a := &v.S.Memory.Actions[i]
		of := a.Step == reconcile.StepTerminate && a.Provider == b.Provider && a.Sandbox == b.ID
		if of && !a.ActedAt.IsZero() && a.Claimable() {
			return a
		}
	}
	return nil
}

// supportText is one paragraph to send to the provider's support.
func supportText(v *view.View, b *reconcile.SeenSandbox, a *reconcile.Action, age time.Duration) string {
	var out strings.Builder
	fmt.Fprintf(&out, "For the provider's support: sandbox %s", b.ID)
	if b.Name != "" && b.Name != b.ID {
		fmt.Fprintf(&out, " (name %s)", text.Clip(b.Name, 100))
	}
	if b.Region != "" {
		fmt.Fprintf(&out, " in region %s", text.Clip(b.Region, 60))
	}
	fmt.Fprintf(&out, ", created %s, does not go away. ", text.Time(b.CreatedAt))
	if a != nil {
		fmt.Fprintf(&out, "Its deletion was requested first at %s and last at %s (%s) and accepted. ",
			text.Time(a.FirstStarted()), text.Time(a.LastActed()), times(max(a.Asks, 1)))
	}
	fmt.Fprintf(&out, "At %s your API still shows it in state %q, for %s by now.",
		text.Time(b.AsOf), text.Clip(b.Raw, 60), text.Duration(age))
	if b.Error != "" {
		fmt.Fprintf(&out, " The error it shows: %s.", text.Clip(b.Error, 200))
	}
	if a != nil && a.Detail != "" {
		fmt.Fprintf(&out, " What came of the last request: %s.", text.Clip(a.Detail, 200))
	}
	out.WriteString(" Please terminate it and tell us whether it was billed meanwhile.")
	return out.String()
}
