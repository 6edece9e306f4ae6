package protocol

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// CheckAsked refuses a list of actions that nobody could carry out, before any is written.
func CheckAsked(actions []reconcile.Action) error {
	for _, a := range actions {
		if a.ID == "" || a.Remedy == "" || !Asks(a) {
			return fmt.Errorf("action %q of rule %q: an id, a remedy and the rule %s or %s are needed",
				a.ID, a.Rule, reconcile.RuleOperator, reconcile.RuleEmergency)
		}
	}
	return nil
}

// Requested is an action as an operator asked for it now: all that the ledger alone knows of an
// action is as new.
func Requested(a reconcile.Action, by reconcile.Attribution, now time.Time) reconcile.Action {
	a.Author, a.PlannedAt, a.Announce = by.Author, now, false
	if a.Reason == "" {
		a.Reason = by.Reason
	}
	a.Outcome, a.Detail, a.Attempts = reconcile.OutcomePending, "", 0
	a.ClaimedAt, a.ClaimedBy, a.ClaimEnds = time.Time{}, "", time.Time{}
	a.ActedAt, a.FirstActed, a.AskedAt, a.Asks = time.Time{}, time.Time{}, time.Time{}, 0
	a.ClosedAt = time.Time{}
	return a
}

// RequestedFor is what the timeline says of an action that an operator asked for.
func RequestedFor(a reconcile.Action) string {
	what := string(a.Step)
	if a.Sandbox != "" {
		what += " " + a.Provider + "/" + a.Sandbox
	}
	if a.Rule == reconcile.RuleEmergency {
		what += " in an emergency"
	}
	return what + " asked for"
}

// CheckWithdrawable refuses to withdraw, for an operator, what is more than planned: once
// somebody has begun it, only who looks outside can say what became of it. A stop is an
// exception while nobody is at it: who takes it back wakes the sandbox, whatever became of it.
func CheckWithdrawable(a reconcile.Action) error {
	switch {
	case a.Outcome.Closed():
		return fmt.Errorf("withdraw %s of %s: it is already %s", a.Step, a.Subject, a.Outcome)
	case a.Step == reconcile.StepQuarantine && a.ClaimedBy == "" && a.Attempts > 0:
		return nil
	case a.ClaimedBy != "" || a.Attempts > 0 || a.Outcome != reconcile.OutcomePending:
		return fmt.Errorf("withdraw %s of %s: it was begun, and is carried out or confirmed now", a.Step, a.Subject)
	case a.Seq == 0:
		return fmt.Errorf("withdraw %s of %s: it is its remedy's first step, only a later one can be taken back",
			a.Step, a.Subject)
	}
	return nil
}

// TakenBack is what the timeline says of a step that an operator took back.
func TakenBack(a reconcile.Action) string {
	return string(a.Step) + " " + a.Provider + "/" + a.Sandbox + " taken back"
}
