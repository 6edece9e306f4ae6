package serve

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// TestPacked: who takes gzip gets pages, documents and assets packed, the same as everybody else; nothing is packed that
// is short, or for who asks without.
func TestPacked(t *testing.T) {
	h := shown(web.Reading{Overview: webtest.Healthy()})
	for path, c := range map[string]struct {
		accept string
		packed bool
	}{
		"/":                         {"gzip, deflate, br", true},
		"/operators":                {"br;q=1.0, GZIP;q=0.8", true},
		"/static/page.css":          {"gzip", true},
		"/api/v1/openapi.json":      {"gzip", true},
		"/findings":                 {"", false},
		"/incidents":                {"gzip;q=0, br", false},
		"/rules":                    {"deflate, gzip; q=0.0", false},
		"/sources":                  {"x-gzip", false},
		"/healthz":                  {"gzip", false},
		"/api/v1/pauses":            {"gzip", false},
		"/static/page.css?v=nobody": {"gzip;q=oops", false},
	} {
		got := ask(h, "GET", path, "Accept-Encoding", c.accept)
		if is := got.Header().Get("Content-Encoding") == "gzip"; is != c.packed || got.Code != http.StatusOK {
			t.Errorf("%s with %q = %d, packed: %t", path, c.accept, got.Code, is)
		}
		if !strings.Contains(got.Header().Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s does not say that it varies", path)
		}
		if !c.packed {
			continue
		}
		if got.Header().Get("Content-Length") != "" || !strings.HasPrefix(got.Header().Get("ETag"), "W/") {
			t.Errorf("%s: %v", path, got.Header())
		}
		z, err := gzip.NewReader(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(z)
		if plain := ask(h, "GET", path); err != nil || !bytes.Equal(body, plain.Body.Bytes()) {
			t.Errorf("%s is another one when it is packed, %v", path, err)
		}
	}
}

// TestKnownPagesAreNotSentAgain: a page, an asset or a document that somebody has is not sent, packed or not.
func TestKnownPagesAreNotSentAgain(t *testing.T) {
	h := shown(web.Reading{Overview: webtest.Healthy()})
	for _, path := range []string{"/runbooks", "/operators", "/static/page.css", "/api/v1/openapi.json"} {
		for _, accept := range []string{"", "gzip"} {
			tag := ask(h, "GET", path, "Accept-Encoding", accept).Header().Get("ETag")
			again := ask(h, "GET", path, "Accept-Encoding", accept, "If-None-Match", tag)
			if tag == "" || again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("Content-Encoding") != "" {
				t.Errorf("%s (%q) with %s = %d, %d bytes", path, accept, tag, again.Code, again.Body.Len())
			}
		}
	}
	if missing := ask(h, "GET", "/none", "If-None-Match", "*"); missing.Code != http.StatusNotFound || missing.Header().Get("ETag") != "" {
		t.Errorf("a page that is not there = %d, %v", missing.Code, missing.Header())
	}
}

// TestStreamsAreNotPacked: an event is there at once, whoever takes what.
func TestStreamsAreNotPacked(t *testing.T) {
	w := ask(newPacking(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = sendLine(http.NewResponseController(w), w, "data: "+strings.Repeat("x", 2*smallest)+"\n\n")
	})), "GET", "/live", "Accept-Encoding", "gzip")
	if w.Header().Get("Content-Encoding") != "" || !w.Flushed || !strings.HasPrefix(w.Body.String(), "data: ") {
		t.Errorf("a stream is sent as %v, flushed: %t", w.Header(), w.Flushed)
	}
}
