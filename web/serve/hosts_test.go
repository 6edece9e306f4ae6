package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// Only who asks for this server by its address, or by a name that it has, is answered.
func TestHostsAreKnown(t *testing.T) {
	var refused Refusals
	misdirected := int64(0)
	h := newKnownHost([]string{"Page.Example.org", "sandkeeper"}, &refused, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"127.0.0.1:8080":         http.StatusOK,
		"10.1.2.3":               http.StatusOK, // a pod's, as its kubelet probes it
		"[::1]:8080":             http.StatusOK,
		"[fe80::1]":              http.StatusOK,
		"localhost":              http.StatusOK,
		"LOCALHOST:1":            http.StatusOK,
		"localhost.:8080":        http.StatusOK,
		"page.example.org":       http.StatusOK,
		"page.example.org.:443":  http.StatusOK,
		"sandkeeper:9595":        http.StatusOK,
		"":                       http.StatusOK, // HTTP/1.0, which no browser speaks
		"evil.example":           http.StatusMisdirectedRequest,
		"evil.example:8080":      http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest,
		"x.page.example.org":     http.StatusMisdirectedRequest,
		"page.example.orgs":      http.StatusMisdirectedRequest,
		"localhost.evil.example": http.StatusMisdirectedRequest,
		"0x7f000001":             http.StatusMisdirectedRequest,
		"[localhost":             http.StatusOK, // no name of anybody's
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Host = host
		h.ServeHTTP(w, r)
		if want == http.StatusMisdirectedRequest {
			misdirected++
		}
		if w.Code != want {
			t.Errorf("%q is answered with %d, want %d", host, w.Code, want)
		}
	}
	if refused.Hosts() != misdirected {
		t.Errorf("%d refused hosts are counted, want %d", refused.Hosts(), misdirected)
	}
}

// A page that has its own name resolved to this server reads nothing, on no route.
func TestRebindingReadsNothing(t *testing.T) {
	running := serve(t, shown(web.Reading{Overview: webtest.Healthy()}), "")
	defer running.end(t)
	for _, path := range []string{"/", "/metrics", "/healthz", "/readyz", "/static/page.css", "/nothing"} {
		for host, want := range map[string]bool{"rebound.evil.example": false, running.address: true} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+running.address+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if got := answer.StatusCode != http.StatusMisdirectedRequest; got != want {
				t.Errorf("%s asked for as %s: %s", path, host, answer.Status)
			}
			if answer.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s asked for as %s has no policy", path, host)
			}
		}
	}
}
