package web

import (
	"fmt"
	"maps"
	"slices"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// PassesPage lists passes, newest first.
func PassesPage(a *Asked, all []reconcile.PassSeen, more bool) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "passes", "Passes")}
	p.Head = headline{Level: calm, Text: "Passes", Below: capital(stripWords(s.Overview)) + ". " + passesBy(s.Overview)}
	g := grid{Heads: []string{"pass", "kind", "outcome", "began", "took", "left healthy", "by"},
		Empty: "No pass has begun yet."}
	for i, l := range passLines(s.Overview, all) {
		g.Rows = append(g.Rows, row{Key: fmt.Sprint("pass ", l.ID), Cells: []cell{
			passLink(l.ID), {Text: l.Kind}, chip(l.Level, l.Outcome).below(l.Error), when(l.Began), {Text: l.Took, Num: true},
			number(all[i].Kept), {Text: l.Holder},
		}})
	}
	if more && len(all) > 0 {
		g.More = &link{"Older ones", asking("passes", "below", fmt.Sprint(all[len(all)-1].ID))}
	}
	p.Blocks = []block{{Chart: passStrip(s.Overview)}, {Grid: &g}}
	return paper(p)
}

func passLink(id int64) cell {
	return cell{Text: fmt.Sprint("pass ", id), Href: address("passes", fmt.Sprint(id))}
}

// PassPage is one pass: what it counted, and what was begun on its budget.
func PassPage(a *Asked, one *reconcile.PassSeen, actions Part[reconcile.Action]) templ.Component {
	s := a.modelOf()
	l := passLines(s.Overview, []reconcile.PassSeen{*one})[0]
	p := sheet{frame: frameOf(a, "passes", fmt.Sprint("Pass ", one.ID))}
	done := s.steps.grid(actions.Rows)
	if actions.Next != "" {
		done.More = &link{"The next ones", asking(address("passes", fmt.Sprint(one.ID)), "after", actions.Next)}
	}
	p.Head = headline{Level: l.Level, Word: l.Outcome, Text: fmt.Sprintf("Pass %d, %s", one.ID, l.Kind), Below: l.Error}
	p.Blocks = []block{
		{Title: "The pass", Half: true, Pairs: []pair{
			{"began", when(l.Began).below(l.Began.Exact)}, {"took", cell{Text: l.Took}}, {"by", named(one.Holder)},
			{"left healthy", number(one.Kept)},
			{"before", passLink(one.ID - 1)}, {"after", passLink(one.ID + 1)},
		}},
		{Title: "What it counted", Half: true, Grid: countGrid(one.Counts)},
		{Title: "Actions on its budget", Grid: done},
	}
	return paper(p)
}

func countGrid(counts map[string]int) *grid {
	g := &grid{Heads: []string{"what", "where", "state", "count"}, Empty: "It counted nothing."}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		of := reconcile.ParseCount(key)
		g.Rows = append(g.Rows, row{Key: text.Plain(key, mostName), Cells: []cell{named(of.What), named(of.Provider),
			named(of.State), number(counts[key])}})
	}
	return g
}
