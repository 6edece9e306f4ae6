package web

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// page answers with the status page, or with the part of it that changes. A ledger that
// cannot be read makes a page that says so, and a status that no proxy takes for well.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	now := s.reader.read(r.Context())
	if now.Err != nil {
		s.Log.WarnContext(r.Context(), "page without the ledger", "err", now.Err)
	}
	view := viewOf(&now, s.Options)
	status := http.StatusOK
	if now.Err != nil {
		status = http.StatusServiceUnavailable
	}
	part := document(view) //nolint:contextcheck // a component gets its context when it is rendered
	if r.URL.Query().Get("part") == "live" {
		part = live(view) //nolint:contextcheck // the same
	}
	s.html(w, r, answer{status, part})
}

// missing is the page of addresses that are not there.
func (s *site) missing(w http.ResponseWriter, r *http.Request) {
	const deepest = 30 // a path of slashes alone would otherwise make an answer of megabytes
	up := strings.Repeat("../", min(max(strings.Count(r.URL.Path, "/")-1, 0), deepest))
	part := notFound(up) //nolint:contextcheck // a component gets its context when it is rendered
	s.html(w, r, answer{http.StatusNotFound, part})
}

// An answer is a page with its status.
type answer struct {
	status int
	page   templ.Component
}

// html writes a page once it is whole: half a page would look like a calm one.
func (s *site) html(w http.ResponseWriter, r *http.Request, a answer) {
	var out bytes.Buffer
	if err := a.page.Render(r.Context(), &out); err != nil {
		s.Log.ErrorContext(r.Context(), "page not made", "err", err)
		http.Error(w, "the page could not be made, the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(a.status)
	// The views clean what others wrote. Words that are ours, but come from the ledger, end here.
	_, _ = w.Write(bytes.Map(text.Lined, out.Bytes())) // whoever asked has left
}
