package reconcile

import (
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The ledger keeps what became of an action as texts. What somebody asks of these later is answered
// here, beside what made them.
const (
	refused   = "refused by the provider"
	takenBack = "by "
	savedLog  = "last log lines: "
)

// Quarantined is the source of the evidence by which a terminate is known to follow a
// quarantine: it stays with the action, whatever becomes of the config meanwhile.
const Quarantined = "quarantine"

// RefusedDetail is the detail of an action that the provider will not carry out.
func RefusedDetail(words string, next time.Time) string {
	return refused + ": " + words + "; tried again from " + text.Time(next)
}

// Refused reports whether the provider refused it the last time.
func (a *Action) Refused() bool { return strings.HasPrefix(a.Detail, refused) }

// WithdrawnBy is why a step that an operator took back is over.
func WithdrawnBy(by Attribution) string { return takenBack + by.Author + ": " + by.Reason }

// TakenBack is the operator who took the step back, and why.
func (a *Action) TakenBack() (by string, is bool) { return strings.CutPrefix(a.Detail, takenBack) }

// SavedLog is what is kept of a sandbox's log before it is ended.
func SavedLog(said string) string { return savedLog + text.Clip(said, 2000) }

// CutLog parts a text from the log that was saved with it; "" when none was.
func CutLog(said string) (rest, log string) {
	rest, log, saved := strings.Cut(said, savedLog)
	if !saved {
		return said, ""
	}
	return strings.TrimSuffix(rest, ": "), log
}

// AfterQuarantine is the evidence of a terminate that follows a quarantine.
func AfterQuarantine(at time.Time, keep time.Duration) Evidence {
	return Evidence{Source: Quarantined, At: at, Fact: "stopped or paused first, and kept for " + text.Duration(keep)}
}

// InQuarantine reports whether the action is a terminate that follows a quarantine.
func (a *Action) InQuarantine() bool {
	return a.Step == StepTerminate && a.Seq > 0 &&
		slices.ContainsFunc(a.Evidence, func(e Evidence) bool { return e.Source == Quarantined })
}
