package web

import (
	"github.com/a-h/templ"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// StopsPage is all that keeps something from being repaired. What lets a breaker go stands after its list.
func StopsPage(a *Asked) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "stops", "On hold")}
	rows := s.hold
	p.Head = ui.Headline{Level: ui.Well, Text: "Nothing is on hold",
		Below: "Breakers, lowered modes, pauses, holds and releases, and what else holds a finding.", Acts: s.acts()[1:]}
	if len(rows) > 0 {
		p.Head.Level, p.Head.Text = ui.Warn, ui.Count(len(rows), "thing")+" "+ui.Verb(len(rows), "holds", "hold")+" something"
	}
	for _, r := range requests(s.Overview) {
		p.Blocks = append(p.Blocks, requestBlock(r))
	}
	for _, g := range heldGroups(s.Overview) {
		if !saidAlready(s.Overview, g.held) {
			p.Blocks = append(p.Blocks, groupBlock(g))
		}
	}
	return ui.Paper(p)
}

func requestBlock(r requestView) ui.Block {
	b := ui.Block{Title: r.What, Pairs: []ui.Pair{
		ui.PairOf("about", r.About), ui.PairOf("why", ui.Said(r.Why)), ui.PairOf("by", ui.Named(r.Author)),
		ui.PairOf("now", ui.Said(r.Holds)), ui.PairOf("began", lastingCell(r.At)),
		ui.PairOf("until", ui.Cell{Text: r.Until.Text}),
	}}
	if r.Act.Href != "" {
		b.Acts = []ui.Act{r.Act} // it stands after the list, so that it was seen
	}
	if len(r.Subjects) > 0 {
		g := &ui.Grid{Heads: []string{"subjects that it holds"}}
		for _, subject := range r.Subjects {
			g.Rows = append(g.Rows, ui.Row{Key: ui.Name(subject), Cells: []ui.Cell{ui.SubjectCell(subject)}})
		}
		b.Grid = g
	}
	if r.Command != "" {
		b.Commands = []ui.ShellLine{{Says: releaseWords(r), Line: r.Command}}
	}
	return b
}

func releaseWords(r requestView) string {
	if len(r.Subjects) > 0 {
		return "When each of them may be acted on, release them:"
	}
	return "End it:"
}

func groupBlock(g heldGroup) ui.Block {
	l := &ui.Grid{Heads: []string{"rule and subject"}}
	for _, subject := range g.Subjects {
		l.Rows = append(l.Rows, ui.Row{Cells: []ui.Cell{{Text: subject}}})
	}
	l.More = &ui.Link{Text: "All of them", Href: ui.Asking("findings", "state", "held", "held_by", g.held.String())}
	return ui.Block{Title: ui.Capital(kindWord(g.held.Kind)), Aside: g.Count + " · " + g.By,
		Words: nonEmptyWords(g.Means), Grid: l}
}

func nonEmptyWords(words string) []string {
	if words == "" {
		return nil
	}
	return []string{words}
}
