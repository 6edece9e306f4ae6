package web

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// soonEnough is how far away the next attempt may be for a step that is worked at.
const soonEnough = time.Minute

// steps are what is planned or under way: whether something works at each, and what became of it.
type steps struct {
	*reconcile.Overview
	policy      *reconcile.Policy
	limit       time.Duration     // how long one may rest before nothing works at it
	still       map[string]string // why nothing works at an open action, by its id
	quarantined map[string]bool   // terminates that wait for the end of a quarantine, by id
}

func stepsOf(o *reconcile.Overview, p *reconcile.Policy, limit time.Duration) *steps {
	s := &steps{Overview: o, policy: p, limit: max(limit, soonEnough),
		quarantined: reconcile.QuarantinedActions(o.Open, o.Now)}
	s.still = s.standstills()
	return s
}

// standstills are the open steps that nothing works at, by id, and why. The later steps of a
// remedy wait for the first one.
func (s *steps) standstills() map[string]string {
	still, remedies := map[string]string{}, map[string]string{}
	for i := range s.Open {
		a := &s.Open[i]
		why := s.stalled(a)
		if why == "" && a.Seq > 0 && a.Attempts == 0 && a.Outcome == reconcile.OutcomePending {
			why = remedies[a.Remedy]
		}
		if why != "" {
			still[a.ID], remedies[a.Remedy] = why, why
		}
	}
	return still
}

// stalled says why nothing works at an open step; "" when something does.
func (s *steps) stalled(a *reconcile.Action) string {
	if s.quarantined[a.ID] || a.Outcome != reconcile.OutcomePending || a.ClaimedBy != "" && a.ClaimEnds.After(s.Now) {
		return ""
	}
	if holds := s.policy.Holds(&s.Controls, a); len(holds) > 0 {
		return "held " + holding(holds)
	}
	if a.Attempts > 0 && a.NextAttempt.Sub(s.Now) > soonEnough {
		return fmt.Sprintf("%s, tried again at %s", refusal(a), a.NextAttempt.UTC().Format("15:04 UTC"))
	}
	touched := reconcile.Latest(a.PlannedAt, a.ClaimEnds, a.ActedAt, a.NextAttempt)
	if touched.IsZero() || s.Now.Sub(touched) <= s.limit {
		return ""
	}
	return fmt.Sprintf("%s for %s", attemptWords(a), text.Coarse(s.Now.Sub(touched)))
}

func refusal(a *reconcile.Action) string {
	if a.How == reconcile.HowRefused {
		return "refused by the provider"
	}
	return "failed " + times(a.Attempts)
}

func attemptWords(a *reconcile.Action) string {
	if a.Attempts == 0 {
		return "not begun"
	}
	return "tried " + times(a.Attempts) + ", not worked at"
}

// waitingSteps is how many open steps nothing works at, and why the oldest one waits.
func (s *steps) waitingSteps() (n int, first string) {
	for i := range s.Open {
		if why := s.still[s.Open[i].ID]; why != "" {
			if n++; n == 1 {
				first = why
			}
		}
	}
	return n, first
}

// standing are repairs that were begun or planned and that nothing works at.
func standing(s *model) (verdict, bool) {
	n, first := s.steps.waitingSteps()
	v := verdict{
		Level: ui.Warn, Word: "Waiting", Next: "The steps that wait are below, under Repairs.",
		Sentence: fmt.Sprintf("%s waits: %s.", ui.Count(n, "repair step"), first),
	}
	if n > 1 {
		v.Sentence = fmt.Sprintf("%s wait, the oldest: %s.", ui.Count(n, "repair step"), first)
	}
	if left := s.steps.awake() - n; left > 0 {
		v.Sentence += fmt.Sprintf(" %d more %s under way.", left, ui.Verb(left, "is", "are"))
	}
	return v, n > 0
}

// words are how many of the open steps wait, and how many are worked at.
func (s *steps) words() string {
	n, _ := s.waitingSteps()
	if n == 0 && s.awake() == 0 {
		return "none under way"
	}
	if n == 0 {
		return fmt.Sprintf("%d under way", s.awake())
	}
	left := s.awake() - n
	return fmt.Sprintf("%d %s, %d under way", n, ui.Verb(n, "waits", "wait"), left)
}
