package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

//go:embed layout.html
var layout string

//go:embed style.css
var style []byte

var frame = template.Must(template.New("layout").Parse(layout))

// A sheet is what the layout prints.
type sheet struct {
	Title, Style string
	Navigation   []group
	Body         template.HTML
}

// build writes the whole site of a tree.
func build(tree fs.FS, to string) error {
	pages, err := read(tree)
	if err != nil {
		return err
	}
	s, err := link(tree, pages)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(s.pages)) {
		if err := s.page(s.pages[file], to); err != nil {
			return fmt.Errorf("write the page of %s: %w", file, err)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(s.folders)) {
		if err := s.folder(folder, to); err != nil {
			return fmt.Errorf("write the page of %s: %w", folder, err)
		}
	}
	return s.copy(to)
}

// page writes one Markdown file as a page.
func (s *site) page(p *page, to string) error {
	var body bytes.Buffer
	if err := markdown().Renderer().Render(&body, p.source, p.tree); err != nil {
		return err
	}
	//nolint:gosec // made of our own texts by goldmark, which leaves raw HTML out
	return s.print(to, place(p.file), p.title, template.HTML(body.String()))
}

var names = template.Must(template.New("names").Parse(`<h1>{{.Folder}}</h1><ul>{{range .Entries}}` +
	`<li>{{if .Address}}<a href="{{.Address}}">{{.Title}}</a>{{else}}{{.Title}}{{end}}</li>{{end}}</ul>`))

// folder writes a page that lists what is in a folder.
func (s *site) folder(folder, to string) error {
	files, err := fs.ReadDir(s.tree, folder)
	if err != nil {
		return err
	}
	var entries []entry
	for _, f := range files {
		e := entry{Title: f.Name()}
		if p := s.pages[path.Join(folder, f.Name())]; p != nil {
			e = entry{Address: path.Base(place(p.file)), Title: p.title}
		}
		entries = append(entries, e)
	}
	var body bytes.Buffer
	if err := names.Execute(&body, map[string]any{"Folder": folder, "Entries": entries}); err != nil {
		return err
	}
	//nolint:gosec // escaped by the template above
	return s.print(to, path.Join(folder, "index.html"), folder, template.HTML(body.String()))
}

// print puts a body into the layout.
func (s *site) print(to, at, title string, body template.HTML) error {
	var out bytes.Buffer
	if err := frame.Execute(&out, sheet{title, relative(at, "style.css"), s.navigation(at), body}); err != nil {
		return err
	}
	return write(to, at, out.Bytes())
}

// copy writes what pages point at and is no page, and the style.
func (s *site) copy(to string) error {
	for _, file := range slices.Sorted(maps.Keys(s.assets)) {
		data, err := fs.ReadFile(s.tree, file)
		if err != nil {
			return err
		}
		if err := write(to, file, data); err != nil {
			return err
		}
	}
	return write(to, "style.css", style)
}

func write(to, at string, data []byte) error {
	file := filepath.Join(to, filepath.FromSlash(at))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a site is read by everybody
		return err
	}
	return os.WriteFile(file, data, 0o644) //nolint:gosec // a site is read by everybody
}
