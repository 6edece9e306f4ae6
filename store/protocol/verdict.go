package protocol

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// What of the verdicts a pass recalls.
const (
	Watched      = 2 * time.Hour // how long verdicts are recalled: for false positives, and for incidents
	MostWatched  = 500           // of those that life could still refute, the newest
	MostAlike    = 1000          // of failures with one signature, the newest
	MostFailures = 5000          // of failures of work in all, the newest
	MostCleaned  = 10_000        // of subjects that were cleaned up, the newest
	MostTallied  = 100           // how many carried out verdicts of a rule speak for or against it
)

// Useful are those of the verdicts of the last hours that a pass has a use for; both are
// oldest first. Each use is bounded by itself: a leak of thousands of sandboxes hides nothing
// of the tasks.
func Useful(lately []reconcile.Verdict) []reconcile.Verdict {
	var c choice
	for i := len(lately) - 1; i >= 0; i-- {
		c.take(&lately[i])
	}
	slices.Reverse(c.chosen)
	return c.chosen
}

// A choice of verdicts, the newest first.
type choice struct {
	chosen            []reconcile.Verdict
	watched, failures int
	alike             map[string]int
	cleaned           map[reconcile.FindingKey]bool
}

func (c *choice) take(v *reconcile.Verdict) {
	refutable := c.refutable(v)
	if v.Signature == "" && c.cleanup(v) || v.Signature != "" && c.failure(v) || refutable {
		c.chosen = append(c.chosen, *v)
	}
}

// refutable reports whether the verdict is among the newest that life could still refute.
func (c *choice) refutable(v *reconcile.Verdict) bool {
	if !reconcile.Watched(v.Rule) || v.Task == "" || v.Over || !v.FalsePositiveAt.IsZero() || c.watched == MostWatched {
		return false
	}
	c.watched++
	return true
}

// failure reports whether the verdict is among the newest of its signature, and of all.
func (c *choice) failure(v *reconcile.Verdict) bool {
	if c.failures == MostFailures || c.alike[v.Signature] == MostAlike {
		return false
	}
	if c.alike == nil {
		c.alike = map[string]int{}
	}
	c.failures++
	c.alike[v.Signature]++
	return true
}

// cleanup reports whether the verdict is the newest of its rule on its subject.
func (c *choice) cleanup(v *reconcile.Verdict) bool {
	key := reconcile.FindingKey{Rule: v.Rule, Subject: v.Subject}
	if c.cleaned[key] || len(c.cleaned) == MostCleaned {
		return false
	}
	if c.cleaned == nil {
		c.cleaned = map[reconcile.FindingKey]bool{}
	}
	c.cleaned[key] = true
	return true
}

// CheckReleasable refuses to release an incident that holds nothing.
func CheckReleasable(i reconcile.Incident) error {
	switch {
	case !i.ClosedAt.IsZero():
		return fmt.Errorf("it closed at %s and holds nothing", text.Time(i.ClosedAt))
	case !i.ReleasedAt.IsZero():
		return fmt.Errorf("%s released it at %s", i.ReleasedBy.Author, text.Time(i.ReleasedAt))
	}
	return nil
}

// Belong leaves those findings their incident that is open: one that a quick pass could not
// judge again is still written down as a closed one's.
func Belong(findings []reconcile.FindingSeen, open []reconcile.Incident) {
	known := make(map[string]bool, len(open))
	for _, i := range open {
		known[i.ID] = true
	}
	for i := range findings {
		if !known[findings[i].Incident] {
			findings[i].Incident = ""
		}
	}
}
