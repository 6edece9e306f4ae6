package ledger

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
// that was gone when we came to it took no time of ours.
func Gone(a reconcile.Action) []reconcile.Counter {
	if !EndsSandbox(a) || a.ActedAt.IsZero() {
		return nil
	}
	took := max(a.ClosedAt.Sub(a.ActedAt), 0)
	add := func(name, what string, n int64) reconcile.Counter {
		return reconcile.Counter{Name: name, Rule: a.Rule, Provider: a.Provider, What: what, Value: n}
	}
	counts := []reconcile.Counter{
		add("gone_seconds_bucket", "+Inf", 1),
		add("gone_seconds_count", "", 1),
		add("gone_seconds_milli_sum", "", took.Milliseconds()),
	}
	for _, bound := range goneBounds {
		if took <= time.Duration(bound)*time.Second {
			counts = append(counts, add("gone_seconds_bucket", strconv.FormatInt(bound, 10), 1))
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
