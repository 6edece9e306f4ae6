package reconcile

import (
	"fmt"
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

// AdoptedDetail is the detail of a termination that was not asked for: the sandbox was on its way out when sandkeeper
// was about to. It waits for the end all the same, and asks when that does not come.
const AdoptedDetail = "is being deleted already, and sandkeeper had not asked for it"

// Adopted reports whether somebody else had the sandbox terminated, and sandkeeper never asked.
func (a *Action) Adopted() bool { return strings.HasPrefix(a.Detail, AdoptedDetail) }

// Claimable reports whether the termination that the action came to may be called sandkeeper's: it is on record that it
// asked for it.
func (a *Action) Claimable() bool { return a.Unclaimed() == "" }

// Unclaimed are the words that say that the termination may not be called sandkeeper's, with which the detail of such
// an action begins for as long as it was not asked for; "" where it may.
func (a *Action) Unclaimed() string {
	for _, words := range [...]string{AdoptedDetail, UnsureDetail} {
		if strings.HasPrefix(a.Detail, words) {
			return words
		}
	}
	return ""
}

// UnsureDetail is the detail of a termination that an attempt may have asked for of which nobody wrote down what came:
// nobody can tell whose the end is, and it counts for nothing.
const UnsureDetail = "is being deleted already, and whether an earlier attempt asked for it is not known"

// AnewDetail is the detail of a write that was tried before, and is not tried again: the task has begun anew since, and
// the earlier attempt may be why.
const AnewDetail = "the task has begun anew since it was planned and tried"

// NotAskedAgain stands before the reason why what was accepted long ago is not asked for again.
const NotAskedAgain = "not asked again: "

// WaitsFor is what the action waits for, of what it says became of it.
func (a *Action) WaitsFor() HeldBy {
	if _, why, is := strings.Cut(a.Detail, NotAskedAgain); is {
		return HeldByIn(why)
	}
	return HeldByIn(a.Detail)
}

// Unasked are the words by which terminating-stuck says that no request of ours is on record for a sandbox that goes.
const Unasked = "sandkeeper has no record of having asked for it"

// IsUnasked reports whether a finding's reason says so.
func IsUnasked(reason string) bool { return strings.Contains(reason, Unasked) }

// notRunning begins what is said of a worker that a probe did not find in a sandbox that answers.
const notRunning = "its worker was not running"

// NotRunning says how long ago a probe did not find the worker in a sandbox that answers.
func NotRunning(ago time.Duration) string {
	return notRunning + " " + text.Duration(ago) + " ago, in a sandbox that answers"
}

// IsNotRunning reports whether a reason says so.
func IsNotRunning(reason string) bool { return strings.Contains(reason, notRunning) }

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

// HeldByBreaker is what an open breaker holds with: by which limit too many are due, and how they are let go.
func HeldByBreaker(b *Breaker, fleet int, limit string) Held {
	return Held{Kind: HeldBreaker, Reason: fmt.Sprintf("%d due of a fleet of %d%s%s%s%s --hash %s", len(b.Subjects),
		fleet, exceeds, limit, releaseBy, b.Rule, b.Hash)}
}

// What stands before a breaker's limit, and between it and the command that releases what is held.
const (
	exceeds   = " exceed "
	releaseBy = "; release with: sandkeeper release "
)

// BreakerLimit is by which limit too many are due, where a breaker holds and says it; else "".
func BreakerLimit(by Held) string {
	limit, _, is := strings.Cut(by.Reason, releaseBy)
	if by.Kind != HeldBreaker || !is || !strings.Contains(limit, exceeds) {
		return ""
	}
	return limit
}
