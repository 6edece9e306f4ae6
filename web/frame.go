package web

import (
	"slices"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// Asked is what every page is made from besides what it is about.
type Asked struct {
	Reading *Reading
	Process Process
	Up      string // the way from the page up to the first one
	Part    bool   // only what changes is wanted
	Wrong   string // why the filter of a list is not one; "" when it is
	Self    string // the address of the page itself, without what asks for a part

	model *model // see modelOf
}

const (
	everyFirst = 2000
	everyOther = 5000
)

// frameOf is the frame of a page, whose part of the navigation is named here.
func frameOf(a *Asked, here, title string) ui.Frame {
	f := ui.Frame{
		Up: a.Up, Self: a.Self, Part: a.Part, Here: here, Title: ui.Name(title), Level: ui.Calm,
		Version: ui.Name(a.Process.Version), Doing: a.Process.Doing, Every: everyOther,
	}
	if a.Reading.Err != nil || a.Reading.Overview.Fresh {
		f.Nav = navOf(nil, here)
		return f
	}
	s := a.modelOf()
	f.Installation, f.Read, f.Nav = ui.Name(s.Installation), ui.Exactly(s.Now), navOf(s, here)
	for i := range f.Nav {
		if f.Nav[i].Href == "operators" {
			f.Nav[i].Count, f.Nav[i].Level = len(a.Process.Proposals), ui.Set
		}
	}
	return f
}

// listPage is a list, or why nobody can say what was asked for.
func (a *Asked) listPage(p ui.Sheet) templ.Component {
	if a.Wrong != "" {
		p.Head = ui.Headline{Level: ui.Warn, Text: "This filter is not understood", Below: ui.Sentence(ui.Line(a.Wrong))}
		p.Blocks = nil
	}
	return ui.Paper(p)
}

// templates adds the choice of a template to a filter: those that are known, and what was chosen.
func (s *model) templates(f *ui.FilterForm, chosen string) {
	names := []string{}
	for _, t := range s.Templates {
		names = append(names, t.Name)
	}
	if chosen != "" {
		names = append(names, chosen)
	}
	slices.Sort(names)
	f.Add("template", "Template", chosen, ui.Options("any template", slices.Compact(names)...)...)
}

// navOf are the pages that are reached from each.
func navOf(s *model, here string) []ui.NavItem {
	items := []ui.NavItem{
		{Text: "Overview", Href: "./"}, {Text: "Incidents", Href: "incidents"}, {Text: "Findings", Href: "findings"},
		{Text: "Actions", Href: "actions"}, {Text: "Tasks", Href: "tasks"}, {Text: "Sandboxes", Href: "sandboxes"},
		{Text: "On hold", Href: "stops"}, {Text: "Sources", Href: "sources"}, {Text: "Rules", Href: "rules"},
		{Text: "Passes", Href: "passes"}, {Text: "Operators", Href: "operators"},
	}
	for i := range items {
		items[i].Here = items[i].Href == here
		if s != nil {
			items[i].Count, items[i].Level = s.waitingAt(items[i].Href)
		}
	}
	return items
}

// waitingAt is how many things a page has that somebody should know of.
func (s *model) waitingAt(href string) (int, ui.Level) {
	switch href {
	case "incidents":
		return openIncidents(s.Overview), s.incidentsLevel()
	case "findings":
		return total(s.FindingsOpen), ui.Calm
	case "stops":
		return len(s.hold), ui.Warn
	case "sources":
		return len(untrusted(s.Sources)), ui.Warn
	}
	return 0, ui.Calm
}

func openIncidents(o *reconcile.Overview) int {
	n := 0
	for i := range o.Incidents {
		n += truth(o.Incidents[i].ClosedAt.IsZero())
	}
	return n
}

// incidentsLevel is how bad the worst of the open incidents is.
func (s *model) incidentsLevel() ui.Level {
	worst := ui.Calm
	for i := range s.Incidents {
		switch l, _ := stateOfIncident(s.Overview, &s.Incidents[i]); {
		case l == ui.Bad:
			return l
		case l == ui.Warn || l == ui.Set && worst == ui.Calm:
			worst = l
		}
	}
	return worst
}

// modelOf is what the reading says, worked out once for a page and what stands around it.
func (a *Asked) modelOf() *model {
	if a.model == nil {
		o := reconcile.Overview{}
		if a.Reading.Err == nil {
			o = a.Reading.Overview
		}
		a.model = newScene(&o, a.Process.Policy, a.Reading.Trends)
	}
	return a.model
}
