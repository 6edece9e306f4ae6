package serve

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
)

// runbooks lists the runbooks that the program has.
func (s *pages) runbooks(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "runbooks", func(_ context.Context, a *web.Asked) (templ.Component, error) {
		titles := map[string]string{}
		for _, folder := range runbookFolders {
			names, err := fs.Glob(s.Runbooks, path.Join(folder, "*.md"))
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				text, err := s.readRunbook(strings.TrimSuffix(path.Base(name), ".md"))
				if err != nil {
					return nil, fmt.Errorf("read runbook %s: %w", name, err)
				}
				titles[strings.TrimSuffix(path.Base(name), ".md")] = titleOf(string(text))
			}
		}
		return web.RunbooksPage(a, titles), nil
	})
}

// runbook shows one. It is the program's own text: nothing of a tenant is in it.
func (s *pages) runbook(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("name"), ".md")
	s.show(w, r, "runbook "+name, func(_ context.Context, a *web.Asked) (templ.Component, error) {
		text, err := s.readRunbook(name)
		if err != nil {
			return nil, reconcile.ErrNotFound // a name that is no file's, or no name at all
		}
		var html bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(text, &html); err != nil {
			return nil, fmt.Errorf("show runbook %s: %w", name, err)
		}
		return web.RunbookPage(a, titleOf(string(text)), html.String()), nil
	})
}

// runbookFolders are where runbooks are: those of the alerts, and behind them those of the rules.
var runbookFolders = []string{".", "rules"}

func (s *pages) readRunbook(name string) (text []byte, err error) {
	for _, folder := range runbookFolders {
		if text, err = fs.ReadFile(s.Runbooks, path.Join(folder, name+".md")); err == nil {
			return text, nil
		}
	}
	return nil, err
}

// titleOf is the first line of a runbook.
func titleOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimLeft(line, "# "))
}
