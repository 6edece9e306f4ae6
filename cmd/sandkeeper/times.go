package main

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// when is a time as JSON has it, nothing for none.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// stampText is a time that JSON may leave out.
func stampText(t *time.Time) string {
	if t == nil {
		return text.Time(time.Time{})
	}
	return text.Time(*t)
}
