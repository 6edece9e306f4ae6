package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Quarantined is the source of the evidence by which a terminate is known to follow a
// quarantine: it stays with the action, whatever becomes of the config meanwhile.
const Quarantined = "quarantine"

// Unclaimed are what an action's How says when the end that it came to may not be called sandkeeper's: nobody can tell
// that it asked for it.
var Unclaimed = []How{HowAdopted, HowUnsure}

// Claimable reports whether the termination that the action came to may be called sandkeeper's: it is on record that it
// asked for it.
func (a *Action) Claimable() bool { return !slices.Contains(Unclaimed, a.How) }

// Tried are what the How of a withdrawn action says when an earlier try of it may be why what it was about is over.
var Tried = []How{HowAnew, HowVanished}

// Unasked are the words by which terminating-stuck says that no request of ours stands for a sandbox that goes. What
// was withdrawn, because its task went on in it, does not stand: a pass recalls no such request.
const Unasked = "no request of sandkeeper's for its end stands"

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

// WithdrawnBy is the detail of a step that an operator took back.
func WithdrawnBy(by Attribution) string { return "by " + by.Author + ": " + by.Reason }

const savedLog = "last log lines: "

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
