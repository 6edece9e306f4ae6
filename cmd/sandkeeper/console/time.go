package console

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// When is a time as JSON has it, nothing for none.
func When(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Stamp is a time that JSON may leave out.
func Stamp(t *time.Time) string {
	if t == nil {
		return text.Time(time.Time{})
	}
	return text.Time(*t)
}
