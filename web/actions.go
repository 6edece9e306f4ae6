package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// An actionView is one step of a remedy, with what became of it.
type actionView struct {
	Key     string
	Level   level
	What    string // "terminate sandbox daytona/sb-9 of task 12"
	Outcome string // "confirmed gone 1.2 s after the request"
	When    moment // of the last thing that happened to it
	Rule    string
	Author  string // who asked for it, "" for a pass
	Reason  string
	Detail  string // one line
	Block   string // what is too long for one: the end of a log
	ID      string
}

func (s *steps) action(a *reconcile.Action) actionView {
	v := actionView{
		Key: text.Plain(a.ID, mostName), ID: text.Plain(a.ID, mostName), What: stepWords(a), Rule: text.Plain(a.Rule,
			mostName),
		Author: text.Plain(a.Author, mostName), Reason: sentence(capital(text.Plain(a.Reason,
			mostLine))), When: ago(a.ClosedAt, s.Now),
	}
	v.Level, v.Outcome = s.outcome(a)
	if a.ClosedAt.IsZero() {
		v.When = ago(a.PlannedAt, s.Now)
	}
	v.Detail, v.Block = inline(a.Detail)
	return v
}

// stepWords are what is done to what.
func stepWords(a *reconcile.Action) string {
	task, step := text.Plain(a.Task, mostName), text.Plain(string(a.Step), mostName)
	box := text.Plain(a.Provider+"/"+a.Sandbox, mostName)
	switch {
	case a.Step == reconcile.StepActivate:
		return fmt.Sprintf("%s %s", step, subjectWords(a.Subject))
	case a.Sandbox == "":
		return fmt.Sprintf("%s task %s", step, task)
	case task != "":
		return fmt.Sprintf("%s sandbox %s of task %s", step, box, task)
	}
	return fmt.Sprintf("%s sandbox %s", step, box)
}

// outcome is what became of a step, in words.
func (s *steps) outcome(a *reconcile.Action) (level, string) {
	switch a.Outcome {
	case reconcile.OutcomeDone, reconcile.OutcomeConfirmed:
		return well, doneWords(a)
	case reconcile.OutcomeWithdrawn:
		if by, asked := a.TakenBack(); asked {
			return calm, "withdrawn by " + text.Plain(by, mostHolding)
		}
		return calm, "withdrawn: looked again, and it no longer held"
	case reconcile.OutcomeFailed:
		return bad, "given up"
	case reconcile.OutcomeAccepted:
		return s.accepted(a)
	case reconcile.OutcomePending:
		if s.still[a.ID] != "" {
			return warn, s.pending(a)
		}
		return busy, s.pending(a)
	}
	return warn, text.Plain(string(a.Outcome), mostName)
}

// doneWords are what a step that succeeded has come to.
func doneWords(a *reconcile.Action) string {
	switch a.Step {
	case reconcile.StepQuarantine:
		return "stopped, and can come back"
	case reconcile.StepResume:
		return "it is back"
	case reconcile.StepRestore:
		return "the row is as it was"
	case reconcile.StepActivate:
		return "usable again"
	case reconcile.StepRequeue:
		return "task requeued"
	case reconcile.StepTerminate:
		return confirmation(a)
	}
	return "task marked failed"
}

// confirmation says how long it took until the provider, asked again, said gone.
func confirmation(a *reconcile.Action) string {
	if a.ActedAt.IsZero() || a.ClosedAt.Before(a.ActedAt) {
		return "confirmed gone, it was gone already"
	}
	return fmt.Sprintf("confirmed gone %s after the request", text.Coarse(a.ClosedAt.Sub(a.ActedAt)))
}

func (s *steps) accepted(a *reconcile.Action) (level, string) {
	age := s.Now.Sub(a.ActedAt)
	text := fmt.Sprintf("accepted by the provider %s ago, not confirmed yet", text.Coarse(age))
	if age >= overdueTerminate {
		return warn, text
	}
	return busy, text
}

func (s *steps) pending(a *reconcile.Action) string {
	holds := s.policy.Holds(&s.Controls, a)
	switch {
	case a.ClaimedBy != "" && a.ClaimEnds.After(s.Now):
		return "being done by " + text.Plain(a.ClaimedBy, mostName)
	case len(holds) > 0:
		return "held " + holding(holds)
	case a.NextAttempt.After(s.Now) && a.Attempts == 0:
		return "planned for later, in " + text.Coarse(a.NextAttempt.Sub(s.Now))
	case a.NextAttempt.After(s.Now):
		return fmt.Sprintf("tried %s, again in %s", times(a.Attempts), text.Coarse(a.NextAttempt.Sub(s.Now)))
	case a.Attempts > 0 && s.still[a.ID] != "":
		return s.still[a.ID]
	case a.Attempts > 0:
		return fmt.Sprintf("tried %s, again at once", times(a.Attempts))
	}
	return "planned, not begun"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
