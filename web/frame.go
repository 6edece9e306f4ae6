package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Asked is what every page is made from besides what it is about.
type Asked struct {
	Reading *Reading
	Process Process
	Up      string // the way from the page up to the first one
	Part    bool   // only what changes is wanted
	Self    string // the address of the page itself, without what asks for a part
}

// A frame is what stands around every page.
type frame struct {
	Up           string
	Self         string
	Part         bool
	Here         string // which part of the navigation the page is
	Title        string // what the tab says before the program's name
	Level        level
	Installation string
	Version      string
	Doing        bool
	Nav          []navItem
	Query        string // what was searched for
	Read         moment
	Notes        []note
	Every        int // milliseconds between two looks of the script
}

// A navItem is a link at the top, with how many things wait there.
type navItem struct {
	Text, Href string
	Count      int
	Level      level
	Here       bool
}

const (
	everyFirst = 2000
	everyOther = 5000
)

// frameOf is the frame of a page, whose part of the navigation is named here.
func frameOf(a *Asked, here, title string) frame {
	f := frame{
		Up: a.Up, Self: a.Self, Part: a.Part, Here: here, Title: text.Plain(title, mostName), Level: calm,
		Version: text.Plain(a.Process.Version, mostName), Doing: a.Process.Doing, Every: everyOther,
	}
	if a.Reading.Err != nil || a.Reading.Overview.Fresh {
		f.Nav = navOf(nil, here)
		return f
	}
	s := newScene(&a.Reading.Overview, a.Process.Policy, nil)
	f.Installation, f.Read, f.Nav = text.Plain(s.Installation, mostName), exactly(s.Now), navOf(s, here)
	for i := range f.Nav {
		if f.Nav[i].Href == "operators" {
			f.Nav[i].Count, f.Nav[i].Level = len(a.Process.Proposals), set
		}
	}
	return f
}

// title is what the browser's tab says.
func (f *frame) title() string {
	name := "sandkeeper"
	if f.Installation != "" {
		name = f.Installation + " · sandkeeper"
	}
	return f.Title + " · " + name
}

// navOf are the pages that are reached from each.
func navOf(s *model, here string) []navItem {
	items := []navItem{
		{Text: "Overview", Href: "./"}, {Text: "Incidents", Href: "incidents"}, {Text: "Findings", Href: "findings"},
		{Text: "Actions", Href: "actions"}, {Text: "Tasks", Href: "tasks"}, {Text: "Sandboxes", Href: "sandboxes"},
		{Text: "On hold", Href: "stops"}, {Text: "Sources", Href: "sources"}, {Text: "Rules", Href: "rules"},
		{Text: "Passes", Href: "passes"}, {Text: "Operators", Href: "operators"},
	}
	for i := range items {
		items[i].Here = items[i].Href == here
		if s != nil {
			items[i].Count, items[i].Level = waitingAt(s.Overview, items[i].Href)
		}
	}
	return items
}

// waitingAt is how many things a page has that somebody should know of.
func waitingAt(o *reconcile.Overview, href string) (int, level) {
	switch href {
	case "incidents":
		return openIncidents(o), bad
	case "findings":
		return total(o.FindingsOpen), calm
	case "stops":
		return len(holdRows(o)), warn
	case "sources":
		return len(untrusted(o.Sources)), warn
	}
	return 0, calm
}

func openIncidents(o *reconcile.Overview) int {
	n := 0
	for i := range o.Incidents {
		n += truth(o.Incidents[i].ClosedAt.IsZero())
	}
	return n
}

// modelOf is the reading of a page that is about something else too.
func (a *Asked) modelOf() *model {
	o := reconcile.Overview{}
	if a.Reading.Err == nil {
		o = a.Reading.Overview
	}
	return newScene(&o, a.Process.Policy, nil)
}

// countWords are a number of a list that may go on.
func countWords(n int, more bool, noun string) string {
	if more {
		return fmt.Sprintf("%d shown, and more follow", n)
	}
	return count(n, noun)
}
