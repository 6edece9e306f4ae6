package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/fresh"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// upkeep is what machines ask for that keep the page running: checks, numbers, and the files that browsers take.
type upkeep struct {
	answers
	Policy  func() reconcile.Policy
	Metrics http.Handler
	reader  *reader
}

// A check is one line of /readyz. It names what was looked at and nothing that was seen:
// whoever asks has not said who he is.
type check struct {
	What string
	OK   bool
}

// checksOf are the checks that one reading settles.
func checksOf(r web.Reading, p reconcile.Policy) []check {
	answers := r.Err == nil
	return []check{
		{"database answers", answers},
		{"schema current", answers && r.Unready == nil && !r.Overview.Fresh},
		{"last complete pass fresh", answers && fresh.PassesCome(&r.Overview, p.Quick, p.Full)},
	}
}

// alive answers as long as the process does; it asks nobody.
func (s *upkeep) alive(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, []byte("ok\n"))
}

// ready answers 503 until the page would show something that can be relied on.
func (s *upkeep) ready(w http.ResponseWriter, r *http.Request) {
	now := s.reader.read(r.Context())
	var text bytes.Buffer
	status := http.StatusOK
	for _, c := range checksOf(now, s.Policy()) {
		word := "ok"
		if !c.OK {
			word, status = "not ready", http.StatusServiceUnavailable
		}
		fmt.Fprintf(&text, "%s: %s\n", c.What, word)
	}
	plain(w, status, text.Bytes())
}

func plain(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever asked has left
}

// metrics are what Prometheus reads.
func (s *upkeep) metrics(w http.ResponseWriter, r *http.Request) {
	if s.Metrics == nil {
		s.missing(w, r)
		return
	}
	s.Metrics.ServeHTTP(w, r)
}

// asset serves a stylesheet, a script or an icon.
func (s *upkeep) asset(w http.ResponseWriter, r *http.Request) {
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
