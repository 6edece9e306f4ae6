package serve

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// A walk is one way to ask a server for each of its routes.
type walk struct {
	server string // which of walked
	who    string // "": nobody
	in     bool   // his password is right
	token  string // that he shows instead: of which tokens
	host   string // "": the server's own
	site   string // Sec-Fetch-Site
	origin string // "here": the server's own
}

// walks are every combination that a request can come in.
func walks() []walk {
	var all []walk
	for _, server := range []string{"open", "tls", "users", "users, tls"} {
		for who, in := range map[string]bool{"": false, "eve:secret": false, "ana:wrong": false, "ben:secret": true, "ana:secret": true,
			"token none": false, "token read": true, "token act": true, "token act of ben": true} {
			token, shown := strings.CutPrefix(who, "token ")
			if shown && server != "open" && server != "users, tls" {
				continue // the others know no more of tokens
			} else if !shown {
				token = ""
			}
			for _, host := range []string{"", "rebound.evil.example"} {
				for site, origins := range map[string][]string{
					"":            {"", "here", "https://evil.example", "null"},
					"cross-site":  {"", "here", "https://evil.example"},
					"same-site":   {"here", "https://evil.example"},
					"none":        {"", "here"},
					"same-origin": {"", "here", "https://evil.example", "http://"},
				} {
					for _, origin := range origins {
						all = append(all, walk{server, who, in, token, host, site, origin})
					}
				}
			}
		}
	}
	return all
}

// want is what the table says of a request, said once more and without a look at the code that enforces it.
func (c walk) want(r *route, method string) int {
	asked := strings.HasPrefix(c.server, "users") || c.token != ""
	get := method == http.MethodGet || method == http.MethodHead
	switch {
	case c.host != "":
		return http.StatusMisdirectedRequest
	case (r == nil || r.role != roleNone) && asked && !c.in:
		return http.StatusUnauthorized
	case r == nil:
		return http.StatusNotFound
	case posted(r) && method != r.method, !posted(r) && !get:
		return http.StatusMethodNotAllowed
	case r.role == roleNone:
		return http.StatusOK
	case c.token != "" && !slices.Contains(r.by, byActToken):
		return http.StatusForbidden
	case r.kind == kindAgent && (asked && c.token == "" || c.site+c.origin != "" && (c.site != "same-origin" || c.origin != "here")):
		return http.StatusForbidden
	case r.kind == kindSession && (c.server != "users, tls" || !slices.Contains(r.by, byBasic) || c.site != "same-origin" || c.origin != "here"):
		return http.StatusForbidden
	case r.kind != kindAct && r.role != roleOperator:
		return http.StatusOK
	case c.token == "act" && r.kind == kindAct && (c.site == "" && c.origin == "" || c.site == "same-origin" && c.origin == "here"):
		return http.StatusOK
	}
	operator := asked && c.who == "ana:secret" && slices.Contains(r.by, byBasic)
	if operator && (r.kind != kindAct || c.secret() && c.site == "same-origin" && c.origin == "here") {
		return http.StatusOK
	}
	return http.StatusForbidden
}

var everyMethod = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW"}

// TestRoutesWalked asks real servers for each route as everybody, with each method, from everywhere, and compares with
// what the table says. Two rows that nobody serves yet are walked as well: an act, and what only operators read.
func TestRoutesWalked(t *testing.T) {
	s := walkedSite()
	table := append(routes(s), done("/test/act"), done("/test/by-session"), done("/test/read"))
	act, session, read := &table[len(table)-3], &table[len(table)-2], &table[len(table)-1]
	session.by = []credential{bySession}
	read.method, read.kind, act.tenants = http.MethodGet, kindData, true
	for i := range table {
		switch {
		case posted(&table[i]):
			table[i].to = done("").to // who is let in, not what he gets
		case table[i].kind == kindPage || table[i].path == "/api/v1/events":
			table[i].to = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }
		}
	}
	servers, c := walked(t, s, table)
	for _, w := range walks() {
		for _, method := range everyMethod {
			for i := range table {
				before := slices.ContainsFunc(table[:i], func(r route) bool { return r.path == table[i].path })
				if before || !w.thin(method) && alike(&table[i]) {
					continue
				}
				path := example(strings.Replace(table[i].path, "/static/{name}", "/static/page.css", 1))
				w.ask(t, c, servers, method, path, rowOf(table, &table[i], method))
			}
			w.ask(t, c, servers, method, "/api/v1/anything", nil)
		}
	}
}

func posted(r *route) bool { return r.kind == kindAct || r.posted() }

// alike reports whether a row is as another one that is walked in every way: there are many pages, and documents.
func alike(r *route) bool {
	whole := []string{"/", "/static/{name}", "/healthz", "/api/sandbox/{id}", "/act/{verb}", "/mcp"}
	return !slices.Contains(whole, strings.TrimSuffix(r.path, "{$}")) && !strings.HasPrefix(r.path, "/test/")
}

// thin are the ways in which every row is walked.
func (c walk) thin(method string) bool {
	if c.server == "tls" || c.who == "eve:secret" {
		return false
	}
	usual := c.site == "" && c.origin == "" || c.site == "same-origin" && c.origin == "here" || c.site == "cross-site" && c.origin != "here"
	return c.host == "" && usual && slices.Contains([]string{"GET", "POST", "DELETE"}, method)
}

// rowOf is the row that answers this method on the path of a row: a path may have several.
func rowOf(table []route, r *route, method string) *route {
	for i := range table {
		if table[i].path == r.path && (table[i].method == method || method == http.MethodHead && table[i].method == http.MethodGet) {
			return &table[i]
		}
	}
	return r
}

// done is a row of the test's own, for an operator who gives his password.
func done(path string) route {
	return route{"POST", path, kindAct, roleOperator, []credential{byBasic}, false, notKept, onWeb,
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") }}
}

// secret reports whether nobody on the way hears what is said.
func (c walk) secret() bool { return strings.HasSuffix(c.server, "tls") }

// walkedSite has all that a row may ask for.
func walkedSite() *site {
	o := options()
	o.Records, o.Acts, o.Ledger = recorded{}, &asking{}, fixedOf(web.Reading{Overview: webtest.Healthy()})
	o.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	return newSite(o)
}

// walked are servers of one table, with users and TLS and without.
func walked(t *testing.T, s *site, table []route) (map[string]*running, *http.Client) {
	t.Helper()
	h, err := newRouter(s, table)
	if err != nil {
		t.Fatal(err)
	}
	cert, key := certificate(t)
	servers := map[string]*running{}
	tls := "tls_server_config: {cert_file: " + cert + ", key_file: " + key + "}\nhttp_server_config: {http2: false}\n"
	for name, config := range map[string]string{
		"open": "", "tls": configFile(t, tls), "users": configFile(t, twoUsers), "users, tls": configFile(t, twoUsers+tls),
	} {
		l, err := Listen(t.Context(), "web.listen", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		servers[name] = served(t, &Server{Listener: l, Handler: guarded(h), ConfigFile: config, Operators: []string{"ana"}, Tokens: tokens})
		t.Cleanup(func() { servers[name].end(t) })
	}
	c := client(t, cert)
	c.Transport.(*http.Transport).DisableKeepAlives = false
	return servers, c
}

func (c walk) ask(t *testing.T, client *http.Client, servers map[string]*running, method, path string, r *route) {
	t.Helper()
	here := "http://" + servers[c.server].address
	if c.secret() {
		here = "https://" + servers[c.server].address
	}
	request, err := http.NewRequestWithContext(t.Context(), method, here+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = c.host
	for name, value := range map[string]string{"Sec-Fetch-Site": c.site, "Origin": c.from(servers[c.server].address, here)} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if name, password, ok := strings.Cut(c.who, ":"); ok {
		request.SetBasicAuth(name, password)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := client.Transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	if want := c.want(r, method); answer.StatusCode != want {
		t.Errorf("%+v: %s %s = %d, want %d", c, method, path, answer.StatusCode, want)
	}
	kept := answer.Header.Get("Cache-Control") != "no-store"
	if kept && (r == nil || r.cache == notKept || answer.StatusCode >= 400) {
		t.Errorf("%+v: %s %s = %d may be kept", c, method, path, answer.StatusCode)
	}
}

// tokens are those that the tests show, by their secrets.
func tokens(_ context.Context, secret string) (reconcile.Token, error) {
	switch secret {
	case "read":
		return reconcile.Token{ID: "r", User: "ana", Scope: reconcile.TokenReads}, nil
	case "act":
		return reconcile.Token{ID: "a", User: "ana", Scope: reconcile.TokenActs}, nil
	case "act of ben":
		return reconcile.Token{ID: "b", User: "ben", Scope: reconcile.TokenActs}, nil
	case "broken":
		return reconcile.Token{}, context.DeadlineExceeded
	}
	return reconcile.Token{}, reconcile.ErrNotFound
}

// from is the Origin header. The last is this address with the other scheme, as who sits on the way has it.
func (c walk) from(address, here string) string {
	switch {
	case c.origin == "here":
		return here
	case c.origin == "http://" && !c.secret():
		return "ftp://" + address
	case c.origin == "http://":
		return "http://" + address
	}
	return c.origin
}
