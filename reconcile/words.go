package reconcile

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Joined are the parts that say something, in one text.
func Joined(parts ...string) string { return strings.Join(NonEmpty(parts...), "; ") }

// NonEmpty are the texts that say something.
func NonEmpty(parts ...string) []string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// FirstOf is the first text that says something.
func FirstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// LifeLine says when the worker was last heard.
func LifeLine(t *Task) string {
	if sign := t.LastSeen(); !sign.IsZero() {
		return "worker last seen " + text.Time(sign)
	}
	return "worker never seen"
}

// HeldShared says why nobody's sandbox is left in an account that others may share.
func HeldShared() Held {
	return Held{Kind: HeldNotExclusive,
		Reason: "it names a task that nobody here ever knew, and the account may be shared"}
}

// HeldReported holds the end of a quarantine whose rule was set to report meanwhile.
func HeldReported() Held { return Held{Kind: HeldOnlyReports, Reason: "the rule only reports it now"} }
