package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/ui"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// fixed is a ledger that always says the same.
type fixed struct {
	webtest.Ledger
	reading web.Reading
}

func fixedOf(r web.Reading) fixed {
	return fixed{webtest.Ledger{World: webtest.World{Overview: r.Overview, Err: r.Err, Unready: r.Unready}}, r}
}

func (f fixed) Overview(context.Context, int) (reconcile.Overview, error) {
	return f.reading.Overview, f.reading.Err
}

// options are those of a process that only shows.
func options() Options {
	books := fstest.MapFS{
		"frozen.md":       {Data: []byte("# A source is not trusted\n\n## What it means\n\n<b>raw</b>\n")},
		"rules/frozen.md": {Data: []byte("# A rule of that name\n\n[Its page](../../../docs/rules/frozen.md), [the alert](../frozen.md).\n")},
	}
	return Options{Version: "v1.2.3", Policy: webtest.Policy, Runbooks: books}.complete()
}

// shown is a handler that shows one reading.
func shown(r web.Reading) http.Handler {
	o := options()
	o.Ledger, o.Records, o.Acts = fixedOf(r), recorded{}, &asking{}
	o.Ready = func(context.Context) error { return r.Unready }
	o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "sandkeeper_up 1\n") })
	return New(o)
}

func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	h := shown(web.Reading{Overview: webtest.Healthy()})
	down := shown(web.Reading{Err: errors.New("connection refused")})
	cases := map[string]struct {
		h            http.Handler
		method, path string
		status       int
		body         string
	}{
		"the page":              {h, "GET", "/", 200, "212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due."},
		"its live part":         {h, "GET", "/?part=live", 200, `<div id="live"`},
		"another query":         {h, "GET", "/?part=x", 200, "<!doctype html>"},
		"metrics":               {h, "GET", "/metrics", 200, "sandkeeper_up 1"},
		"alive":                 {h, "GET", "/healthz", 200, "ok"},
		"ready":                 {h, "GET", "/readyz", 200, "database answers: ok\nschema current: ok\nlast complete pass fresh: ok\n"},
		"a stylesheet":          {h, "GET", "/static/page.css", 200, ":root"},
		"no such asset":         {h, "GET", "/static/none.css", 404, "There is no such page."},
		"no way out of static":  {h, "GET", "/static/..%2fpage.go", 404, "There is no such page."},
		"no list of assets":     {h, "GET", "/static/", 404, "There is no such page."},
		"no such page":          {h, "GET", "/nowhere", 404, "There is no such page."},
		"findings":              {h, "GET", "/findings", 200, "No finding is like that."},
		"an unknown task":       {h, "GET", "/tasks/none", 404, "Nothing is known of task none"},
		"a task":                {h, "GET", "/tasks/7", 200, "What the task table says"},
		"a sandbox":             {h, "GET", "/sandboxes/daytona/sb-7", 200, "What the task table says"},
		"a slash in an id":      {h, "GET", "/sandboxes/daytona/a%2Fb", 404, "Nothing is known of sandbox daytona/a/b"},
		"a pass":                {h, "GET", "/passes/90", 200, "Pass 90, quick"},
		"a pass of letters":     {h, "GET", "/passes/x", 404, "Nothing is known of pass x"},
		"the largest pass":      {h, "GET", "/passes/9223372036854775807", 404, "Nothing is known of pass"},
		"a rule":                {h, "GET", "/rules/orphan", 200, "The last 7 days"},
		"no rule":               {h, "GET", "/rules/made-up", 404, "Nothing is known of rule made-up"},
		"a runbook":             {h, "GET", "/runbooks/frozen.md", 200, "<h2>What it means</h2>"},
		"a rule's of that name": {h, "GET", "/runbooks/rules/frozen", 200, `<a href="../frozen.md">the alert</a>`},
		"what it points at":     {h, "GET", "/runbooks/rules/frozen", 200, `"https://github.com/sandkeeper/sandkeeper/blob/main/docs/rules/frozen.md"`},
		"the list of them":      {h, "GET", "/runbooks", 200, `href="runbooks/rules/frozen"`},
		"no rule's runbook":     {h, "GET", "/runbooks/rules/none", 404, "Nothing is known of runbook"},
		"no runbook":            {h, "GET", "/runbooks/..%2Frules", 404, "Nothing is known of runbook"},
		"a search":              {h, "GET", "/search?q=sb-7", 200, "1 match"},
		"a search of a rule":    {h, "GET", "/search?q=orphan", 200, `href="rules/orphan"`},
		"an odd cursor":         {h, "GET", "/findings?after=x~y&state=resolved", 200, "orphan"},
		"a part of a page":      {h, "GET", "/rules?part=live", 200, `data-part="live"`},
		"a task, down":          {down, "GET", "/tasks/7", 503, "The ledger does not answer"},
		"a ledger that is down": {down, "GET", "/", 503, "The ledger does not answer, so the state of tasks and sandboxes is unknown: connection refused."},
		"its live part, down":   {down, "GET", "/?part=live", 503, `<div id="live"`},
		"alive without ledger":  {down, "GET", "/healthz", 200, "ok"},
		"posting":               {h, "POST", "/", 405, "Method Not Allowed"},
		"posting elsewhere":     {h, "POST", "/actions/1/approve", 404, "There is no such page."},
		"deleting":              {h, "DELETE", "/api/sandbox/1", 403, "nobody acts without a name"},
		"asking for options":    {h, "OPTIONS", "/", 405, "Method Not Allowed"},
		"posting to metrics":    {h, "POST", "/metrics", 405, "Method Not Allowed"},
		"an odd method":         {h, "BREW", "/healthz", 405, "Method Not Allowed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := ask(c.h, c.method, c.path)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
				t.Errorf("%s %s = %d, want %d with %q:\n%s", c.method, c.path, w.Code, c.status, c.body, w.Body)
			}
			for header, want := range map[string]string{
				"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			} {
				if got := w.Header().Get(header); got != want {
					t.Errorf("%s: %q, want %q", header, got, want)
				}
			}
			if allow := w.Header().Get("Allow"); c.status == 405 && allow != "GET, HEAD" {
				t.Errorf("Allow: %q, want GET, HEAD", allow)
			}
			if store := w.Header().Get("Cache-Control"); store != "no-store" && c.path != "/static/page.css" {
				t.Errorf("Cache-Control: %q, want no-store", store)
			}
		})
	}
}

func TestDownSaysNothingElse(t *testing.T) {
	body := ask(shown(web.Reading{Overview: webtest.Healthy(), Err: errors.New("gone")}), "GET", "/").Body.String()
	for _, old := range []string{"agree", "212", "Last full pass"} {
		if strings.Contains(body, old) {
			t.Errorf("%q is on the page of a ledger that is gone", old)
		}
	}
}

func TestReadiness(t *testing.T) {
	const ok, not = ": ok\n", ": not ready\n"
	cases := map[string]struct {
		r      web.Reading
		status int
		lines  [3]string
	}{
		"ready":                {web.Reading{Overview: webtest.Healthy()}, 200, [3]string{ok, ok, ok}},
		"no database":          {web.Reading{Err: errors.New("password of postgres://u:secret@db refused")}, 503, [3]string{not, not, not}},
		"no schema":            {web.Reading{Overview: reconcile.Overview{Now: webtest.Noon, Fresh: true}}, 503, [3]string{ok, not, not}},
		"an old schema":        {web.Reading{Overview: webtest.Healthy(), Unready: errors.New("schema secret")}, 503, [3]string{ok, not, ok}},
		"never ran":            {web.Reading{Overview: reconcile.Overview{Now: webtest.Noon}}, 503, [3]string{ok, ok, not}},
		"stale":                {web.Reading(webtest.Worlds()["stale"]), 503, [3]string{ok, ok, not}},
		"full passes missing":  {web.Reading{Overview: webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.LastFull = webtest.Ago(webtest.Noon.Sub(webtest.Ago(1e12))) })}, 200, [3]string{ok, ok, ok}},
		"things that are held": {web.Reading(webtest.Worlds()["held"]), 503, [3]string{ok, not, ok}},
		"findings are no harm": {web.Reading(webtest.Worlds()["observing"]), 200, [3]string{ok, ok, ok}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := ask(shown(c.r), "GET", "/readyz")
			want := "database answers" + c.lines[0] + "schema current" + c.lines[1] + "last complete pass fresh" + c.lines[2]
			if w.Code != c.status || w.Body.String() != want {
				t.Errorf("readyz = %d %q, want %d %q", w.Code, w.Body, c.status, want)
			}
		})
	}
}

// addressOf is where a page finds an asset.
func addressOf(t *testing.T, name string) string {
	t.Helper()
	a, err := ui.ReadAsset(name)
	if err != nil {
		t.Fatal(err)
	}
	return "/static/" + name + "?v=" + a.Version
}

func TestAssets(t *testing.T) {
	h := shown(web.Reading{Overview: webtest.Healthy()})
	first := ask(h, "GET", addressOf(t, "live.js"))
	tag := first.Header().Get("ETag")
	if first.Code != 200 || tag == "" || first.Header().Get("Cache-Control") != "private, max-age=31536000, immutable" ||
		first.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("asset = %d %v", first.Code, first.Header())
	}
	if again := ask(h, "GET", "/static/live.js", "If-None-Match", tag); again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("the same again = %d with %d bytes, want 304 without", again.Code, again.Body.Len())
	}
	if other := ask(h, "GET", "/static/live.js?v=000000000000"); other.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("another version: Cache-Control %q, want no-cache", other.Header().Get("Cache-Control"))
	}
}

// TestEveryAssetIsThere follows what the pages name.
func TestEveryAssetIsThere(t *testing.T) {
	h := shown(web.Reading{Overview: webtest.Healthy()})
	for _, name := range []string{"page.css", "live.js", "lost.svg", "bad.svg", "warn.svg", "busy.svg", "well.svg"} {
		if w := ask(h, "GET", addressOf(t, name)); w.Code != 200 {
			t.Errorf("%s = %d", name, w.Code)
		}
	}
}

// TestPageOfOldLinks finds its way back from wherever it is shown.
func TestPageOfOldLinks(t *testing.T) {
	h := shown(web.Reading{})
	for path, up := range map[string]string{"/x": `href="./"`, "/tasks/7": `href=".././"`, "/a/b/c": `href="../.././"`} {
		if body := ask(h, "GET", path).Body.String(); !strings.Contains(body, up) {
			t.Errorf("GET %s: no %s in\n%s", path, up, body)
		}
	}
}

func TestHead(t *testing.T) {
	server := httptest.NewServer(shown(web.Reading{Overview: webtest.Healthy()}))
	defer server.Close()
	for _, path := range []string{"/", "/readyz", "/static/page.css", "/none"} {
		r, err := http.Head(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || len(body) > 0 || r.StatusCode >= 405 {
			t.Errorf("HEAD %s = %d with %d bytes, %v", path, r.StatusCode, len(body), err)
		}
	}
}

// TestWithoutOptions is a page that has nothing but a ledger.
func TestWithoutOptions(t *testing.T) {
	h := New(Options{Ledger: fixedOf(web.Reading{Overview: webtest.Healthy()})})
	if w := ask(h, "GET", "/"); w.Code != 200 || !strings.Contains(w.Body.String(), "In agreement") {
		t.Errorf("page = %d\n%s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/metrics"); w.Code != 404 {
		t.Errorf("metrics = %d, want 404", w.Code)
	}
}
