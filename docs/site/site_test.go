package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestSite: the site of this tree is made, so every internal link and anchor of every text leads somewhere; and what
// was written holds it once more, address by address.
func TestSite(t *testing.T) {
	to := t.TempDir()
	if err := build(os.DirFS("../.."), to); err != nil {
		t.Fatal(err)
	}
	written := contents(t, to)
	if len(written) < 60 {
		t.Fatalf("the site has %d files, want a page for each rule, runbook and text", len(written))
	}
	for _, at := range slices.Sorted(maps.Keys(written)) {
		if strings.HasSuffix(at, ".html") {
			leads(t, written, at)
		}
	}
}

var address = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// leads fails on what a written page points at and is not written.
func leads(t *testing.T, written map[string]string, at string) {
	t.Helper()
	for _, m := range address.FindAllStringSubmatch(written[at], -1) {
		file, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(file, ":") {
			continue
		}
		target := filepath.ToSlash(filepath.Join(filepath.Dir(at), file))
		body, found := written[target]
		if !found || anchor != "" && !strings.Contains(body, `id="`+anchor+`"`) {
			t.Errorf("%s points at %s, which is not there", at, m[1])
		}
	}
}

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		at, _ := filepath.Rel(folder, file)
		files[filepath.ToSlash(at)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestNavigation: every file that it names is there, and every text for people has its line.
func TestNavigation(t *testing.T) {
	pages, err := read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{pages: pages}
	shown := map[string]bool{}
	for _, sec := range sections {
		for _, p := range s.listed(sec) {
			shown[p.file] = true
		}
		for _, name := range sec.files {
			if pages[name] == nil && !strings.HasSuffix(name, "/") {
				t.Errorf("%s names %s, which is no text", sec.name, name)
			}
		}
	}
	for file := range pages {
		if strings.HasPrefix(file, "docs/") && !shown[file] {
			t.Errorf("%s has no line in the navigation", file)
		}
	}
}

// TestLinks: what a link becomes, and what is wrong with one.
func TestLinks(t *testing.T) {
	for name, c := range map[string]struct{ file, to, want, wrong string }{
		"a text becomes its page":      {"docs/a.md", "b.md", "../docs/b.html", ""},
		"an anchor stays":              {"docs/a.md", "b.md#a-heading-twice", "../docs/b.html#a-heading-twice", ""},
		"the same heading again":       {"docs/a.md", "b.md#a-heading-twice-1", "../docs/b.html#a-heading-twice-1", ""},
		"an anchor of the page itself": {"docs/b.md", "#a-heading-twice", "../docs/b.html#a-heading-twice", ""},
		"a README is an index":         {"docs/a.md", "../README.md", "../index.html", ""},
		"a folder with one":            {"docs/a.md", "..", "../index.html", ""},
		"a folder without":             {"README.md", "docs/", "docs/index.html", ""},
		"a file that is no text":       {"README.md", "LICENSE", "LICENSE", ""},
		"somebody else's":              {"README.md", "https://example.com/x#y", "https://example.com/x#y", ""},
		"no such file":                 {"README.md", "c.md", "c.md", "README.md points at c.md: there is no such file"},
		"no such anchor": {"README.md", "docs/b.md#c", "docs/b.md#c",
			"README.md points at docs/b.md#c: docs/b.md has no heading of this anchor"},
		"an anchor of no page": {"README.md", "LICENSE#c", "LICENSE#c",
			"README.md points at LICENSE#c: it is no page, and has no anchors"},
		"out of the tree": {"README.md", "../x", "../x", "README.md points at ../x: there is no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"README.md": {Data: []byte("# R")}, "LICENSE": {}, "docs/a.md": {Data: []byte("# A")},
				"docs/b.md": {Data: []byte("# B\n\n## A heading, twice\n\n## A heading, twice\n")}}
			pages, err := read(tree)
			if err != nil {
				t.Fatal(err)
			}
			s := &site{tree: tree, pages: pages, assets: map[string]bool{}, folders: map[string]bool{}}
			got := s.lead(pages[c.file], c.to)
			wrong := ""
			for _, err := range s.wrong {
				wrong += err.Error()
			}
			if diff := cmp.Diff([]string{c.want, c.wrong}, []string{got, wrong}); diff != "" {
				t.Errorf("address and what is wrong (-want +got):\n%s", diff)
			}
		})
	}
}
