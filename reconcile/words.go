package reconcile

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func joined(parts ...string) string { return strings.Join(nonEmpty(parts...), "; ") }

func nonEmpty(parts ...string) []string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// lifeLine says when the worker was last heard.
func lifeLine(t *Task) string {
	if sign := t.LifeSign(); !sign.IsZero() {
		return "last life sign " + text.Time(sign)
	}
	return "no life sign ever"
}
