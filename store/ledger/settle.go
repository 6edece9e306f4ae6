package ledger

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// CheckOutcome refuses a settlement with a word that is no outcome.
func CheckOutcome(o reconcile.Outcome) error {
	if o.Closed() || o == reconcile.OutcomePending || o == reconcile.OutcomeAccepted {
		return nil
	}
	return fmt.Errorf("outcome %q is not one of pending, accepted, done, confirmed, withdrawn, failed", o)
}

// GivesBack reports whether settling the action so returns the remedy's budget: its first
// step was withdrawn at the first attempt. After more attempts nobody knows whether one of
// them reached the outside before it broke, so the budget stays spent.
func GivesBack(a reconcile.Action) bool {
	return a.Seq == 0 && a.Outcome == reconcile.OutcomeWithdrawn && a.Attempts <= 1
}

// EndsRemedy says why the remedy's later steps are withdrawn with this one, or "" when
// they are not.
func EndsRemedy(a reconcile.Action) string {
	switch {
	case a.Outcome == reconcile.OutcomeFailed:
		return "the earlier step failed"
	case a.Seq == 0 && a.Outcome == reconcile.OutcomeWithdrawn:
		return "the first step was withdrawn"
	}
	return ""
}

// EndsSandbox reports whether the action settles that its sandbox is gone, by us.
func EndsSandbox(a reconcile.Action) bool {
	return a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomeConfirmed && a.Sandbox != ""
}

// Told is the line that the timeline gets for a settled action.
func Told(a reconcile.Action) string {
	what := string(a.Step)
	if a.Sandbox != "" && a.Step == reconcile.StepTerminate {
		what += " " + a.Provider + "/" + a.Sandbox
	}
	what += ": " + string(a.Outcome)
	if a.Detail != "" {
		what += ": " + a.Detail
	}
	return what
}
