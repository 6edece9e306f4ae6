package serve

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// statuses are those that the page may answer. 500 is none of them.
var statuses = []int{200, 206, 301, 304, 307, 400, 403, 404, 405, 412, 413, 416, 417, 503}

// FuzzRequests drives the handler with whatever comes over the wire: no panic, no 500, a
// short answer, valid HTML, and no way to another host.
func FuzzRequests(f *testing.F) {
	for _, line := range []string{
		"GET / HTTP/1.1", "GET /?part=live HTTP/1.1", "HEAD / HTTP/1.1", "GET /healthz HTTP/1.1", "GET /readyz HTTP/1.0", "GET /metrics HTTP/1.1",
		"GET /static/page.css?v=1 HTTP/1.1", "GET /static/..%2f..%2fetc/passwd HTTP/1.1", "GET /static/%00 HTTP/1.1", "GET //evil.test/x HTTP/1.1",
		"GET /\\evil.test HTTP/1.1", "GET http://evil.test HTTP/1.1", "GET http://evil.test/../x HTTP/1.1", "GET * HTTP/1.1", "OPTIONS * HTTP/1.1",
		"CONNECT evil.test:80 HTTP/1.1", "POST / HTTP/1.1", "DELETE /api/sandbox/1 HTTP/1.1", "BREW /healthz HTTP/1.1", "GET /a/b/../../.. HTTP/1.1",
		"GET /?part=live&part=x;%zz=%ff HTTP/1.1", "GET /tasks/<script>alert(1)</script> HTTP/1.1", "GET /%e2%80%ae/%0d%0aSet-Cookie:x HTTP/1.1",
		"GET /" + strings.Repeat("a/", 500) + " HTTP/1.1",
	} {
		f.Add(line, "Host: localhost", "")
		f.Add(line, "Host: localhost\r\nRange: bytes=0-1,5-,-7\r\nIf-None-Match: *\r\nIf-Range: x", "a=b")
	}
	f.Add("POST /?part=live HTTP/1.1", "Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue", "5\r\npart=\r\n0\r\n\r\n")
	calm := shown(web.Reading{Overview: webtest.Healthy()})
	down := shown(web.Reading{Err: errors.New("connection refused")})
	f.Fuzz(func(t *testing.T, line, headers, body string) {
		raw := line + "\r\n" + headers + "\r\n\r\n" + body
		if len(raw) > headerBytes {
			return // refused by the server
		}
		for _, h := range []http.Handler{calm, down} {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
			if err != nil {
				return // refused by the server
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r.WithContext(t.Context()))
			soundAnswer(t, r, w)
		}
	})
}

func soundAnswer(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	if !slices.Contains(statuses, w.Code) {
		t.Fatalf("%s %q = %d", r.Method, r.RequestURI, w.Code)
	}
	if w.Code < 300 && r.Method != http.MethodGet && r.Method != http.MethodHead {
		t.Fatalf("%s %q = %d, want only GET and HEAD answered", r.Method, r.RequestURI, w.Code)
	}
	if n := w.Body.Len(); n > 200_000 {
		t.Fatalf("%s %q: %d bytes", r.Method, r.RequestURI, n)
	}
	to, relative := w.Header().Get("Location"), false
	for _, way := range []string{"./", "../"} {
		relative = relative || strings.HasPrefix(to, way)
	}
	if to != "" && !relative && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`)) {
		t.Fatalf("%s %q leads to %q", r.Method, r.RequestURI, to)
	}
	for name, values := range w.Header() {
		if strings.ContainsAny(strings.Join(values, ""), "\r\n") {
			t.Fatalf("%s %q: header %s is %q", r.Method, r.RequestURI, name, values)
		}
	}
	if w.Header().Get("Content-Security-Policy") != contentPolicy || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("%s %q: headers %v", r.Method, r.RequestURI, w.Header())
	}
	// What leads elsewhere is net/http's own.
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && w.Code/100 != 3 && w.Code != 206 {
		wellFormed(t, w.Body.String())
	}
}

// wellFormed reads a page to its end: its elements are ours and do no harm.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in the page\n%s", err, page)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local != "a" && e.Name.Local != "link" {
			webtest.HarmlessElement(t, e)
		}
	}
}

// FuzzWorld writes one text into every place of a world that has one, as a platform, a
// provider or a person might: the page is made, bounded, and has none of it but as text.
func FuzzWorld(f *testing.F) {
	for _, text := range []string{
		"", " ", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "' onmouseover='x", "&lt;b&gt;&#0;", "</div></body>",
		"\x00\x1b[31m\u202e\u2066", "\xff\xfe", "daytona/sb-1", "task:1", "sandbox:daytona/sb-1", "listing-untrusted daytona", "breaker: orphan", "pause: all (x) by ana",
		"running", "orphan", "${jndi:x}", "{{.}}", strings.Repeat("long ", 2000), "]]>", "<!--", "-->", "%s%d",
	} {
		for which := range 3 {
			f.Add(text, uint8(len(text)+7*which), uint8(which))
		}
	}
	names := slices.Sorted(maps.Keys(webtest.Worlds()))
	f.Fuzz(func(t *testing.T, text string, which, every uint8) {
		name := names[int(which)%len(names)]
		r, n := web.Reading(webtest.Worlds()[name]), 0
		rewrite(reflect.ValueOf(&r.Overview).Elem(), func() (string, bool) {
			n++
			return text, n%(int(every)%7+1) == 0
		})
		w := ask(shown(r), http.MethodGet, "/")
		if w.Code == http.StatusInternalServerError {
			t.Fatalf("%s: no page", name)
		}
		soundPage(t, name, w.Body.String())
	})
}

func soundPage(t *testing.T, name, page string) {
	t.Helper()
	if len(page) > 600_000 || !utf8.ValidString(page) {
		t.Fatalf("%s: %d bytes, valid: %v", name, len(page), utf8.ValidString(page))
	}
	for _, r := range page {
		if unicode.In(r, unicode.Cf) || unicode.IsControl(r) && r != '\n' && r != '\t' {
			at := strings.IndexRune(page, r)
			t.Fatalf("%s: %q is on the page: %q", name, r, page[max(0, at-100):min(len(page), at+60)])
		}
	}
	wellFormed(t, page)
}

// rewrite puts another text into every string of a value that may be set.
func rewrite(v reflect.Value, with func() (string, bool)) {
	switch v.Kind() {
	case reflect.String:
		if text, now := with(); now && v.CanSet() {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			again := reflect.New(v.Type().Elem()) // worlds share what they point to
			again.Elem().Set(v.Elem())
			rewrite(again.Elem(), with)
			v.Set(again)
		}
	case reflect.Slice:
		again := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(again, v)
		for i := range again.Len() {
			rewrite(again.Index(i), with)
		}
		v.Set(again)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				rewrite(v.Field(i), with)
			}
		}
	case reflect.Map:
		rewriteMap(v, with)
	}
}

func rewriteMap(v reflect.Value, with func() (string, bool)) {
	if v.IsNil() {
		return
	}
	again := reflect.MakeMap(v.Type())
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		rewrite(value, with)
		name := reflect.New(v.Type().Key()).Elem()
		name.Set(key)
		rewrite(name, with)
		again.SetMapIndex(name, value)
	}
	v.Set(again)
}
