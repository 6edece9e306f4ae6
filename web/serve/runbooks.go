package serve

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
)

// runbooks lists the runbooks that the program has.
func (s *site) runbooks(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "runbooks", func(_ context.Context, a *web.Asked) (templ.Component, error) {
		names, err := fs.Glob(s.Runbooks, "*.md")
		titles := map[string]string{}
		for _, name := range names {
			text, err := fs.ReadFile(s.Runbooks, name)
			if err != nil {
				return nil, fmt.Errorf("read runbook %s: %w", name, err)
			}
			titles[strings.TrimSuffix(name, ".md")] = titleOf(string(text))
		}
		return web.RunbooksPage(a, titles), err
	})
}

// runbook shows one. It is the program's own text: nothing of a tenant is in it.
func (s *site) runbook(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("name"), ".md")
	s.show(w, r, "runbook "+name, func(_ context.Context, a *web.Asked) (templ.Component, error) {
		text, err := fs.ReadFile(s.Runbooks, name+".md")
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

// titleOf is the first line of a runbook.
func titleOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimLeft(line, "# "))
}
