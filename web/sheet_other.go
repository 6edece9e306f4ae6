package web

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// OperatorsPage is who did what, newest first.
func OperatorsPage(a *Asked, found Part[reconcile.TimelineEvent]) templ.Component {
	p := sheet{frame: frameOf(a, "operators", "Operators")}
	p.Head = headline{Level: calm, Text: "What operators did",
		Below: "Each request with its author and reason, newest first."}
	g := grid{Heads: []string{"at", "about", "what"}, Empty: "No operator has asked for anything yet."}
	for _, e := range found.Rows {
		at := exactly(e.At)
		g.Rows = append(g.Rows, row{Cells: []cell{when(at), subjectCell(e.Subject), said(e.What)}})
	}
	if found.Next != "" {
		g.More = &link{"Older ones", asking("operators", "after", found.Next)}
	}
	if len(a.Process.Proposals) > 0 {
		p.Blocks = append(p.Blocks, proposalBlock(a.Process.Proposals))
	}
	p.Blocks = append(p.Blocks, block{Grid: &g})
	return paper(p)
}

// SearchPage is what an id or a part of one was found in.
func SearchPage(a *Asked, sought string, found []reconcile.FoundSubject) templ.Component {
	p := sheet{frame: frameOf(a, "search", "Search")}
	p.Query = text.Plain(sought, mostName)
	p.Head = headline{Level: calm, Text: count(len(found), "match") + " for “" + p.Query + "”"}
	if sought == "" {
		p.Head.Text, p.Head.Below = "Search",
			"Type an id of a task, a sandbox or an incident, a name at a provider, or a part of one."
	}
	g := grid{Heads: []string{"what", "state", "name", "task"}, Empty: "Nothing is known of it."}
	for _, f := range found {
		state := chip(calm, reconcile.FirstOf(text.Plain(f.State, mostName), "unknown"))
		if f.There {
			state.Level = busy
		}
		id := reconcile.SubjectID{Type: f.Type, ID: f.ID}
		if f.Type == reconcile.SubjectSandbox {
			id.Provider = f.Provider
		}
		g.Rows = append(g.Rows, row{Key: text.Plain(id.String(), mostName), Cells: []cell{subjectCell(id.String()), state,
			named(f.Name), taskCell(f.Task)}})
	}
	if sought != "" {
		p.Blocks = []block{{Grid: &g}}
	}
	return paper(p)
}

// RunbooksPage lists the runbooks by their names and titles.
func RunbooksPage(a *Asked, titles map[string]string) templ.Component {
	p := sheet{frame: frameOf(a, "runbooks", "Runbooks")}
	p.Head = headline{Level: calm, Text: "Runbooks",
		Below: "What each alert means, what to look at first, and how to end it."}
	g := grid{Heads: []string{"runbook", "of"}}
	names := make([]string, 0, len(titles))
	for name := range titles {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		g.Rows = append(g.Rows, row{Key: name, Cells: []cell{{Text: name, Href: address("runbooks", name)},
			{Text: titles[name]}}})
	}
	p.Blocks = []block{{Grid: &g}}
	return paper(p)
}

// RunbookPage is one runbook, of which the HTML is ours.
func RunbookPage(a *Asked, title, html string) templ.Component {
	p := sheet{frame: frameOf(a, "runbooks", title)}
	p.Head = headline{Level: calm, Text: title}
	p.Blocks = []block{{HTML: html}}
	return paper(p)
}

// UnknownPage says that nothing is known of what was asked for.
func UnknownPage(a *Asked, what string) templ.Component {
	what = text.Plain(what, mostName)
	p := sheet{frame: frameOf(a, "", "Not known")}
	p.Head = headline{Level: calm, Text: "Nothing is known of " + what,
		Below: "No pass has seen it, or it was long enough ago to be forgotten. Search by a part of its id above."}
	return paper(p)
}

// DownPage says that the ledger cannot be read.
func DownPage(a *Asked, err error) templ.Component {
	v := unknown(err)
	p := sheet{frame: frameOf(a, "", v.Level.Sign()+" "+v.Word)}
	p.Level = bad
	p.Head = headline{Level: bad, Word: v.Word, Text: v.Sentence, Below: v.Next}
	p.Blocks = []block{{Commands: []command_{{"", v.Command}}}}
	return paper(p)
}
