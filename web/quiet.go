package web

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A quiet is a section that has nothing to show, in a word.
type quiet struct {
	Name, Word string
	Level      ui.Level
	Href       string
}

// quiet are the sections that collapse to a word.
func (s *model) quiet(p *page) []quiet {
	var out []quiet
	add := func(is bool, q quiet) {
		if is {
			out = append(out, q)
		}
	}
	add(len(p.Attention) == 0, quiet{"Needs attention", "nothing", ui.Well, ui.Asking("findings", "state", "due")})
	add(len(p.Hold) == 0, quiet{"On hold", "nothing", ui.Well, "stops"})
	add(len(p.Working) == 0, quiet{"Repairs", "none under way", ui.Calm, ui.Asking("actions", "state", "open")})
	_, active := s.templateLines()
	add(len(p.Templates) == 0, quiet{"Templates", templatesWord(active), ui.Calm, "sources"})
	add(true, quiet{"Sources", sourcesWord(s.Overview), sourcesLevel(s.Overview), "sources"})
	add(true, falseQuiet(s.Overview))
	if s.missed() == 0 {
		add(true, quiet{"Targets", p.TargetsAre.Text, p.TargetsAre.Level, ""})
	}
	return out
}

func templatesWord(active int) string {
	if active == 0 {
		return "none seen"
	}
	return fmt.Sprintf("%d active", active)
}

func sourcesWord(o *reconcile.Overview) string {
	if n := len(untrusted(o.Sources)); n > 0 {
		return fmt.Sprintf("%d of %d not trusted", n, len(o.Sources))
	}
	return fmt.Sprintf("all %d trusted", len(o.Sources))
}

func sourcesLevel(o *reconcile.Overview) ui.Level {
	switch {
	case len(o.Sources) == 0:
		return ui.Calm
	case len(untrusted(o.Sources)) > 0:
		return ui.Warn
	}
	return ui.Well
}

// falseQuiet is how often healthy work was marked failed, of what can be known.
func falseQuiet(o *reconcile.Overview) quiet {
	n := 0
	for rule, t := range o.Tallies {
		if reconcile.Watched(rule) {
			n += t.FalsePositives
		}
	}
	if n == 0 {
		return quiet{"False positives", "none", ui.Well, "rules"}
	}
	return quiet{"False positives", fmt.Sprint(n), ui.Warn, "rules"}
}

// working are the open steps, those that nothing works at first.
func (s *steps) working() (items []item, more string) {
	for _, still := range []bool{true, false} {
		for i := range s.Open {
			a := &s.Open[i]
			if s.quarantined[a.ID] || (s.still[a.ID] != "") != still || len(items) == mostOpen {
				continue
			}
			items = append(items, s.workItem(a))
		}
	}
	if left := s.awake() - len(items); left > 0 {
		more = fmt.Sprintf("And %d more.", left)
	}
	return items, more
}

func (s *steps) workItem(a *reconcile.Action) item {
	l, outcome := s.outcome(a)
	target := targetOf(a)
	target.More = append(target.More, ui.Cell{Text: "· "}, ui.RuleCell(a.Rule))
	sub := outcome
	if a.Author != "" {
		sub += ", asked for by " + text.Plain(a.Author, mostHolding)
	}
	return item{
		Key: "work " + ui.Name(a.ID), Chip: ui.Chip(l, ui.Name(string(a.Step))), Text: target,
		Sub:  ui.Sentence(ui.Capital(strings.Join(reconcile.NonEmpty(sub, text.Plain(a.Reason, mostHead)), ". "))),
		When: ui.Since(a.PlannedAt, s.Now),
	}
}
