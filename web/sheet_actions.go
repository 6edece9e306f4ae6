package web

import (
	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// ActionsPage lists the actions that somebody chose.
func ActionsPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.Action]) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "actions", "Actions")}
	p.Head = headline{Level: calm, Text: "Actions",
		Below: "What was done" + newestFirst(c) + ". Each was recorded before it was done, and a " +
			"termination is confirmed once the provider, asked again, says gone."}
	if c.State != reconcile.ChosenClosed {
		p.Head.Below = "What is planned or under way" + newestFirst(c) + "."
	}
	p.Filters = actionFilters(s, c)
	p.Blocks = []block{{Title: countWords(len(found.Rows), found.Next != "", "action"), Grid: s.steps.grid(found.Rows)}}
	p.Blocks[0].Grid.More = nextPart("actions", c, found.Next)
	p.Blocks[0].Grid.Sort = sortingOf("actions", c, "step", "rule", "outcome", "", "age")
	return paper(p)
}

func (s *steps) grid(all []reconcile.Action) *grid {
	g := &grid{Heads: []string{"what", "rule", "became of it", "because", "when"}, Empty: "No action is like that."}
	for i := range all {
		g.Rows = append(g.Rows, s.row(&all[i]))
	}
	return g
}

func (s *steps) row(a *reconcile.Action) row {
	v := s.action(a)
	what := targetOf(a)
	what.Text = text.Plain(string(a.Step), mostName) + " " + what.Text
	if a.Sandbox != "" && a.Task != "" {
		t := taskCell(a.Task)
		t.Text = "of task "
		what.More = append(what.More, t)
	}
	rule := ruleCell(a.Rule)
	if v.Author != "" {
		rule.Sub = "asked for by " + v.Author
	}
	because := said(v.Reason)
	because.Sub = v.Detail
	at := when(v.When)
	if a.Pass > 0 {
		at.More = append(at.More, cell{Text: " "}, passLink(a.Pass))
	}
	return row{Key: "action " + v.Key, Block: v.Block, Evidence: evidenceLines(a.Evidence),
		Cells: []cell{what, rule, chip(v.Level, outcomeWord(a)).below(v.Outcome), because, at}}
}

func actionFilters(s *model, c *reconcile.Chosen) *filterForm {
	f := &filterForm{Action: "actions"}
	f.add("state", "State", c.State, options("open and under way", reconcile.ChosenClosed)...)
	f.add("rule", "Rule", c.Rule, options("any rule", append(append([]string{}, reconcile.RuleNames...),
		reconcile.AskedRules...)...)...)
	f.add("provider", "Provider", c.Provider, options("any provider", s.policy.ProviderNames()...)...)
	steps := []reconcile.Step{reconcile.StepFail, reconcile.StepRequeue, reconcile.StepTerminate, reconcile.StepQuarantine,
		reconcile.StepResume, reconcile.StepRestore, reconcile.StepActivate}
	f.add("step", "Step", string(c.Step), options("any step", asTexts(steps)...)...)
	outcomes := []reconcile.Outcome{reconcile.OutcomePending, reconcile.OutcomeAccepted, reconcile.OutcomeDone,
		reconcile.OutcomeConfirmed, reconcile.OutcomeWithdrawn, reconcile.OutcomeFailed}
	f.add("outcome", "Outcome", string(c.Outcome), options("any outcome", asTexts(outcomes)...)...)
	f.add("author", "Asked for by", c.Author)
	f.add("text", "Part of an id", c.Text)
	f.order("actions", c)
	return f
}

func asTexts[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}
