package main

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// A section is a heading of the navigation with its files, in the order of a reader's days. One that ends in a
// slash stands for the folder's other pages.
type section struct {
	name  string
	files []string
}

var sections = []section{
	{"Start", []string{"README.md", "docs/getting-started.md", "docs/concepts.md", "docs/glossary.md",
		"docs/faq.md", "docs/demo.md"}},
	{"Set up", []string{"docs/configuration.md", "docs/configuration-reference.md", "docs/platforms.md",
		"docs/providers.md", "docs/generic.md", "docs/backtest.md", "docs/canary.md"}},
	{"Deploy", []string{"deploy/README.md", "docs/upgrade.md", "SECURITY.md", "docs/performance.md",
		"docs/scale.md"}},
	{"Operate", []string{"docs/operating.md", "docs/http.md"}},
	{"Rules", []string{"docs/rules/README.md", "docs/rules/"}},
	{"Runbooks", []string{"alerts/runbooks/"}},
	{"Our platforms", []string{"deploy/examples/README.md", "deploy/examples/"}},
	{"Background", []string{"docs/design.md", "docs/proof.md", "docs/guards.md", "docs/head-to-head.md",
		"docs/simulators.md", "examples/README.md", "CONTRIBUTING.md", "CHANGELOG.md"}},
}

// An entry is one line of the navigation.
type entry struct {
	Address, Title string
	Here           bool
}

// A group is one section of the navigation, as a page shows it.
type group struct {
	Name    string
	Open    bool // the page is in it
	Entries []entry
}

// navigation is what a page shows of all others.
func (s *site) navigation(here string) []group {
	var groups []group
	for _, sec := range sections {
		g := group{Name: sec.name}
		for _, p := range s.listed(sec) {
			at := place(p.file)
			g.Entries = append(g.Entries, entry{relative(here, at), p.title, at == here})
			g.Open = g.Open || at == here
		}
		groups = append(groups, g)
	}
	return groups
}

// listed are the pages of a section.
func (s *site) listed(sec section) []*page {
	var pages []*page
	for _, name := range sec.files {
		if p := s.pages[name]; p != nil {
			pages = append(pages, p)
		}
		if strings.HasSuffix(name, "/") {
			pages = append(pages, s.below(name, sec.files)...)
		}
	}
	return pages
}

// below are the pages in a folder and its folders that the section does not name itself.
func (s *site) below(folder string, named []string) []*page {
	var pages []*page
	for _, file := range slices.Sorted(maps.Keys(s.pages)) {
		if strings.HasPrefix(path.Dir(file)+"/", folder) && !slices.Contains(named, file) {
			pages = append(pages, s.pages[file])
		}
	}
	return pages
}
