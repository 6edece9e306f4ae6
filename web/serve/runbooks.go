package serve

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
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
		for _, files := range []string{"*.md", "rules/*.md"} {
			names, err := fs.Glob(s.Runbooks, files)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				text, err := fs.ReadFile(s.Runbooks, name)
				if err != nil {
					return nil, fmt.Errorf("read runbook %s: %w", name, err)
				}
				titles[strings.TrimSuffix(name, ".md")] = titleOf(string(text))
			}
		}
		return web.RunbooksPage(a, titles), nil
	})
}

// runbook shows one of a folder. It is the program's own text: nothing of a tenant is in it. Each has the address of
// its file, so that they find each other; what they say of other documents leads to where these are for everybody.
func (s *pages) runbook(folder string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimSuffix(r.PathValue("name"), ".md")
		s.show(w, r, "runbook "+name, func(_ context.Context, a *web.Asked) (templ.Component, error) {
			text, err := fs.ReadFile(s.Runbooks, path.Join(folder, name+".md"))
			if err != nil {
				return nil, reconcile.ErrNotFound // a name that is no file's, or no name at all
			}
			text = toDocument.ReplaceAll(text, []byte("](https://github.com/sandkeeper/sandkeeper/blob/main/docs/"))
			var html bytes.Buffer
			if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(text, &html); err != nil {
				return nil, fmt.Errorf("show runbook %s: %w", name, err)
			}
			return web.RunbookPage(a, titleOf(string(text)), html.String()), nil
		})
	}
}

// toDocument is the begin of a link from a runbook to a document.
var toDocument = regexp.MustCompile(`\]\((\.\./)+docs/`)

// titleOf is the first line of a runbook.
func titleOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimLeft(line, "# "))
}
