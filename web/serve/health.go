package serve

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
)

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
		{"last complete pass fresh", answers && web.PassesCome(&r.Overview, p.Quick, p.Full)},
	}
}

// alive answers as long as the process does; it asks nobody.
func (s *site) alive(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, []byte("ok\n"))
}

// ready answers 503 until the page would show something that can be relied on.
func (s *site) ready(w http.ResponseWriter, r *http.Request) {
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
