package protocol

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// CheckOutcome refuses a settlement with a word that is no outcome.
func CheckOutcome(o reconcile.Outcome) error {
	if o.Closed() || o == reconcile.OutcomePending || o == reconcile.OutcomeAccepted {
		return nil
	}
	return fmt.Errorf("outcome %q is not one of pending, accepted, done, confirmed, withdrawn, failed", o)
}

// MayConfirm reports whether an action may be closed as confirmed without a claim: a termination that was accepted, and
// that nobody is at or is to wait for.
func MayConfirm(a reconcile.Action, now time.Time) bool {
	//guard:confirm-accepted lost
	if a.Step != reconcile.StepTerminate || a.Outcome != reconcile.OutcomeAccepted {
		return false
	}
	//guard:confirm-claimed once
	if a.ClaimedBy != "" && a.ClaimEnds.After(now) {
		return false
	}
	return !a.NextAttempt.After(now)
}

// CountAsk counts on a kept action that the provider was asked, when the settled one says so
// of a time that is newer than all before.
func CountAsk(kept *reconcile.Action, settled reconcile.Action) {
	newest := func(a *reconcile.Action) time.Time {
		if a.AskedAt.After(a.ActedAt) {
			return a.AskedAt
		}
		return a.ActedAt
	}
	if at := newest(&settled); at.After(newest(kept)) {
		kept.Asks++
		kept.AskedAt = at
	}
}

// GivesBack reports whether settling the action so returns the remedy's budget: its first
// step was withdrawn at the first attempt. After more attempts nobody knows whether one of
// them reached the outside before it broke, so the budget stays spent.
func GivesBack(a reconcile.Action) bool {
	//guard:budget-given-back P7
	return a.Seq == 0 && a.Outcome == reconcile.OutcomeWithdrawn && a.Attempts <= 1
}

// An End says why later steps of a remedy are withdrawn with one that was settled.
type End struct {
	Why        string // "" when none is
	OneSandbox bool   // only those on the same sandbox
}

// EndsRemedy says which of the remedy's later steps are withdrawn with this one. A sandbox
// that was not stopped after all is not terminated when its quarantine would have ended.
func EndsRemedy(a reconcile.Action) End {
	switch {
	//guard:failed-ends-rest live
	case a.Outcome == reconcile.OutcomeFailed:
		return End{Why: "the earlier step failed"}
	case a.Outcome != reconcile.OutcomeWithdrawn:
		return End{}
	//guard:withdrawn-ends-rest live
	case a.Seq == 0:
		return End{Why: "the first step was withdrawn"}
	case a.Step == reconcile.StepQuarantine:
		return End{Why: "its quarantine was withdrawn", OneSandbox: true}
	}
	return End{}
}

// Ends reports whether a later step of the remedy ends with the settled one.
func (e End) Ends(settled, later reconcile.Action) bool {
	same := later.Provider == settled.Provider && later.Sandbox == settled.Sandbox
	return e.Why != "" && later.Seq > settled.Seq && !later.Outcome.Closed() && (same || !e.OneSandbox)
}

// Keeps is by how much later a quarantine that has just begun ends than was planned: the time
// that a sandbox is kept counts from when it stood still, not from when somebody decided so.
func Keeps(settled reconcile.Action, now time.Time) time.Duration {
	if settled.Step != reconcile.StepQuarantine || settled.Outcome != reconcile.OutcomeDone {
		return 0
	}
	return max(now.Sub(settled.PlannedAt), 0)
}

// Fails reports whether the action has ended an attempt of a task by a write of its row.
func Fails(a reconcile.Action) bool {
	row := a.Step == reconcile.StepFail || a.Step == reconcile.StepRequeue
	return row && !Asks(a) && a.Outcome == reconcile.OutcomeDone
}

// Retries reports whether the action has set a task's row back to pending because an operator asked for it.
func Retries(a reconcile.Action) bool {
	return Asks(a) && a.Step == reconcile.StepRequeue && a.Outcome == reconcile.OutcomeDone
}

// Repairs reports whether the action carries out a verdict: a row is written, or a sandbox
// is stopped or gone.
func Repairs(a reconcile.Action) bool {
	stopped := a.Step == reconcile.StepQuarantine && a.Outcome == reconcile.OutcomeDone
	return !Asks(a) && (Fails(a) || EndedByUs(a) || stopped)
}

// EndedByUs reports whether the action settles that its sandbox is gone, and the provider was asked for it. What was
// gone, or on its way out, when it was looked at again had ended without us.
func EndedByUs(a reconcile.Action) bool {
	return EndsSandbox(a) && !a.FirstActed.IsZero() && a.Claimable()
}

// EndsSandbox reports whether the action settles that its sandbox is gone.
func EndsSandbox(a reconcile.Action) bool {
	return a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomeConfirmed && a.Sandbox != ""
}

// OnSandbox reports whether the step is one on a sandbox. Such a step is open once for its
// sandbox, every other one once for its subject.
func OnSandbox(s reconcile.Step) bool {
	return s == reconcile.StepTerminate || s == reconcile.StepQuarantine || s == reconcile.StepResume
}

// Announced is the line that the timeline gets for a settled action.
func Announced(a reconcile.Action) string {
	what := string(a.Step)
	if a.Sandbox != "" && OnSandbox(a.Step) {
		what += " " + a.Provider + "/" + a.Sandbox
	}
	what += ": " + string(a.Outcome)
	if a.Detail != "" {
		what += ": " + a.Detail
	}
	return what
}
