package protocol

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Hour is the rolling window of the budget limits.per_hour.
const Hour = time.Hour

// A Request is everything that decides whether an action may be claimed, read under the
// lock that all claims take.
type Request struct {
	Action     reconcile.Action
	ClaimEpoch int64              // of the lease of the last claim; 0 when that was a worker's, or never was
	Epoch      int64              // of the present pass lease, whoever asks
	Begun      bool               // the remedy has had its first claim before
	Shares     bool               // a step of the remedy destroys something
	Earlier    []reconcile.Action // the remedy's steps before it
	Spent      Spent
}

// Spent counts remedies begun, those given back left out.
type Spent struct {
	Total  int // in this pass
	Shared int // in this pass, those that destroy something
	Hour   int // in the rolling hour
}

// Refuse says why the action may not be claimed now, or nil. Refusals wrap
// [reconcile.ErrHeld].
func (r Request) Refuse(c reconcile.Claim, now time.Time) error {
	if why := reconcile.FirstOf(r.busy(now), r.order()); why != "" {
		return &reconcile.ClaimError{By: reconcile.Held{Kind: reconcile.HeldOther, Reason: why}}
	}
	if budget := r.budget(c); budget != "" {
		return &reconcile.ClaimError{By: reconcile.Held{Kind: reconcile.HeldBudget, What: budget}}
	}
	return nil
}

// Begins reports whether this claim would begin the remedy, and so be counted.
func (r Request) Begins() bool { return r.Action.Seq == 0 && !r.Begun }

// busy says why the action itself is not free.
func (r Request) busy(now time.Time) string {
	a := r.Action
	switch {
	//guard:claim-closed once
	case a.Outcome.Closed():
		return "already " + string(a.Outcome)
	//guard:claim-living once
	case Living(a, r.ClaimEpoch, r.Epoch, now):
		return fmt.Sprintf("claimed by %s until %s", a.ClaimedBy, text.Time(a.ClaimEnds))
	//guard:claim-not-before harm
	case a.NextAttempt.After(now):
		return "not before " + text.Time(a.NextAttempt)
	}
	return ""
}

// Living reports whether a claim on the action still stands: it has not run out, and is a
// worker's or was made under the present lease. A claim of a lease that was taken over is
// free at once.
func Living(a reconcile.Action, claimEpoch, epoch int64, now time.Time) bool {
	workers := claimEpoch == 0
	//guard:claim-takeover live
	//guard:claim-clock live
	return a.ClaimedBy != "" && (workers || claimEpoch >= epoch) && a.ClaimEnds.After(now) && !Ahead(a.ClaimedAt, now)
}

// order says which earlier step is missing. A later step's ground is that the first one
// stands, so a withdrawn first step is as bad as an open one; a terminate withdrawn, or
// accepted and not confirmed, in the middle says nothing about the next sandbox.
func (r Request) order() string {
	//guard:claim-first P2
	if r.Action.Seq > 0 && !hasFirst(r.Earlier) {
		return "its first step is not on record"
	}
	for _, e := range r.Earlier {
		if e.Outcome == reconcile.OutcomeDone || e.Outcome == reconcile.OutcomeConfirmed || r.passes(e) {
			continue
		}
		//guard:claim-order P2
		return fmt.Sprintf("its earlier step %s is %s", e.Step, e.Outcome)
	}
	return ""
}

// passes reports whether an earlier step in the middle, which is not done, may be passed
// over. It never is the ground of a step on another sandbox; on the same one only a
// terminate is none. A step that waits, for the end of a quarantine, holds no other sandbox.
func (r Request) passes(e reconcile.Action) bool {
	other := e.Provider != r.Action.Provider || e.Sandbox != r.Action.Sandbox
	if e.Seq == 0 || !other && e.Step != reconcile.StepTerminate {
		return false
	}
	waits := e.Outcome == reconcile.OutcomePending && e.Attempts == 0 && !e.NextAttempt.IsZero()
	return e.Outcome == reconcile.OutcomeWithdrawn || e.Outcome == reconcile.OutcomeAccepted || other && waits
}

func hasFirst(steps []reconcile.Action) bool {
	for _, s := range steps {
		if s.Seq == 0 {
			return true
		}
	}
	return false
}

// budget says which budget a remedy that begins here does not fit. Later steps and
// further attempts of a begun remedy fit always. What a person asked for is not a pass's:
// only the hour counts.
func (r Request) budget(c reconcile.Claim) string {
	asked := Asks(r.Action)
	switch {
	case !r.Begins():
		return ""
	//guard:claim-per-pass P7
	case !asked && r.Spent.Total >= c.Total:
		return fmt.Sprintf("per_pass %d", c.Total)
	//guard:claim-share P7
	case !asked && r.Spends(c) && r.Spent.Shared >= c.Shared:
		return fmt.Sprintf("share (%d of the fleet)", c.Shared)
	//guard:claim-per-hour P7
	case r.Spent.Hour >= c.Hour:
		return fmt.Sprintf("per_hour %d", c.Hour)
	}
	return ""
}

// Spends reports whether the remedy uses up the share of the fleet: it destroys something,
// and not to make room.
func (r Request) Spends(c reconcile.Claim) bool { return r.Shares && !c.Lifted }

// Asks reports whether an operator asked for the action.
func Asks(a reconcile.Action) bool {
	return a.Rule == reconcile.RuleOperator || a.Rule == reconcile.RuleEmergency
}

// ClaimLost is the refusal of a write under a claim that no longer stands.
func ClaimLost(a reconcile.Action) error {
	return fmt.Errorf("claim of action %s, attempt %d, is no longer valid: %w", a.ID, a.Attempts, reconcile.ErrFenced)
}
