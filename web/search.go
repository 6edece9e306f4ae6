package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// Sought is what the ledger is searched for: what was typed, without the type and the provider that stand before an id
// where the page and the command line tell it ("task:ID", "PROVIDER/ID").
func Sought(typed string, p *reconcile.Policy) string {
	of := reconcile.ParseSubject(typed)
	switch of.Type {
	case reconcile.SubjectTask, reconcile.SubjectSandbox, reconcile.SubjectIncident:
	default:
		of = reconcile.SubjectID{ID: typed}
	}
	if provider, id, found := strings.Cut(of.ID, "/"); found && of.Provider == "" {
		if _, known := p.Providers[provider]; known {
			of.ID = id
		}
	}
	return of.ID
}

// SearchPage is what an id or a part of one was found in, as far as one page shows it.
func SearchPage(a *Asked, sought string, found []reconcile.FoundSubject, more bool) templ.Component {
	p := ui.Sheet{Frame: frameOf(a, "search", "Search")}
	p.Query = ui.Name(sought)
	policy := &a.Process.Policy
	g := ui.Grid{Heads: []string{"what", "state", "name", "task"}, Rows: placesNamed(sought, policy),
		Empty: "Nothing is known of it."}
	if near := nearPlace(sought, policy); near != "" {
		g.Empty = "Nothing is known of it; " + text.DidYouMean(near)
	}
	matches := len(found) + len(g.Rows)
	p.Head = ui.Headline{Level: ui.Calm, Text: ui.Count(matches, "match") + " for “" + p.Query + "”"}
	switch {
	case sought == "":
		p.Head.Text, p.Head.Below = "Search", "Type an id of a task, a sandbox or an incident, a name at a provider, "+
			"a part of one, or the name of a rule or a provider."
	case more:
		p.Head.Text = fmt.Sprintf("The first %d matches for “%s”", matches, p.Query)
		p.Head.Below = "There are more. Type more of the id, or look in the whole lists below."
	}
	for _, f := range found {
		state := ui.Chip(ui.Calm, reconcile.FirstOf(ui.Name(f.State), "unknown"))
		if f.There {
			state.Level = ui.Busy
		}
		id := reconcile.SubjectID{Type: f.Type, ID: f.ID}
		if f.Type == reconcile.SubjectSandbox {
			id.Provider = f.Provider
		}
		g.Rows = append(g.Rows, ui.Row{Key: ui.Name(id.String()), Cells: []ui.Cell{ui.SubjectCell(id.String()), state,
			ui.Named(f.Name), ui.TaskCell(f.Task)}})
	}
	if sought != "" {
		p.Blocks = []ui.Block{{Grid: &g}}
	}
	if more {
		p.Blocks = append(p.Blocks, wholeLists(Sought(sought, policy)))
	}
	return ui.Paper(p)
}

// wholeLists are where all is that a text was found in.
func wholeLists(sought string) ui.Block {
	all := ui.Cell{Text: "all tasks with it"}.To(ui.Asking("tasks", "state", reconcile.ChosenAll, "text", sought))
	all.More = []ui.Cell{{Text: ", "}, ui.Cell{Text: "all sandboxes with it"}.
		To(ui.Asking("sandboxes", "state", reconcile.ChosenAll, "text", sought))}
	return ui.Block{Title: "More", Pairs: []ui.Pair{ui.PairOf("whole lists", all)}}
}

// placesNamed are the rule and the provider that are called like this, each with its page.
func placesNamed(sought string, p *reconcile.Policy) (rows []ui.Row) {
	of := reconcile.ParseSubject(strings.ToLower(sought))
	if of.Type != "" && of.Type != reconcile.SubjectRule && of.Type != reconcile.SubjectProvider {
		return nil
	}
	named := of.ID
	add := func(c ui.Cell) { rows = append(rows, ui.Row{Key: c.Text + c.ID, Cells: []ui.Cell{c, {}, {}, {}}}) }
	if address := ui.RuleAddress(named); address != "" {
		add(ui.Cell{Text: "rule ", ID: ui.Name(named), Href: address})
	}
	if _, known := p.Providers[named]; known {
		add(ui.Cell{Text: "provider ", ID: ui.Name(named), Href: ui.Asking("sandboxes", "provider", named)})
	}
	return rows
}

// nearPlace is the rule or provider that was probably meant, with its type where one was typed; "" when none is near.
func nearPlace(sought string, p *reconcile.Policy) string {
	places := slices.Concat(reconcile.RuleNames, p.ProviderNames())
	kind, name, typed := strings.Cut(sought, ":")
	switch {
	case Sought(sought, p) != sought:
		return "" // it is understood
	case !typed:
		return text.Nearest(sought, places)
	}
	types := []string{string(reconcile.SubjectRule), string(reconcile.SubjectProvider), string(reconcile.SubjectTask),
		string(reconcile.SubjectSandbox), string(reconcile.SubjectIncident)}
	near := text.Nearest(kind, types)
	if near == "" {
		return ""
	}
	if near == string(reconcile.SubjectRule) || near == string(reconcile.SubjectProvider) {
		name = reconcile.FirstOf(text.Nearest(name, places), name)
	}
	if said := near + ":" + name; said != sought {
		return said
	}
	return ""
}
