package serve

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/api"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// page answers with the status page, or with the part of it that changes. A ledger that
// cannot be read makes a page that says so, and a status that no proxy takes for well.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	now := s.reader.read(r.Context())
	if now.Err != nil {
		s.Log.WarnContext(r.Context(), "page without the ledger", "err", now.Err)
	}
	status := http.StatusOK
	if now.Err != nil {
		status = http.StatusServiceUnavailable
	}
	made, err := s.printer.print(r.Context(), &now, s.process(), r.URL.Query().Get("part") == "live")
	if err != nil {
		s.notMade(w, r, err)
		return
	}
	made.send(w, r, status)
}

// notMade answers in the place of a page that could not be made.
func (s *site) notMade(w http.ResponseWriter, r *http.Request, err error) {
	s.Log.ErrorContext(r.Context(), "page not made", "err", err)
	http.Error(w, "the page could not be made, the log says why", http.StatusInternalServerError)
}

// process is who shows the page, as it is now.
func (s *site) process() web.Process {
	return web.Process{Version: s.Version, Doing: s.Doing, Policy: s.Policy(), ConfigError: s.ConfigError(),
		Proposals: s.proposals.list(time.Now())}
}

// metrics are what Prometheus reads.
func (s *site) metrics(w http.ResponseWriter, r *http.Request) {
	if s.Metrics == nil {
		s.missing(w, r)
		return
	}
	s.Metrics.ServeHTTP(w, r)
}

// missing is the page of addresses that are not there.
func (s *site) missing(w http.ResponseWriter, r *http.Request) {
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
func (s *site) html(w http.ResponseWriter, r *http.Request, a answer) {
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

// asset serves a stylesheet, a script or an icon.
func (s *site) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	a, err := ui.ReadAsset(name)
	if err != nil {
		s.missing(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.Type)
	h.Set("ETag", `"`+a.Version+`"`)
	h.Set("Cache-Control", "no-cache") // another version was asked for: another replica made the page
	if r.URL.Query().Get("v") == a.Version {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(a.Text))
}
