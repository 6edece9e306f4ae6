package web

import (
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/sandkeeper/sandkeeper/reconcile"
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
		p.Head.Level = ui.Set
		p.Head.Text = ui.Count(len(rows), "thing") + " " + ui.Verb(len(rows), "holds", "hold") + " back repairs"
		if slices.ContainsFunc(rows, func(i item) bool { return i.Chip.Level != ui.Set }) {
			p.Head.Level = ui.Warn
		}
	}
	for _, r := range requests(s.Overview) {
		p.Blocks = append(p.Blocks, s.requestBlock(&r))
	}
	for _, g := range heldGroups(s.Overview) {
		if !saidAlready(s.Overview, g.held) {
			p.Blocks = append(p.Blocks, groupBlock(g))
		}
	}
	return ui.Paper(p)
}

func (s *model) requestBlock(r *requestView) ui.Block {
	b := ui.Block{Title: r.What, Pairs: []ui.Pair{
		ui.PairOf("about", r.About), ui.PairOf("why", ui.Said(r.Why)), ui.PairOf("by", ui.Named(r.Author)),
		ui.PairOf("now", ui.Said(r.Holds)), ui.PairOf("began", lastingCell(r.At)),
		ui.PairOf("until", ui.Cell{Text: strings.TrimPrefix(r.Until.Text, "until ")}),
	}}
	if r.Act.Href != "" {
		b.Acts = []ui.Act{r.Act} // it stands after the list, so that it was seen
	}
	if len(r.Subjects) > 0 {
		g := &ui.Grid{Heads: []string{"it holds", "what was seen", "since"}}
		for _, subject := range r.Subjects {
			row := ui.Row{Key: ui.Name(subject), Cells: []ui.Cell{ui.SubjectCell(subject)}}
			if f := s.findingOf(r.Rule, subject); f != nil {
				row.Cells = []ui.Cell{findingSubject(f), ui.Said(f.Reason), ui.When(ui.Ago(f.OpenedAt, s.Now))}
			}
			g.Rows = append(g.Rows, row)
		}
		b.Grid = g
	}
	if r.Command != "" {
		b.Commands = []ui.ShellLine{{Says: releaseWords(r), Line: r.Command}}
	}
	return b
}

// findingOf is the open finding of a rule on a subject; nil where it was not read.
func (s *model) findingOf(rule, subject string) *reconcile.FindingSeen {
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Rule == rule && f.Subject == subject {
			return f
		}
	}
	return nil
}

func releaseWords(r *requestView) string {
	if len(r.Subjects) > 0 {
		return "When each of them may be acted on, release them:"
	}
	return "End it:"
}

func groupBlock(g heldGroup) ui.Block {
	l := &ui.Grid{Heads: []string{"rule and subject"}}
	for _, subject := range g.Subjects {
		l.Rows = append(l.Rows, ui.Row{Cells: []ui.Cell{subject}})
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
