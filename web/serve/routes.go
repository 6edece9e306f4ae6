package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/api"
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
	passwords := readers()
	return []route{
		{"GET", "/{$}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).page},
		{"GET", "/tasks", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).tasks},
		{"GET", "/tasks/{id}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).task},
		{"GET", "/sandboxes", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).sandboxes},
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

		// For operators at a browser.
		{"GET", "/act/{verb}", kindPage, roleReader, passwords, true, notKept, onWeb, (*site).confirm},
		{"POST", "/act/{verb}", kindAct, roleOperator, []credential{bySession}, true, notKept, onWeb, (*site).perform},
		{"GET", "/session", kindPage, roleReader, passwords, false, notKept, onWeb, (*site).login},
		{"POST", "/session", kindSession, roleReader, []credential{byBasic, bySession, byProxy}, false, notKept, onWeb,
			(*site).begin},
		{"POST", "/session/end", kindSession, roleReader, []credential{bySession}, false, notKept, onWeb, (*site).leave},

		// For programs. What each takes and answers is in the table operations.
		reads("/api/v1/openapi.json", (*site).openAPI),
		reads("/api/v1/status", document((*site).apiStatus)),
		reads("/api/v1/findings", document(chose(Records.Findings, api.FindingOf, numbered))),
		reads("/api/v1/incidents", document(chose(Records.BrowseIncidents, api.IncidentOf, nil))),
		reads("/api/v1/incidents/{id}", document((*site).apiIncident)),
		reads("/api/v1/actions", document(chose(Records.Actions, api.ActionOf, nil))),
		reads("/api/v1/actions/{id}", document((*site).apiAction)),
		reads("/api/v1/tasks", document(chose(Records.Tasks, api.TaskOf, nil))),
		reads("/api/v1/tasks/{id}", document((*site).apiTask)),
		reads("/api/v1/sandboxes", document(chose(Records.Sandboxes, api.SandboxOf, nil))),
		reads("/api/v1/sandboxes/{provider}/{id}", document((*site).apiSandbox)),
		reads("/api/v1/passes", document((*site).apiPasses)),
		reads("/api/v1/passes/{n}", document((*site).apiPass)),
		reads("/api/v1/sources", document((*site).apiSources)),
		reads("/api/v1/rules", document((*site).apiRules)),
		reads("/api/v1/rules/{name}", document((*site).apiRule)),
		reads("/api/v1/holds", document((*site).apiHolds)),
		reads("/api/v1/pauses", document((*site).apiPauses)),
		reads("/api/v1/requests", document((*site).apiRequests)),
		reads("/api/sandbox/stats", document((*site).bookStats)),
		reads("/api/sandbox/list", document((*site).bookList)),
		reads("/api/sandbox/{id}", document((*site).bookSandbox)),
		reads("/api/sandbox/{id}/logs", document((*site).bookLogs)),
		reads("/api/sandbox/{id}/resources", document((*site).bookResources)),
		reads("/api/v1/events", (*site).events),
		reads("/api/v1/acts/{verb}", document((*site).apiPreview)),

		// For agents, by the Model Context Protocol: two servers, of which one reads and one proposes.
		{"POST", "/mcp", kindAgent, roleReader, []credential{byReadToken, byActToken}, true, notKept, onWeb,
			(*site).agentsRead},
		{"POST", "/mcp/propose", kindAct, roleOperator, []credential{byActToken}, true, notKept, onWeb,
			(*site).agentsPropose},

		acts("POST", "/api/v1/acts/{verb}", (*site).apiAct),
		acts("POST", "/api/v1/nudge", (*site).nudge),
		acts("POST", "/api/v1/intents", (*site).intent),
		acts("DELETE", "/api/sandbox/{id}", (*site).bookDelete),
		acts("POST", "/api/sandbox/cleanup", (*site).bookCleanup),
		acts("POST", "/api/sandbox/cleanup/emergency", (*site).bookEmergency),
	}
}

// reads is a row for programs that read.
func reads(path string, to func(*site, http.ResponseWriter, *http.Request)) route {
	return route{"GET", path, kindData, roleReader, readers(), true, notKept, onWeb, to}
}

// readers are the credentials that count for who reads.
func readers() []credential {
	return []credential{byBasic, bySession, byProxy, byReadToken, byActToken}
}

// acts is a row for programs that ask for something.
func acts(method, path string, do func(*site, context.Context, *http.Request) (api.Done, error)) route {
	return route{method, path, kindAct, roleOperator, []credential{byActToken}, true, notKept, onWeb, act(do)}
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
	kindAgent   kind = "agent"   // tools for agents, which read; they are asked for by POST
	kindSession kind = "session" // a browser's session begins or ends; it changes nothing else
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
	byProxy     credential = "proxy"
	byReadToken credential = "token (read)"
	byActToken  credential = "token (act)"
)

// ofBrowsers reports whether a browser shows it with whatever any page has it send.
func ofBrowsers(c credential) bool { return c != byReadToken && c != byActToken }

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

// posted reports whether it is asked for by POST though it changes nothing.
func (r *route) posted() bool { return r.kind == kindSession || r.kind == kindAgent }

// guarded reports whether nobody but this page, or a program, may have it asked for.
func (r *route) guarded() bool { return r.changes() || r.kind == kindSession }

// deletes reports whether it is a program's act by DELETE. A browser sends none across origins unasked, and no form
// sends one at all; a page has no business with it.
func (r *route) deletes() bool {
	programs := !slices.ContainsFunc(r.by, func(c credential) bool { return c != byActToken })
	return r.method == http.MethodDelete && r.changes() && programs && strings.HasPrefix(r.path, "/api/")
}

// check is the rule that a row breaks. [Rules for what will act] in SECURITY.md has the reasons.
//
// [Rules for what will act]: https://github.com/sandkeeper/sandkeeper/blob/main/SECURITY.md#rules-for-what-will-act
func (r *route) check() error {
	known := []kind{kindPage, kindAsset, kindMetrics, kindHealth, kindData, kindAct, kindSession, kindAgent}
	open := r.role == roleNone
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{!slices.Contains(known, r.kind), "there are no rules for its kind"},
		{!strings.HasPrefix(r.path, "/"), "its path does not begin with a slash"},
		{r.to == nil, "nothing answers"},
		{r.on != onWeb, "there is no such listener"},
		{r.changes() && r.method != http.MethodPost && !r.deletes(), "what changes something is a POST"},
		{r.kind == kindSession && r.method != http.MethodPost, "a session begins and ends by a POST"},
		{r.kind == kindAgent && r.method != http.MethodPost, "tools for agents are asked for by a POST"},
		{r.kind == kindAgent && slices.ContainsFunc(r.by, ofBrowsers), "tools for agents are asked for by programs alone"},
		{!r.changes() && !r.posted() && r.method != http.MethodGet, "what changes nothing is a GET"},
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
