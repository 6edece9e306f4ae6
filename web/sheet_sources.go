package web

import (
	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// SourcesPage is how far each source is trusted, and what rests on it.
func SourcesPage(a *Asked) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "sources", "Sources")}
	lines := sourceLines(s.Overview)
	out := len(lines) - trustedOnes(lines)
	p.Head = headline{Level: well, Text: "All " + count(len(lines), "source") + " are trusted", Below: restsWords}
	if out > 0 {
		p.Head.Level, p.Head.Text = warn, count(out, "source")+" "+verb(out, "is", "are")+" not trusted"
	}
	g := grid{Heads: []string{"source", "trust", "for", "why", "holds"}, Empty: "No source has been looked at yet."}
	for _, l := range lines {
		trust := chip(l.Level, "trusted")
		if !l.Trusted {
			trust.Text = "not trusted"
		}
		holds := cell{Text: "–"}
		if n := heldBySource(s.Overview, l.raw); n > 0 {
			holds = said(count(n, "finding")).to(asking("findings", "state", "held", "held_by",
				reconcile.HeldFrozen(l.raw).String()))
		}
		g.Rows = append(g.Rows, row{Key: "source " + l.Name, Cells: []cell{
			{Text: capital(l.Words), Sub: l.Name}, trust, when(l.Lasts), {Text: capital(l.Reason)}, holds}})
	}
	p.Blocks = []block{{Grid: &g}, {Title: "Providers", Grid: ptr(s.fleet.grid())}, {Title: "Templates",
		Grid: templateGrid(s.Overview)}}
	return paper(p)
}

const restsWords = "Each source proves itself, or what rests on it is frozen until it is whole again."

func ptr[T any](v T) *T { return &v }

func templateGrid(o *reconcile.Overview) *grid {
	g := &grid{Heads: []string{"template", "state", "last start from it", "looked at"},
		Empty: "No template is configured or was seen in use."}
	for _, t := range o.Templates {
		l := well
		if t.State != reconcile.TemplateActive {
			l = warn
		}
		if unusable(t.State) {
			l = bad
		}
		g.Rows = append(g.Rows, row{Key: named("template " + t.Provider + "/" + t.Name).Text, Cells: []cell{
			named(t.Name).below(named(t.Provider).Text), chip(l, templateWords(t)).below(said(t.Error).Text),
			when(exactly(t.LastStart)), when(ago(t.LookedAt, o.Now))}})
	}
	return g
}
