package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// An actionView is one step of a remedy, with what became of it.
type actionView struct {
	Key     string
	Level   ui.Level
	What    string    // "terminate sandbox daytona/sb-9 of task 12"
	Outcome string    // "confirmed gone 1.2 s after the request"
	When    ui.Moment // of the last thing that happened to it
	Rule    string
	Author  string // who asked for it, "" for a pass
	Reason  string
	Detail  string // one line
	Block   string // what is too long for one: the end of a log
	ID      string
}

func (s *steps) action(a *reconcile.Action) actionView {
	v := actionView{
		Key: ui.Name(a.ID), ID: ui.Name(a.ID), What: stepWords(a), Rule: ui.Name(a.Rule),
		Author: ui.Name(a.Author), Reason: ui.Sentence(ui.Capital(ui.Line(a.Reason))), When: ui.Ago(a.ClosedAt, s.Now),
	}
	v.Level, v.Outcome = s.outcome(a)
	if a.ClosedAt.IsZero() {
		v.When = ui.Ago(a.PlannedAt, s.Now)
	}
	v.Detail, v.Block = ui.Inline(a.Detail)
	return v
}

// stepWords are what is done to what.
func stepWords(a *reconcile.Action) string {
	task, step := ui.Name(a.Task), ui.Name(string(a.Step))
	box := ui.Name(a.Provider + "/" + a.Sandbox)
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
func (s *steps) outcome(a *reconcile.Action) (ui.Level, string) {
	switch a.Outcome {
	case reconcile.OutcomeDone, reconcile.OutcomeConfirmed:
		return ui.Well, doneWords(a)
	case reconcile.OutcomeWithdrawn:
		if a.How == reconcile.HowTakenBack {
			return ui.Calm, "withdrawn " + text.Plain(a.Detail, mostHolding)
		}
		return ui.Calm, "withdrawn: looked again, and it no longer held"
	case reconcile.OutcomeFailed:
		return ui.Bad, "given up"
	case reconcile.OutcomeAccepted:
		return s.accepted(a)
	case reconcile.OutcomePending:
		if s.still[a.ID] != "" {
			return ui.Warn, s.pending(a)
		}
		return ui.Busy, s.pending(a)
	}
	return ui.Warn, ui.Name(string(a.Outcome))
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

func (s *steps) accepted(a *reconcile.Action) (ui.Level, string) {
	age := s.Now.Sub(a.ActedAt)
	text := fmt.Sprintf("accepted by the provider %s ago, not confirmed yet", text.Coarse(age))
	if age >= overdueTerminate {
		return ui.Warn, text
	}
	return ui.Busy, text
}

func (s *steps) pending(a *reconcile.Action) string {
	holds := s.policy.Holds(&s.Controls, a)
	switch {
	case a.ClaimedBy != "" && a.ClaimEnds.After(s.Now):
		return "being done by " + ui.Name(a.ClaimedBy)
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
