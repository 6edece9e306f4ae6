package ui

// A Frame is what stands around every page.
type Frame struct {
	Up           string
	Self         string
	Part         bool
	Here         string // which part of the navigation the page is
	Title        string // what the tab says before the program's name
	Level        Level
	Installation string
	Version      string
	Doing        bool
	Nav          []NavItem
	Query        string // what was searched for
	Read         Moment
	Notes        []Note
	Every        int // milliseconds between two looks of the script
}

// A NavItem is a link at the top, with how many things wait there.
type NavItem struct {
	Text, Href string
	Count      int
	Level      Level
	Here       bool
}

// title is what the browser's tab says.
func (f *Frame) title() string {
	name := "sandkeeper"
	if f.Installation != "" {
		name = f.Installation + " · sandkeeper"
	}
	return f.Title + " · " + name
}

// A Note stands above everything: something about the reading itself.
type Note struct {
	Level Level
	Text  string
}
