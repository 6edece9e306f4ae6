package serve

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// answers are the forms that all answers have: a page, a document, and why there is none.
type answers struct{ Log *slog.Logger }

// notMade answers in the place of a page that could not be made.
func (s *answers) notMade(w http.ResponseWriter, r *http.Request, err error) {
	s.Log.ErrorContext(r.Context(), "page not made", "err", err)
	http.Error(w, "the page could not be made, the log says why", http.StatusInternalServerError)
}

// refuse answers with why not, to programs in their form.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		problem(w, api.Problem{Status: status, Detail: why})
		return
	}
	http.Error(w, why, status)
}

// missing is the page of addresses that are not there.
func (s *answers) missing(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		problem(w, api.Problem{Status: http.StatusNotFound, Detail: "no such path; see /api/v1/openapi.json"})
		return
	}
	s.html(w, r, answer{http.StatusNotFound, web.Missing(upFrom(r.URL.Path))})
}

// An answer is a page with its status.
type answer struct {
	status int
	page   templ.Component
}

// rendered is a page as it is sent. The views clean what others wrote. Words that are ours, but come from the ledger,
// end here.
func rendered(ctx context.Context, page templ.Component) ([]byte, error) {
	var out bytes.Buffer
	if err := page.Render(ctx, &out); err != nil {
		return nil, err
	}
	return bytes.Map(text.Lined, out.Bytes()), nil
}

// html writes a page once it is whole: half a page would look like a calm one.
func (s *answers) html(w http.ResponseWriter, r *http.Request, a answer) {
	body, err := rendered(r.Context(), a.page)
	if err != nil {
		s.notMade(w, r, err)
		return
	}
	if a.status == http.StatusOK && knows(w, r, body) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // whoever asked has left
}
