package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// A site is what is written: the pages with their links led to each other, and what else they point at.
type site struct {
	tree    fs.FS
	pages   map[string]*page
	assets  map[string]bool // files that are copied as they are
	folders map[string]bool // folders without a README.md: their page lists what is in them
	wrong   []error
}

// link leads every link of every page to its place in the site. All that lead nowhere are reported together.
func link(tree fs.FS, pages map[string]*page) (*site, error) {
	s := &site{tree: tree, pages: pages, assets: map[string]bool{}, folders: map[string]bool{}}
	for _, file := range slices.Sorted(maps.Keys(pages)) {
		walk(pages[file].tree, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.Link:
				n.Destination = []byte(s.lead(pages[file], string(n.Destination)))
			case *ast.Image:
				n.Destination = []byte(s.lead(pages[file], string(n.Destination)))
			}
		})
	}
	return s, errors.Join(s.wrong...)
}

// lead is the address in the site of what a page points at.
func (s *site) lead(from *page, to string) string {
	address, err := url.Parse(to)
	if err != nil {
		s.wrong = append(s.wrong, fmt.Errorf("%s points at %s: %w", from.file, to, err))
		return to
	}
	if address.IsAbs() || address.Host != "" {
		return to
	}
	file := from.file
	if address.Path != "" {
		file = path.Join(path.Dir(from.file), address.Path)
	}
	at, err := s.locate(file, address.Fragment)
	if err != nil {
		s.wrong = append(s.wrong, fmt.Errorf("%s points at %s: %w", from.file, to, err))
		return to
	}
	return relative(place(from.file), at)
}

// locate is where a file of the tree, and an anchor in it, lie in the site.
func (s *site) locate(file, anchor string) (string, error) {
	found, err := fs.Stat(s.tree, file)
	if err != nil {
		return "", errors.New("there is no such file")
	}
	if found.IsDir() && s.pages[path.Join(file, "README.md")] != nil {
		file = path.Join(file, "README.md")
	}
	p := s.pages[file]
	switch {
	case p == nil && anchor != "":
		return "", errors.New("it is no page, and has no anchors")
	case p == nil && found.IsDir():
		s.folders[file] = true
		return path.Join(file, "index.html"), nil
	case p == nil:
		s.assets[file] = true
		return file, nil
	case anchor == "":
		return place(file), nil
	case !p.anchors[anchor]:
		return "", fmt.Errorf("%s has no heading of this anchor", file)
	}
	return place(file) + "#" + anchor, nil
}

// relative is the address of one place of the site, as another one writes it.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}
