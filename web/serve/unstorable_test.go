package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// TestNothingGoesByIt: an id that no database can hold is on no record, whatever stands behind; the ledger is not asked.
func TestNothingGoesByIt(t *testing.T) {
	o := options()
	o.Ledger, o.Records, o.Acts = fixedOf(web.Reading{Overview: webtest.Healthy()}), recorded{}, &asking{}
	h, tried := New(o), 0
	for _, row := range routes(newSite(o)) {
		if row.method != http.MethodGet || !strings.Contains(row.path, "{") || row.kind == kindAsset {
			continue
		}
		for _, id := range []string{"%00", "a%00b", "%ff%fe"} {
			path := row.path[:strings.Index(row.path, "{")] + id
			if strings.Count(row.path, "{") == 2 {
				path += "/x"
			}
			w := ask(h, http.MethodGet, path)
			if tried++; w.Code != http.StatusNotFound {
				t.Errorf("GET %s: %d, want 404: %.200s", path, w.Code, w.Body)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d addresses were tried", tried)
	}
	if w := ask(h, http.MethodGet, "/api/v1/acts/retry?target=%00"); w.Code != http.StatusNotFound {
		t.Errorf("a preview of no id: %d", w.Code)
	}
	if w := ask(h, http.MethodGet, "/api/v1/passes/none"); w.Code != http.StatusNotFound {
		t.Errorf("a pass by a word: %d", w.Code)
	}
}

// TestProgramsAreRefusedInTheirForm: whatever refuses a path of the API does so as its document says; a page is refused
// in plain words.
func TestProgramsAreRefusedInTheirForm(t *testing.T) {
	o := options()
	o.Ledger, o.Records = fixedOf(web.Reading{Overview: webtest.Healthy()}), recorded{}
	h := New(o)
	host := httptest.NewRequest(http.MethodGet, "http://evil.test/", http.NoBody)
	for path, want := range map[string]string{"/api/v1/status": "application/problem+json", "/": "text/plain; charset=utf-8"} {
		w := ask(h, http.MethodPut, path)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusMethodNotAllowed || got != want || w.Header().Get("Allow") == "" {
			t.Errorf("PUT %s: %d as %s, Allow %q", path, w.Code, got, w.Header().Get("Allow"))
		}
		r := host.Clone(t.Context())
		r.URL.Path = path
		misdirected := httptest.NewRecorder()
		newKnownHost(nil, &Refusals{}, h).ServeHTTP(misdirected, r)
		if got := misdirected.Header().Get("Content-Type"); misdirected.Code != http.StatusMisdirectedRequest || got != want {
			t.Errorf("%s of another host: %d as %s", path, misdirected.Code, got)
		}
	}
}
