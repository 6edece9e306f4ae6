package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A route is one row of the table that the router is made from. What has no row is not served, and a row that breaks a
// rule of [route.check] is left out. docs/http.md shows the table.
type route struct {
	method, path string
	kind         kind
	role         role         // which it needs
	by           []credential // which count
	tenants      bool         // it may hold texts of tenants
	cache        caching
	on           listener
	to           func(*site, http.ResponseWriter, *http.Request)
}

// routes are all that is served.
func routes() []route {
	passwords := []credential{byBasic}
	return []route{
		{"GET", "/{$}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).page},
		{"GET", "/tasks/{id}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).task},
		{"GET", "/sandboxes/{provider}/{id}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).sandbox},
		{"GET", "/incidents", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).incidents},
		{"GET", "/incidents/{id}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).incident},
		{"GET", "/findings", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).findings},
		{"GET", "/actions", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).actions},
		{"GET", "/passes", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).passes},
		{"GET", "/passes/{n}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).pass},
		{"GET", "/sources", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).sources},
		{"GET", "/rules", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).rules},
		{"GET", "/rules/{name}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).rule},
		{"GET", "/stops", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).stops},
		{"GET", "/operators", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).operators},
		{"GET", "/search", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).search},
		{"GET", "/live", kindPage, roleReader, passwords, false, notKept, onWeb, (*site).live},
		{"GET", "/runbooks", kindPage, roleReader, passwords, false, notKept, onWeb, (*site).runbooks},
		{"GET", "/runbooks/{name}", kindPage, roleReader, passwords, false, notKept, onWeb, (*site).runbook},

		{"GET", "/static/{name}", kindAsset, roleReader, passwords, false, keptByVersion, onWeb, (*site).asset},
		{"GET", "/metrics", kindMetrics, roleReader, passwords, true, notKept, onWeb, (*site).metrics},
		{"GET", "/healthz", kindHealth, roleNone, nil, false, notKept, onWeb, (*site).alive},
		{"GET", "/readyz", kindHealth, roleNone, nil, false, notKept, onWeb, (*site).ready},
	}
}

// A kind is what a route is. A new one, as a webhook that comes in, needs its rules in [route.check] first.
type kind string

const (
	kindPage    kind = "page"
	kindAsset   kind = "asset"
	kindMetrics kind = "metrics"
	kindHealth  kind = "health"
	kindData    kind = "data" // a page for programs
	kindAct     kind = "act"
)

// A role is who somebody must be.
type role int

const (
	roleNone role = iota
	roleReader
	roleOperator
)

// String is the role as a person reads it.
func (r role) String() string { return []string{"nobody", "reader", "operator"}[r] }

// A credential is how somebody has shown who he is.
type credential string

const (
	byBasic     credential = "basic"
	bySession   credential = "session"
	byReadToken credential = "token (read)"
	byActToken  credential = "token (act)"
)

// A caching is who may keep an answer.
type caching string

const (
	notKept       caching = "no-store"
	keptByVersion caching = "by version"
)

// A listener is the key of the address at which a route answers.
type listener string

const onWeb listener = "web.listen"

// changes reports whether the route changes something.
func (r *route) changes() bool { return r.kind == kindAct }

// check is the rule that a row breaks. [Rules for what will act] in SECURITY.md has the reasons.
//
// [Rules for what will act]: https://github.com/sandkeeper/sandkeeper/blob/main/SECURITY.md#rules-for-what-will-act
func (r *route) check() error {
	known := []kind{kindPage, kindAsset, kindMetrics, kindHealth, kindData, kindAct}
	open := r.role == roleNone
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{!slices.Contains(known, r.kind), "there are no rules for its kind"},
		{!strings.HasPrefix(r.path, "/"), "its path does not begin with a slash"},
		{r.to == nil, "nothing answers"},
		{r.on != onWeb, "there is no such listener"},
		{r.changes() && r.method != http.MethodPost, "what changes something is a POST"},
		{!r.changes() && r.method != http.MethodGet, "what changes nothing is a GET"},
		{r.changes() && r.role != roleOperator, "nobody but an operator changes something"},
		{open && r.kind != kindHealth, "nothing but a health check answers to anybody"},
		{open && r.tenants, "texts of tenants are not for anybody"},
		{!open && len(r.by) == 0, "no credential counts"},
		{r.cache != notKept && r.cache != keptByVersion, "who may keep it is not said"},
		{r.cache != notKept && r.kind != kindAsset, "nothing but an asset may be kept"},
	} {
		if rule.broken {
			return fmt.Errorf("%s %s: %s", r.method, r.path, rule.says)
		}
	}
	return nil
}

// newRouter makes the router of a table, without the rows that are named by the error.
func newRouter(s *site, table []route) (http.Handler, error) {
	known := map[string]methods{}
	var wrong []error
	for _, r := range table {
		if err := r.check(); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if known[r.path] == nil {
			known[r.path] = methods{}
		}
		known[r.path][r.method] = r.handler(s)
	}
	return paths(known, http.HandlerFunc(s.missing)), errors.Join(wrong...)
}

// paths sends a request to what its path names, or to the rest. Nothing else tells net/http of paths.
func paths[H http.Handler](known map[string]H, rest http.Handler) http.Handler {
	mux := http.NewServeMux()
	for path, h := range known {
		mux.Handle(path, h)
	}
	mux.Handle("/", rest)
	return mux
}

// methods are what one path answers, by method.
type methods map[string]http.Handler

// ServeHTTP answers 405 to a method without a row. Who may GET may also HEAD.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h, ok := m[method]; ok {
		h.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Allow", m.allowed())
	http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
}

func (m methods) allowed() string {
	var names []string
	for name := range m {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
