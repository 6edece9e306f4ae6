package web

import (
	"github.com/a-h/templ"
	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ActionsPage lists the actions that somebody chose.
func ActionsPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.Action]) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "actions", "Actions")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Actions",
		Below: "What was done" + newestFirst(c) + ". Each was recorded before it was done, and a " +
			"termination is confirmed once the provider, asked again, says gone."}
	if c.State != reconcile.ChosenClosed {
		p.Head.Below = "What is planned or under way" + newestFirst(c) + "."
	}
	p.Filters = actionFilters(s, c)
	p.Blocks = []ui.Block{{Title: ui.CountWords(len(found.Rows), found.Next != "", "action"),
		Grid: s.steps.grid(found.Rows)}}
	p.Blocks[0].Grid.More = ui.NextPart("actions", c, found.Next)
	p.Blocks[0].Grid.Sort = ui.SortingOf("actions", c, "step", "rule", "outcome", "", "age")
	return a.listPage(p)
}

func (s *steps) grid(all []reconcile.Action) *ui.Grid {
	g := &ui.Grid{Heads: []string{"what", "rule", "became of it", "because", "when"}, Empty: "No action is like that."}
	for i := range all {
		g.Rows = append(g.Rows, s.row(&all[i]))
	}
	return g
}

func (s *steps) row(a *reconcile.Action) ui.Row {
	v := s.action(a)
	what := targetOf(a)
	what.Text = ui.Name(string(a.Step)) + " " + what.Text
	if a.Sandbox != "" && a.Task != "" {
		t := ui.TaskCell(a.Task)
		t.Text = "of task "
		what.More = append(what.More, t)
	}
	rule := ui.RuleCell(a.Rule)
	if v.Author != "" {
		rule.Sub = "asked for by " + v.Author
	}
	about := []string{a.Subject, reconcile.TaskSubject(a.Task),
		reconcile.BoxSubject(reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})}
	because := ui.Cell{Words: ui.Linking(ui.Line(v.Reason), about...), Sub: v.Detail}
	at := ui.When(v.When)
	if a.Pass > 0 {
		at.More = append(at.More, ui.Cell{Text: " "}, passLink(a.Pass))
	}
	return ui.Row{Key: "action " + v.Key, Block: v.Block, Evidence: ui.EvidenceLines(a.Evidence, about...),
		Cells: []ui.Cell{what, rule, ui.Chip(v.Level, outcomeWord(a)).Below(v.Outcome), because, at}}
}

func actionFilters(s *model, c *reconcile.Chosen) *ui.FilterForm {
	f := &ui.FilterForm{Action: "actions"}
	f.Add("state", "State", c.State, ui.Options("open and under way", reconcile.ChosenClosed)...)
	f.Add("rule", "Rule", c.Rule, ui.Options("any rule", append(append([]string{}, reconcile.RuleNames...),
		reconcile.AskedRules...)...)...)
	f.Add("provider", "Provider", c.Provider, ui.Options("any provider", s.policy.ProviderNames()...)...)
	steps := []reconcile.Step{reconcile.StepFail, reconcile.StepRequeue, reconcile.StepTerminate, reconcile.StepQuarantine,
		reconcile.StepResume, reconcile.StepRestore, reconcile.StepActivate}
	f.Add("step", "Step", string(c.Step), ui.Options("any step", asTexts(steps)...)...)
	outcomes := []reconcile.Outcome{reconcile.OutcomePending, reconcile.OutcomeAccepted, reconcile.OutcomeDone,
		reconcile.OutcomeConfirmed, reconcile.OutcomeWithdrawn, reconcile.OutcomeFailed}
	f.Add("outcome", "Outcome", string(c.Outcome), ui.Options("any outcome", asTexts(outcomes)...)...)
	f.Add("author", "Asked for by", c.Author)
	f.Add("text", "Part of an id", c.Text)
	f.Order("actions", c)
	return f
}

func asTexts[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}
