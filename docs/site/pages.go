package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// A page is one Markdown file of the tree.
type page struct {
	file    string // slash-separated, relative to the tree
	title   string
	source  []byte
	tree    ast.Node
	anchors map[string]bool
}

// markdown reads tables as GitHub does, and gives each heading the anchor that GitHub gives it. Raw HTML is left out.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// notRead are folders without texts for people.
var notRead = []string{"testdata", "node_modules", "bin", "dist"}

// read parses every Markdown file of the tree.
func read(tree fs.FS) (map[string]*page, error) {
	pages := map[string]*page{}
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (slices.Contains(notRead, d.Name()) || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".md" || d.Name() == "guide.md": // a guide is a part of docs/providers.md
			return nil
		}
		source, err := fs.ReadFile(tree, file)
		if err == nil {
			pages[file] = parse(file, source)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the texts: %w", err)
	}
	return pages, nil
}

func parse(file string, source []byte) *page {
	p := &page{file: file, title: file, source: source, anchors: map[string]bool{}}
	p.tree = markdown().Parser().Parse(text.NewReader(source))
	walk(p.tree, func(n ast.Node) {
		heading, is := n.(*ast.Heading)
		if !is {
			return
		}
		attribute, _ := heading.AttributeString("id")
		if id, has := attribute.([]byte); has {
			p.anchors[string(id)] = true
		}
		if heading.Level == 1 && p.title == file {
			p.title = strings.ReplaceAll(string(heading.Lines().Value(source)), "`", "")
		}
	})
	return p
}

// walk visits each node once.
func walk(tree ast.Node, visit func(ast.Node)) {
	// It fails with what the function returns: nothing.
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// place is where the page of a Markdown file lies in the site.
func place(file string) string {
	if path.Base(file) == "README.md" {
		return path.Join(path.Dir(file), "index.html")
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}
