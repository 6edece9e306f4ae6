package web

import (
	"slices"

	"github.com/a-h/templ"
	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// SourcesPage is how far each source is trusted, and what rests on it.
func SourcesPage(a *Asked) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "sources", "Sources")}
	lines := sourceLines(s.Overview)
	out := len(lines) - trustedOnes(lines)
	p.Head = ui.Headline{Level: ui.Well, Text: "All " + ui.Count(len(lines), "source") + " are trusted", Below: restsWords}
	if out > 0 {
		p.Head.Level, p.Head.Text = ui.Warn, ui.Count(out, "source")+" "+ui.Verb(out, "is", "are")+" not trusted"
	}
	g := ui.Grid{Heads: []string{"source", "trust", "for", "why", "holds"}, Empty: "No source has been looked at yet."}
	for _, l := range lines {
		trust := ui.Chip(l.Level, "trusted")
		if !l.Trusted {
			trust.Text = "not trusted"
		}
		holds := ui.Cell{Text: "–"}
		if n := heldBySource(s.Overview, l.raw); n > 0 {
			holds = ui.Said(ui.Count(n, "finding")).To(ui.Asking("findings", "state", "held", "held_by",
				reconcile.HeldFrozen(l.raw).String()))
			holds.Acts = []ui.Act{ui.ReleaseAct(l.raw)}
		}
		g.Rows = append(g.Rows, ui.Row{Key: "source " + l.Name, Cells: []ui.Cell{
			{Text: ui.Capital(l.Words), Sub: l.Name}, trust, ui.When(l.Lasts), {Text: ui.Capital(l.Reason)}, holds}})
	}
	p.Blocks = []ui.Block{{Grid: &g}, {Title: "Providers", Grid: s.providersWithActs()}, {Title: "Templates",
		Grid: s.templateGrid()}}
	if g := canaryGrid(s); g != nil {
		p.Blocks = append(p.Blocks, ui.Block{Title: "Canaries", Aside: "each must be gone within " +
			text.Duration(s.policy.Canary.Within), Grid: g})
	}
	return ui.Paper(p)
}

const restsWords = "Each source proves itself, or what rests on it is frozen until it is whole again."

// providersWithActs are the providers, each with what an operator may ask for of it.
func (s *model) providersWithActs() *ui.Grid {
	g := s.fleet.Grid()
	for i, name := range s.fleet.Names() {
		scope := reconcile.SubjectOf(reconcile.SubjectProvider, name)
		act := ui.PauseAct(scope)
		if slices.ContainsFunc(s.Controls.Pauses, func(p reconcile.Pause) bool { return p.Scope == scope }) {
			act = ui.ResumeAct(scope)
		}
		g.Rows[i].Cells[0].Acts = []ui.Act{act, ui.HoldAct(scope)}
	}
	return &g
}

func (s *model) templateGrid() *ui.Grid {
	g := &ui.Grid{Heads: []string{"template", "state", "last start from it", "expires", "looked at"},
		Empty: "No template is configured or was seen in use."}
	for _, t := range s.Templates {
		l, soon := ui.Well, s.expiresSoon(t)
		switch {
		case t.State.Unusable():
			l = ui.Bad
		case t.State == reconcile.TemplateBuilding:
			l = ui.Busy
		case t.State != reconcile.TemplateActive || soon:
			l = ui.Warn
		}
		expires := ui.Cell{Text: "–"}
		if !t.ExpiresAt.IsZero() {
			expires = ui.When(ui.Exactly(t.ExpiresAt))
		}
		g.Rows = append(g.Rows, ui.Row{Key: ui.Named("template " + t.Provider + "/" + t.Name).Text, Cells: []ui.Cell{
			ui.TemplateCell(t.Provider, t.Name).Below(ui.Named(t.Provider).Text),
			ui.Chip(l, templateWords(t, soon)).Below(ui.Said(t.Error).Text),
			ui.When(ui.Exactly(t.LastStart)), expires, ui.When(ui.Ago(t.LookedAt, s.Now))}})
	}
	return g
}
