package protocol

import (
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// goneBounds are the upper bounds, in seconds, of the times from a terminate to its
// confirmation. Each bucket holds the smaller ones too.
var goneBounds = []int64{1, 2, 5, 10, 30, 60, 120, 300}

// Gone is what settling an action adds to the totals of how long sandboxes take to be
// gone: nothing unless it is a terminate of ours that the provider confirmed. A sandbox
// that was gone when we came to it took no time of ours. Counted from the first request;
// where the stop or the deadline that the sandbox outlived is known, from that as well.
func Gone(a reconcile.Action) []reconcile.Counter {
	if !EndsSandbox(a) || a.FirstActed.IsZero() {
		return nil
	}
	counts := histogram(a, "gone_seconds", a.ClosedAt.Sub(a.FirstActed))
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

// histogram is one measured time as what it adds to the totals of this name.
func histogram(a reconcile.Action, name string, took time.Duration) []reconcile.Counter {
	took = max(took, 0)
	add := func(name, what string, n int64) reconcile.Counter {
		return reconcile.Counter{Name: name, Rule: a.Rule, Provider: a.Provider, What: what, Value: n}
	}
	counts := []reconcile.Counter{
		add(name+"_bucket", "+Inf", 1),
		add(name+"_count", "", 1),
		add(name+"_milli_sum", "", took.Milliseconds()),
	}
	for _, bound := range goneBounds {
		if took <= time.Duration(bound)*time.Second {
			counts = append(counts, add(name+"_bucket", strconv.FormatInt(bound, 10), 1))
		}
	}
	return counts
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
