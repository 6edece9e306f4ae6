package web

import (
	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// StopsPage is all that keeps something from being repaired. What lets a breaker go stands after its list.
func StopsPage(a *Asked) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "stops", "On hold")}
	rows := holdRows(s.Overview)
	p.Head = headline{Level: well, Text: "Nothing is on hold",
		Below: "Breakers, lowered modes, pauses, holds and releases, and what else holds a finding."}
	if len(rows) > 0 {
		p.Head.Level, p.Head.Text = warn, count(len(rows), "thing")+" "+verb(len(rows), "holds", "hold")+" something"
	}
	for _, r := range requests(s.Overview) {
		p.Blocks = append(p.Blocks, requestBlock(r))
	}
	for _, g := range heldGroups(s.Overview) {
		if !saidAlready(s.Overview, g.held) {
			p.Blocks = append(p.Blocks, groupBlock(g))
		}
	}
	return paper(p)
}

func requestBlock(r requestView) block {
	b := block{Title: r.What, Pairs: []pair{
		{"why", said(r.Why)}, {"by", named(r.Author)}, {"began", lastingCell(r.At)}, {"until", cell{Text: r.Until.Text}},
	}}
	if len(r.Subjects) > 0 {
		g := &grid{Heads: []string{"subjects that it holds"}}
		for _, subject := range r.Subjects {
			g.Rows = append(g.Rows, row{Key: text.Plain(subject, mostName), Cells: []cell{subjectCell(subject)}})
		}
		b.Grid = g
	}
	if r.Command != "" {
		b.Commands = []command_{{releaseWords(r), r.Command}}
	}
	return b
}

func releaseWords(r requestView) string {
	if len(r.Subjects) > 0 {
		return "When each of them may be acted on, release them:"
	}
	return "End it:"
}

func groupBlock(g heldGroup) block {
	l := &grid{Heads: []string{"rule and subject"}}
	for _, subject := range g.Subjects {
		l.Rows = append(l.Rows, row{Cells: []cell{{Text: subject}}})
	}
	l.More = &link{"All of them", asking("findings", "state", "held", "held_by", g.held.String())}
	return block{Title: capital(kindWord(g.held.Kind)), Aside: g.Count + " · " + g.By, Words: nonEmptyWords(g.Means),
		Grid: l}
}

func nonEmptyWords(words string) []string {
	if words == "" {
		return nil
	}
	return []string{words}
}
