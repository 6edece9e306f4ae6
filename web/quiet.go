package web

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A quiet is a section that has nothing to show, in a word.
type quiet struct {
	Name, Word string
	Level      level
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
	add(len(p.Attention) == 0, quiet{"Needs attention", "nothing", well, asking("findings", "state", "due")})
	add(len(p.Hold) == 0, quiet{"On hold", "nothing", well, "stops"})
	add(len(p.Working) == 0, quiet{"Under way", "nothing", calm, asking("actions", "state", "open")})
	_, active := s.templateLines()
	add(len(p.Templates) == 0, quiet{"Templates", templatesWord(active), calm, ""})
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

func sourcesLevel(o *reconcile.Overview) level {
	switch {
	case len(o.Sources) == 0:
		return calm
	case len(untrusted(o.Sources)) > 0:
		return warn
	}
	return well
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
		return quiet{"False positives", "none", well, "rules"}
	}
	return quiet{"False positives", fmt.Sprint(n), warn, "rules"}
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
	target.More = append(target.More, cell{Text: "· "}, ruleCell(a.Rule))
	sub := outcome
	if a.Author != "" {
		sub += ", asked for by " + text.Plain(a.Author, mostHolding)
	}
	return item{
		Key: "work " + text.Plain(a.ID, mostName), Chip: chip(l, text.Plain(string(a.Step), mostName)), Text: target,
		Sub:  sentence(capital(strings.Join(reconcile.NonEmpty(sub, text.Plain(a.Reason, mostHead)), ". "))),
		When: since(a.PlannedAt, s.Now),
	}
}
