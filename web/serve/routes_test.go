package serve

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// twoUsers are one whom web.operators may name and one whom it does not: on the page, which
// changes nothing, they are alike. Both passwords are "secret".
const twoUsers = users + "  ben: $2a$04$aljNmo63hJSnLyMMFLMg6uLvJbqpggJ8oXW5zCQBDZMYNSvYDgAHG\n"

// An access is who gets what of a route.
type access struct {
	path            string // one that the route answers
	anybody, viewer int    // what a GET answers to who has not said who he is, and to a user
}

// accesses are the expectations of every route. A new route needs a line here.
var accesses = map[string]access{
	"GET /{$}":                              {"/", 401, 200},
	"GET /healthz":                          {"/healthz", 200, 200},
	"GET /readyz":                           {"/readyz", 200, 200},
	"GET /static/{name}":                    {"/static/page.css", 401, 200},
	"GET /metrics":                          {"/metrics", 401, 200},
	"GET /tasks":                            {"/tasks?sort=-age", 401, 200},
	"GET /sandboxes":                        {"/sandboxes?sort=-age", 401, 200},
	"GET /tasks/{id}":                       {"/tasks/7", 401, 200},
	"GET /sandboxes/{provider}/{id}":        {"/sandboxes/daytona/sb-7", 401, 200},
	"GET /incidents":                        {"/incidents", 401, 200},
	"GET /incidents/{id}":                   {"/incidents/i-none", 401, 404},
	"GET /findings":                         {"/findings?state=due", 401, 200},
	"GET /actions":                          {"/actions?state=closed", 401, 200},
	"GET /passes":                           {"/passes", 401, 200},
	"GET /passes/{n}":                       {"/passes/90", 401, 200},
	"GET /sources":                          {"/sources", 401, 200},
	"GET /rules":                            {"/rules", 401, 200},
	"GET /rules/{name}":                     {"/rules/orphan", 401, 200},
	"GET /stops":                            {"/stops", 401, 200},
	"GET /operators":                        {"/operators", 401, 200},
	"GET /search":                           {"/search?q=sb", 401, 200},
	"GET /live":                             {"/live", 401, 406},
	"GET /runbooks":                         {"/runbooks", 401, 200},
	"GET /runbooks/{name}":                  {"/runbooks/frozen", 401, 200},
	"GET /runbooks/rules/{name}":            {"/runbooks/rules/frozen", 401, 200},
	"GET /api/v1/openapi.json":              {"/api/v1/openapi.json", 401, 200},
	"GET /api/v1/status":                    {"/api/v1/status", 401, 200},
	"GET /api/v1/findings":                  {"/api/v1/findings", 401, 200},
	"GET /api/v1/incidents":                 {"/api/v1/incidents", 401, 200},
	"GET /api/v1/incidents/{id}":            {"/api/v1/incidents/sb-1", 401, 200},
	"GET /api/v1/actions":                   {"/api/v1/actions", 401, 200},
	"GET /api/v1/actions/{id}":              {"/api/v1/actions/sb-1", 401, 200},
	"GET /api/v1/tasks":                     {"/api/v1/tasks", 401, 200},
	"GET /api/v1/tasks/{id}":                {"/api/v1/tasks/sb-1", 401, 200},
	"GET /api/v1/sandboxes":                 {"/api/v1/sandboxes", 401, 200},
	"GET /api/v1/sandboxes/{provider}/{id}": {"/api/v1/sandboxes/daytona/sb-1", 401, 200},
	"GET /api/v1/passes":                    {"/api/v1/passes", 401, 200},
	"GET /api/v1/passes/{n}":                {"/api/v1/passes/2", 401, 200},
	"GET /api/v1/sources":                   {"/api/v1/sources", 401, 200},
	"GET /api/v1/rules":                     {"/api/v1/rules", 401, 200},
	"GET /api/v1/rules/{name}":              {"/api/v1/rules/orphan", 401, 200},
	"GET /api/v1/holds":                     {"/api/v1/holds", 401, 200},
	"GET /api/v1/pauses":                    {"/api/v1/pauses", 401, 200},
	"GET /api/v1/requests":                  {"/api/v1/requests", 401, 200},
	"GET /api/sandbox/stats":                {"/api/sandbox/stats", 401, 200},
	"GET /api/sandbox/list":                 {"/api/sandbox/list", 401, 200},
	"GET /api/sandbox/{id}":                 {"/api/sandbox/sb-1", 401, 200},
	"GET /api/sandbox/{id}/logs":            {"/api/sandbox/sb-1/logs", 401, 200},
	"GET /api/sandbox/{id}/resources":       {"/api/sandbox/sb-1/resources", 401, 200},
	"GET /api/v1/events":                    {"/api/v1/events", 401, 406},
	"GET /api/v1/acts/{verb}":               {"/api/v1/acts/hold", 401, 200},
	"POST /api/v1/acts/{verb}":              {"/api/v1/acts/hold", 401, 200},
	"POST /api/v1/nudge":                    {"/api/v1/nudge", 401, 405},
	"POST /api/v1/intents":                  {"/api/v1/intents", 401, 405},
	"DELETE /api/sandbox/{id}":              {"/api/sandbox/sb-1", 401, 200},
	"POST /api/sandbox/cleanup":             {"/api/sandbox/cleanup", 401, 405},
	"POST /api/sandbox/cleanup/emergency":   {"/api/sandbox/cleanup/emergency", 401, 405},
	"POST /push/{provider}":                 {"/push/daytona", 405, 405},
	"POST /mcp":                             {"/mcp", 401, 405},
	"POST /mcp/propose":                     {"/mcp/propose", 401, 405},
	"GET /act/{verb}":                       {"/act/hold", 401, 200},
	"POST /act/{verb}":                      {"/act/hold", 401, 200},
	"GET /session":                          {"/session", 401, 200},
	"POST /session":                         {"/session", 401, 200},
	"POST /session/end":                     {"/session/end", 401, 405},
	elsewhere:                               {"/api/v1/anything", 401, 404},
}

// elsewhere is every path without a route.
const elsewhere = "elsewhere"

// TestEveryRouteIsExpected: no route is served of which the tests do not say who may.
func TestEveryRouteIsExpected(t *testing.T) {
	for _, r := range table() {
		if _, known := accesses[r.method+" "+r.path]; !known {
			t.Errorf("nothing says who may ask for %s %s", r.method, r.path)
		}
	}
	if len(table())+1 != len(accesses) { // the last is what has no route
		t.Errorf("%d routes are expected, %d are there", len(accesses)-1, len(table()))
	}
}

// TestRoutesAreRegisteredInOnePlace: what is not in the table of routes cannot be served, by this package or by
// another one that the program has.
func TestRoutesAreRegisteredInOnePlace(t *testing.T) {
	got := map[string]int{}
	for _, room := range []string{"web", "alerts", "cmd/sandkeeper", "reconcile", "store", "providers"} {
		sources(t, filepath.Join("..", "..", room), func(name string, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, word := range []string{"Handle", "HandleFunc", "NewServeMux", "ListenAndServe", "ListenAndServeTLS"} {
						if s, is := call.Fun.(*ast.SelectorExpr); is && s.Sel.Name == word && !logs(call) {
							got[name+" "+word]++
						}
					}
				}
				if s, is := n.(*ast.SelectorExpr); is && (s.Sel.Name == "ServeMux" || s.Sel.Name == "DefaultServeMux") {
					got[name+" "+s.Sel.Name]++
				}
				return true
			})
		})
	}
	want := map[string]int{"../../web/serve/router.go NewServeMux": 1, "../../web/serve/router.go Handle": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("registrations of routes (-want +got):\n%s", diff)
	}
}

// sources reads the code of a room that is shipped.
func sources(t *testing.T, room string, each func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(room, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasSuffix(name, "test") { // simulators, which the program does not link
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err == nil {
			each(filepath.ToSlash(name), file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// logs reports whether a call of Handle hands on an entry of a log.
func logs(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	first, is := call.Args[0].(*ast.Ident)
	return is && first.Name == "ctx"
}

// A visitor is somebody who asks, with the headers that say so.
type visitor struct {
	headers map[string]string
	in      bool // is let in
}

func basic(user, password string) map[string]string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return map[string]string{"Authorization": r.Header.Get("Authorization")}
}

// visitors are everybody who may come. What a proxy may say of them is not believed.
func visitors() map[string]visitor {
	forged := map[string]string{
		"X-Forwarded-For": "127.0.0.1", "X-Real-Ip": "127.0.0.1", "Forwarded": "for=127.0.0.1;proto=https",
		"X-Forwarded-Proto": "https", "X-Forwarded-Host": "localhost", "X-Forwarded-User": "ana", "X-Remote-User": "ana",
		"X-Auth-Request-User": "ana", "X-Original-Url": "/healthz", "X-Rewrite-Url": "/healthz",
	}
	return map[string]visitor{
		"anybody":                  {},
		"a viewer":                 {basic("ben", "secret"), true},
		"an operator":              {basic("ana", "secret"), true},
		"a wrong password":         {basic("ana", "Secret"), false},
		"no password":              {basic("ana", ""), false},
		"another user":             {basic("eve", "secret"), false},
		"no name":                  {basic("", ""), false},
		"the hash as a password":   {basic("ana", "$2a$04$aljNmo63hJSnLyMMFLMg6uLvJbqpggJ8oXW5zCQBDZMYNSvYDgAHG"), false},
		"a long password":          {basic("ana", strings.Repeat("x", 8000)), false},
		"a bearer token":           {map[string]string{"Authorization": "Bearer secret"}, false},
		"what is no base64":        {map[string]string{"Authorization": "Basic !!!!"}, false},
		"who says to be a proxy":   {forged, false},
		"a proxy in front of ben":  {with2(forged, basic("ben", "secret")), true},
		"who wants another method": {map[string]string{"X-Http-Method-Override": "DELETE"}, false},
	}
}

func with2(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// TestWhoMayDoWhat asks every route as everybody, by the server with all its limits of time.
func TestWhoMayDoWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a busy machine takes long to look at a password
		l := newPipes()
		r := served(t, &Server{Listener: l, Handler: shown(web.Reading{Overview: webtest.Healthy()}), ConfigFile: configFile(t, twoUsers)})
		defer r.end(t)
		for who, v := range visitors() {
			for pattern, a := range accesses {
				want := a.anybody
				if v.in {
					want = a.viewer
				}
				for _, method := range []string{"GET", "HEAD"} {
					got := sendBy(t, l.transport(), r, method, a.path, v.headers)
					if got.StatusCode != want {
						t.Errorf("%s, %s %s = %d, want %d", who, method, pattern, got.StatusCode, want)
					}
					if want == 401 && strings.Contains(got.body, "sandkeeper") {
						t.Errorf("%s is told by %s: %s", who, pattern, got.body)
					}
					got.headed(t)
				}
			}
		}
	})
}

// TestNobodyChangesAnything by a password over plain HTTP: what has no row is not served by any method, and an act is
// refused, whoever asks and from wherever.
func TestNobodyChangesAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a busy machine takes long to look at a password
		l := newPipes()
		r := served(t, &Server{Listener: l, Handler: shown(web.Reading{Overview: webtest.Healthy()}), ConfigFile: configFile(t, twoUsers)})
		defer r.end(t)
		origins := map[string]map[string]string{
			"without an origin": {}, "from elsewhere": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
			"from here":      {"Origin": "http://" + r.address, "Sec-Fetch-Site": "same-origin"},
			"from a sandbox": {"Origin": "null"},
		}

		for who, v := range visitors() {
			for from, origin := range origins {
				for pattern, a := range accesses {
					if _, path, _ := strings.Cut(pattern, " "); alike(&route{path: path}) && pattern != elsewhere {
						continue // every row is walked
					}
					for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
						want := 405
						if pattern == elsewhere {
							want = 404
						} else if hasRow(method, pattern) {
							want = 403
						}
						if !v.in && a.anybody == 401 {
							want = 401
						}
						got := sendBy(t, l.transport(), r, method, a.path, with2(v.headers, origin))
						if got.StatusCode != want {
							t.Errorf("%s, %s, %s %s = %d, want %d", who, from, method, pattern, got.StatusCode, want)
						}
						for name := range got.Header {
							if strings.HasPrefix(name, "Access-Control-") {
								t.Errorf("%s %s lets others read: %s", method, pattern, name)
							}
						}
						got.headed(t)
					}
				}
			}
		}
	})
}

// hasRow reports whether the path of a row has one for this method too.
func hasRow(method, pattern string) bool {
	_, path, _ := strings.Cut(pattern, " ")
	return slices.ContainsFunc(table(), func(r route) bool { return r.method == method && r.path == path })
}

// TestWaysAroundTheGate: only the health checks answer without a user, however they are
// spelled, and a spelling shows nothing else.
func TestWaysAroundTheGate(t *testing.T) {
	r := serve(t, shown(web.Reading{Overview: webtest.Healthy()}), configFile(t, twoUsers))
	defer r.end(t)
	for _, path := range []string{
		"/healthz/", "/healthz/x", "/healthz/../", "/healthz/../metrics", "/readyz/..", "/./", "//", "//metrics", "/healthz/..%2fmetrics",
		"/healthz%2f..%2fmetrics", "/%2e%2e/metrics", "/healthz;/../metrics", "/healthz?x=/metrics", "/readyz?part=live",
		"/%68ealthz", "/HEALTHZ", "/healthz%00", "/static/../healthz/../", "/healthz#/metrics",
		"http://" + r.address + "/metrics", "http://localhost/", "*", "/" + strings.Repeat("a/", 4000), "/?" + strings.Repeat("x", 12000),
	} {
		got := raw(t, r, "GET "+path+" HTTP/1.1\r\nHost: "+r.address+"\r\nConnection: close\r\n\r\n")
		for _, told := range []string{"sandkeeper", "tasks and 214", "<html"} {
			if strings.Contains(got, told) {
				t.Errorf("GET %.60s tells anybody:\n%.600s", path, got)
			}
		}
		if len(got) > 16<<10 {
			t.Errorf("GET %.60s answers %d bytes", path, len(got))
		}
	}
}

// TestLongPathsMakeNoLongAnswers: a user's odd address is no way to fill the memory either.
func TestLongPathsMakeNoLongAnswers(t *testing.T) {
	h := shown(web.Reading{Overview: webtest.Healthy()})
	for _, path := range []string{"/" + strings.Repeat("a/", 8000), "/x?" + strings.Repeat("part=live&", 1500), "/none/" + strings.Repeat("%3Cscript%3E", 900)} {
		if w := ask(h, "GET", path); w.Body.Len() > 16<<10 || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("GET %.40s answers %d bytes", path, w.Body.Len())
		}
	}
}

// An answered is an answer with its body.
type answered struct {
	*http.Response
	body string
}

func send(t *testing.T, r *running, method, path string, headers map[string]string) answered {
	t.Helper()
	return sendBy(t, &http.Transport{DisableKeepAlives: true}, r, method, path, headers)
}

func sendBy(t *testing.T, by *http.Transport, r *running, method, path string, headers map[string]string) answered {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := by.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{answer, string(body)}
}

// headed demands the headers that every answer has, and none that tells what serves it.
func (a answered) headed(t *testing.T) {
	t.Helper()
	want := map[string]string{
		"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"Cache-Control": "no-store",
	}
	if strings.HasPrefix(a.Request.URL.Path, "/static/") && a.StatusCode == 200 {
		want["Cache-Control"] = "no-cache" // what everybody can read in the source
	}
	if path := a.Request.URL.Path; a.StatusCode == 200 && (strings.HasPrefix(path, "/act/") || path == "/session") {
		want["Referrer-Policy"] = "same-origin" // a form tells its origin, to itself
	}
	for name, value := range want {
		if got := a.Header.Get(name); got != value {
			t.Errorf("%s %s = %d, %s: %q, want %q", a.Request.Method, a.Request.URL.Path, a.StatusCode, name, got, value)
		}
	}
	for _, name := range []string{"Server", "X-Powered-By", "Via", "Set-Cookie"} {
		if got := a.Header.Get(name); got != "" {
			t.Errorf("%s %s has the header %s: %s", a.Request.Method, a.Request.URL.Path, name, got)
		}
	}
}

// TestPolicyIsStrict: the page runs what it brought itself, and nothing that stands in it.
func TestPolicyIsStrict(t *testing.T) {
	for _, loose := range []string{"unsafe", "*", "http:", "https:", "data:", "blob:"} {
		if strings.Contains(contentPolicy, loose) {
			t.Errorf("the policy allows %s: %s", loose, contentPolicy)
		}
	}
	for _, strict := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(contentPolicy, strict) {
			t.Errorf("the policy does not say %s: %s", strict, contentPolicy)
		}
	}
}
