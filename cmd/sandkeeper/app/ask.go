package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Request is what every operator's request records: who, why, and for how long. The verbs, the page and the API make
// one, and all go the same way from here on.
type Request struct {
	Author, Reason string
	Last           time.Duration // 0: without end
}

// Signed is the request as it is recorded: on one line, as the log, the page and the platform will show it.
func (w *Request) Signed() reconcile.Attribution {
	reason := strings.TrimSpace(text.Line(w.Reason))
	return reconcile.Attribution{Author: text.Line(w.Author), Reason: reconcile.FirstOf(reason, "no reason given")}
}

// Until is when the request ends, zero for never.
func (w *Request) Until(now time.Time) time.Time {
	if w.Last <= 0 {
		return time.Time{}
	}
	return now.Add(w.Last)
}

// A MisuseError is a request for something impossible: nothing was done and nothing was recorded.
type MisuseError struct{ err error }

func misuse(err error) error { return &MisuseError{err} }

// Error says what is impossible about it.
func (e *MisuseError) Error() string { return e.err.Error() }

// Unwrap is what was wrong.
func (e *MisuseError) Unwrap() error { return e.err }

// Misusef is a request for something impossible.
func Misusef(format string, args ...any) error { return misuse(fmt.Errorf(format, args...)) }
