package protocol

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Gone is what settling an action adds to the totals of how long repairs take, and sandboxes to be
// gone. The latter get nothing unless it is a terminate of ours that the provider confirmed. A sandbox
// that was gone when we came to it took no time of ours. Counted from the first request;
// where the stop or the deadline that the sandbox outlived is known, from that as well.
func Gone(a reconcile.Action) []reconcile.Counter {
	counts := append(repaired(a), leaked(a)...)
	if !EndedByUs(a) {
		return counts
	}
	counts = append(counts, histogram(a, "gone_seconds", a.ClosedAt.Sub(a.FirstActed))...)
	if a.Began.IsZero() {
		return counts
	}
	gone, asked := a.ClosedAt.Sub(a.Began), a.FirstActed.Sub(a.Began)
	switch a.Rule {
	case RuleStop:
		counts = append(counts, histogram(a, "stop_gone_seconds", gone)...)
	case RuleDeadline:
		counts = append(counts, histogram(a, "deadline_gone_seconds", gone)...)
	default:
		return counts
	}
	return append(counts, histogram(a, "stop_asked_seconds", asked)...)
}

// The rules whose end is authoritative: what they find began with a word of the platform.
const (
	RuleStop     = "stop-ignored"
	RuleDeadline = "deadline-exceeded"
)

// repaired is the time from the decision to the repair: the row is written, or the sandbox is
// stopped or gone.
func repaired(a reconcile.Action) []reconcile.Counter {
	if !Repairs(a) || a.PlannedAt.IsZero() {
		return nil
	}
	return histogram(a, reconcile.TimedRepair, a.ClosedAt.Sub(a.PlannedAt))
}

// leaked is for how long a sandbox that a clean-up rule ended was there after it was found. How long
// it was before that its verdict has counted.
func leaked(a reconcile.Action) []reconcile.Counter {
	if !EndsSandbox(a) || a.PlannedAt.IsZero() || Asks(a) || reconcile.RuleNamed(a.Rule).Family != reconcile.CleanUp {
		return nil
	}
	took := max(a.ClosedAt.Sub(a.PlannedAt), 0)
	return []reconcile.Counter{{
		Name: reconcile.LeakedMillis, Rule: a.Rule, Provider: a.Provider, Value: took.Milliseconds(),
	}}
}

// histogram is one measured time of an action.
func histogram(a reconcile.Action, name string, took time.Duration) []reconcile.Counter {
	return reconcile.Timed(name, a.Rule, a.Provider, took)
}

// Ended says as what a task left the live set, "" when it did not or nobody can tell. A
// row that is gone keeps the live state that it was last seen in.
func Ended(before, after reconcile.TaskSeen) string {
	switch {
	case !before.Live || after.Live:
		return ""
	case after.State.Terminal():
		return string(after.State)
	case after.State.Live():
		return "deleted"
	}
	return ""
}
