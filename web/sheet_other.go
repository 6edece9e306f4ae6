package web

import (
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// OperatorsPage is who did what, newest first.
func OperatorsPage(a *Asked, found Part[reconcile.TimelineEvent]) templ.Component {
	p := ui.Sheet{Frame: frameOf(a, "operators", "Operators")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "What operators did",
		Below: "Each request with its author and reason, newest first."}
	g := ui.Grid{Heads: []string{"at", "about", "what"}, Empty: "No operator has asked for anything yet."}
	for rest := found.Rows; len(rest) > 0; {
		n := sameRequest(rest)
		g.Rows = append(g.Rows, operatorRow(rest[:n]))
		rest = rest[n:]
	}
	if found.Next != "" {
		g.More = &ui.Link{Text: "Older ones", Href: ui.Asking("operators", "after", found.Next)}
	}
	if len(a.Process.Proposals) > 0 {
		p.Blocks = append(p.Blocks, proposalBlock(a.Process.Proposals))
	}
	p.Blocks = append(p.Blocks, ui.Block{Grid: &g})
	return ui.Paper(p)
}

// sameRequest is how many of the first events are one request: the same was asked for at once of many subjects.
func sameRequest(events []reconcile.TimelineEvent) int {
	n := 1
	for n < len(events) && events[n].At.Equal(events[0].At) && events[n].What == events[0].What {
		n++
	}
	return n
}

// operatorRow is one request, with all that it is about folded under it.
func operatorRow(of []reconcile.TimelineEvent) ui.Row {
	r := ui.Row{Key: "request " + ui.Name(of[0].Subject) + ui.Exactly(of[0].At).ISO, Cells: []ui.Cell{
		ui.When(ui.Exactly(of[0].At)), ui.SubjectCell(of[0].Subject), ui.Said(of[0].What)}}
	if len(of) == 1 {
		return r
	}
	r.Cells[1] = ui.Cell{Text: ui.Count(len(of), "subject")}
	r.Fold = "Each of them"
	for _, e := range of {
		one := ui.Link{Text: ui.Name(e.Subject), Href: ui.SubjectAddress(e.Subject)}
		r.Evidence = append(r.Evidence, ui.EvidenceLine{Fact: ui.Linked{one}})
	}
	return r
}

// RunbooksPage lists the runbooks by their names and titles.
func RunbooksPage(a *Asked, titles map[string]string) templ.Component {
	p := ui.Sheet{Frame: frameOf(a, "runbooks", "Runbooks")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Runbooks",
		Below: "What each alert means, what to look at first, and how to end it."}
	g := ui.Grid{Heads: []string{"runbook", "of"}}
	names := make([]string, 0, len(titles))
	for name := range titles {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := append([]string{"runbooks"}, strings.Split(name, "/")...)
		g.Rows = append(g.Rows, ui.Row{Key: name, Cells: []ui.Cell{{Text: name, Href: ui.Address(at...)},
			{Text: titles[name]}}})
	}
	p.Blocks = []ui.Block{{Grid: &g}}
	return ui.Paper(p)
}

// RunbookPage is one runbook, of which the HTML is ours.
func RunbookPage(a *Asked, title, html string) templ.Component {
	p := ui.Sheet{Frame: frameOf(a, "runbooks", title)}
	p.Head = ui.Headline{Level: ui.Calm, Text: title}
	p.Blocks = []ui.Block{{HTML: html}}
	return ui.Paper(p)
}

// UnknownPage says that nothing is known of what was asked for.
func UnknownPage(a *Asked, what string) templ.Component {
	what = ui.Name(what)
	p := ui.Sheet{Frame: frameOf(a, "", "Not known")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Nothing is known of " + what,
		Below: "No pass has seen it, or it was long enough ago to be forgotten. Search by a part of its id above."}
	return ui.Paper(p)
}

// DownPage says that the ledger cannot be read.
func DownPage(a *Asked, err error) templ.Component {
	v := unknown(err)
	p := ui.Sheet{Frame: frameOf(a, "", v.Level.Sign()+" "+v.Word)}
	p.Level = ui.Bad
	p.Head = ui.Headline{Level: ui.Bad, Word: v.Word, Text: v.Sentence, Below: v.Next}
	p.Blocks = []ui.Block{{Commands: []ui.ShellLine{{Says: "", Line: v.Command}}}}
	return ui.Paper(p)
}
