package web

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/web/passes"
	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// PassesPage lists passes, newest first.
func PassesPage(a *Asked, all []reconcile.PassSeen, more bool) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "passes", "Passes")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Passes",
		Below: ui.Capital(passes.Words(s.Overview)) + ". " + passes.By(s.Overview),
		Acts:  []ui.Act{ui.PassAct()}}
	g := ui.Grid{Heads: []string{"pass", "kind", "outcome", "began", "took", "left healthy", "by"},
		Empty: "No pass has begun yet."}
	for i, l := range passLines(s.Overview, all) {
		g.Rows = append(g.Rows, ui.Row{Key: fmt.Sprint("pass ", l.ID), Cells: []ui.Cell{
			passLink(l.ID), {Text: l.Kind}, ui.Chip(l.Level, l.Outcome).Below(l.Error), ui.When(l.Began),
			{Text: l.Took, Num: true},
			ui.Number(all[i].Kept), {Text: l.Holder},
		}})
	}
	if more && len(all) > 0 {
		g.More = &ui.Link{Text: "Older ones", Href: ui.Asking("passes", "below", fmt.Sprint(all[len(all)-1].ID))}
	}
	p.Blocks = []ui.Block{{Chart: passes.Strip(s.Overview)}, {Grid: &g}}
	return ui.Paper(p)
}

func passLink(id int64) ui.Cell {
	return ui.Cell{Text: fmt.Sprint("pass ", id), Href: ui.Address("passes", fmt.Sprint(id))}
}

// PassPage is one pass: what it counted, and what was begun on its budget.
func PassPage(a *Asked, one *reconcile.PassSeen, actions Part[reconcile.Action]) templ.Component {
	s := a.modelOf()
	l := passLines(s.Overview, []reconcile.PassSeen{*one})[0]
	p := ui.Sheet{Frame: frameOf(a, "passes", fmt.Sprint("Pass ", one.ID))}
	done := s.steps.grid(actions.Rows)
	done.Empty = "None was begun on it."
	if actions.Next != "" {
		done.More = &ui.Link{Text: "The next ones",
			Href: ui.Asking(ui.Address("passes", fmt.Sprint(one.ID)), "after", actions.Next)}
	}
	p.Head = ui.Headline{Level: l.Level, Word: l.Outcome, Text: fmt.Sprintf("Pass %d, %s", one.ID, l.Kind), Below: l.Error}
	p.Blocks = []ui.Block{
		{Title: "The pass", Half: true, Pairs: []ui.Pair{
			ui.PairOf("began", ui.When(l.Began).Below(l.Began.Exact)), ui.PairOf("took", ui.Cell{Text: l.Took}),
			ui.PairOf("by", ui.Named(one.Holder)),
			ui.PairOf("left healthy", ui.Number(one.Kept)),
			ui.PairOf("before", passLink(one.ID-1)), ui.PairOf("after", passLink(one.ID+1)),
		}},
		{Title: "What it counted", Half: true, Grid: countGrid(one.Counts)},
		{Title: "Actions on its budget", Grid: done},
	}
	return ui.Paper(p)
}

func countGrid(counts map[string]int) *ui.Grid {
	g := &ui.Grid{Heads: []string{"what", "where", "state", "count"}, Empty: "It counted nothing."}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		of := reconcile.ParseCount(key)
		g.Rows = append(g.Rows, ui.Row{Key: ui.Name(key), Cells: []ui.Cell{ui.Named(of.What), ui.Named(of.Provider),
			ui.Named(of.State), ui.Number(counts[key])}})
	}
	return g
}
