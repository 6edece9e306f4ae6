// Package verceltest speaks the protocol of Vercel Sandbox over a simulated world: records
// with a name, and the sessions behind them, which are the virtual machines. Each sandbox
// of the world is one session; those of one name are the sessions of one record, and the
// newest is its current one. Paths, fields, state words, filters and error codes are those
// that the vendor's client 3.5.0 speaks and its documents declare, as far as a janitor, its
// demo and that client need them. Where the vendor's words were never seen, a comment says so.
package verceltest

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// The team and the project that there are, unless [Options] say otherwise.
const (
	Team    = "team_1"
	Project = "prj_1"
)

// Options are the account and what its sandboxes lack.
type Options struct {
	Key       string   // "" means key
	Team      string   // "" means Team
	Project   string   // "" means Project
	TaskLabel string   // a listing by this tag is journaled, and struck by faults, as a find
	Missing   []string // commands that the images lack
}

// A Server answers as Vercel does, at / and at /api/. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux

	mu       sync.Mutex
	made     int
	sessions map[string]*session   // by id, all that were ever shown
	commands map[string][]*command // by session, oldest first
}

// New makes a server of the world, for an [http.Server] or for [wiretest.Transport].
func New(w *simulated.World, o Options) *Server {
	if o.Key == "" {
		o.Key = "key"
	}
	if o.Team == "" {
		o.Team = Team
	}
	if o.Project == "" {
		o.Project = Project
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux(), sessions: map[string]*session{},
		commands: map[string][]*command{}}
	s.routes()
	return s
}

// A call is one call under way.
type call struct {
	wiretest.Exchange
	id string // of the session, snapshot or record in the path
}

func (s *Server) routes() {
	front := wiretest.Front{World: s.world, Fail: s.fail}
	handle := func(pattern string, kind simulated.Kind, do func(*call)) {
		s.mux.HandleFunc(pattern, front.Handle(
			func(r *http.Request) simulated.Call { return s.callOf(r, kind) },
			func(x wiretest.Exchange) { s.serve(x, do) }))
	}
	const sessions, snapshots = "/v2/sandboxes/sessions", "/v2/sandboxes/snapshots"
	handle("GET /v2/sandboxes", simulated.List, s.list)
	handle("POST /v2/sandboxes", simulated.Create, s.create)
	handle("POST /v3/sandboxes", simulated.Create, s.create)
	handle("GET /v2/sandboxes/{id}", simulated.Get, s.get)
	handle("DELETE /v2/sandboxes/{id}", simulated.Delete, s.remove)
	handle("PATCH /v2/sandboxes/{id}", simulated.Label, s.update)
	handle("GET "+sessions, simulated.List, s.listSessions)
	handle("GET "+sessions+"/{id}", simulated.Get, s.session)
	handle("POST "+sessions+"/{id}/stop", simulated.Delete, s.stop)
	handle("POST "+sessions+"/{id}/extend-timeout", simulated.Label, s.extend)
	handle("POST "+sessions+"/{id}/snapshot", simulated.Stop, s.snapshot)
	handle("GET "+sessions+"/{id}/cmd", simulated.Queue, s.insides().listCommands)
	handle("POST "+sessions+"/{id}/cmd", simulated.Exec, s.insides().run)
	handle("GET "+sessions+"/{id}/cmd/{cmd}", simulated.Queue, s.insides().command)
	handle("GET "+sessions+"/{id}/cmd/{cmd}/logs", simulated.LogsOf, s.insides().logs)
	handle("POST "+sessions+"/{id}/cmd/{cmd}/kill", simulated.Label, s.insides().kill)
	handle("POST "+sessions+"/{id}/fs/read", simulated.Files, s.insides().readFile)
	handle("POST "+sessions+"/{id}/fs/write", simulated.Label, s.insides().writeFiles)
	handle("POST "+sessions+"/{id}/fs/mkdir", simulated.Label, s.insides().mkdir)
	handle("GET "+snapshots, simulated.Snapshot, s.listSnapshots)
	handle("GET "+snapshots+"/{id}", simulated.Snapshot, s.getSnapshot)
	handle("DELETE "+snapshots+"/{id}", simulated.Label, s.deleteSnapshot)
	s.mux.HandleFunc("/", s.elsewhere)
}

// ServeHTTP answers one call. The REST documents and the vendor's client write the base
// differently.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		http.StripPrefix("/api", s.mux).ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// serve does a call that knows the key, the team and the project.
func (s *Server) serve(x wiretest.Exchange, do func(*call)) {
	h := x.W.Header()
	h.Set("X-Ratelimit-Limit", "1000")
	h.Set("X-Ratelimit-Remaining", "999")
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(s.world.Now().Add(time.Minute).Unix(), 10))
	query := x.R.URL.Query()
	project := query.Get("project") + query.Get("projectId")
	switch {
	case !s.known(x.R): // not 401
		x.JSON(http.StatusForbidden, fields{"error": fields{"code": "forbidden", "message": "Not authorized",
			"invalidToken": true}})
		return
	case query.Get("teamId") != s.o.Team && query.Get("slug") != s.o.Team:
		s.refuse(x.W, http.StatusForbidden, "forbidden", "Not authorized")
		return
	case project != "" && project != s.o.Project:
		s.refuse(x.W, http.StatusNotFound, "not_found", "Project not found.")
		return
	}
	do(&call{x, x.R.PathValue("id")})
}

// callOf tells a find, which asks for one task, from a listing, a listing of files from
// other commands, and a get that wakes from one that does not.
func (s *Server) callOf(r *http.Request, kind simulated.Kind) simulated.Call {
	c := simulated.Call{Kind: kind, ID: r.PathValue("id")}
	switch {
	case kind == simulated.List:
		c.Page = place(r.URL.Query().Get("cursor")).Page
		task, isFind := strings.CutPrefix(r.URL.Query().Get("tags"), s.o.TaskLabel+":")
		if isFind && s.o.TaskLabel != "" {
			c.Kind, c.ID = simulated.Find, task
		}
	case kind == simulated.Get && r.URL.Query().Get("resume") == "true":
		c.Kind = simulated.Start
	case kind == simulated.Exec:
		var in struct{ Command string }
		if json.NewDecoder(r.Body).Decode(&in) == nil && in.Command == "ls" {
			c.Kind = simulated.Files
		}
	}
	return c
}

func (s *Server) known(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.o.Key)) == 1
}

var codes = map[int]string{
	http.StatusBadRequest: "bad_request", http.StatusUnauthorized: "unauthorized",
	http.StatusPaymentRequired: "payment_required", http.StatusForbidden: "forbidden",
	http.StatusNotFound: "not_found", http.StatusConflict: "conflict", http.StatusTooManyRequests: "rate_limited",
}

func (s *Server) fail(w http.ResponseWriter, _ *http.Request, status int, words string) {
	code := codes[status]
	if code == "" {
		code = "internal_server_error"
	}
	s.refuse(w, status, code, words)
}

// refuse answers in the form of the vendor's errors.
func (s *Server) refuse(w http.ResponseWriter, status int, code, words string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(fields{"error": fields{"code": code, "message": words}}) // the client may have left
}

func (s *Server) bad(c *call, words string) {
	s.refuse(c.W, http.StatusBadRequest, "bad_request", words)
}

// elsewhere is what there is no route for. The vendor's words for it were not seen.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.world.Now().UTC().Format(http.TimeFormat))
	s.refuse(w, http.StatusNotFound, "not_found", "No route for "+r.Method+" "+r.URL.Path)
}

type fields = map[string]any
