// Package daytonatest speaks Daytona's protocol over a simulated world: control plane and
// toolbox on one port. Paths, fields, state words, paging and the odd habits are those of
// the vendor's specification 0.205.1 and of its server 0.190.0, as far as
// a janitor and its demo need them; listings come in the order of creation only.
package daytonatest

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// Organization is the id of the one organization there is.
const Organization = "0f6a2c1e-0000-4000-8000-00000000da10"

// Permissions are what a key may do, unless [Options] say otherwise.
func Permissions() []string {
	return []string{"write:sandboxes", "delete:sandboxes", "write:snapshots", "delete:snapshots", "read:limits",
		"read:audit_logs"}
}

// Options are the account's key and address.
type Options struct {
	Key         string    // "" means key
	Permissions []string  // nil means [Permissions]
	KeyExpires  time.Time // zero: never
	Address     string    // scheme and host of the toolbox as clients see it; "" means those of the request
	TaskLabel   string    // a listing by this label is journaled, and struck by faults, as a find
	NoToolbox   bool      // sandboxes do not say their toolbox's address, as old versions did
}

// A Server answers as Daytona does. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux
}

// Transport hands requests to a handler without a network, so that a client can run where
// time is not real.
func Transport(h http.Handler) http.RoundTripper { return wiretest.Transport(h) }

// New makes a server of the world, for an [http.Server] or for [Transport].
func New(w *simulated.World, o Options) *Server {
	if o.Key == "" {
		o.Key = "key"
	}
	if o.Permissions == nil {
		o.Permissions = Permissions()
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux()}
	s.routes()
	return s
}

func (s *Server) routes() {
	front := wiretest.Front{World: s.world, Fail: s.fail, Known: s.known}
	handle := func(pattern string, kind simulated.Kind, do func(*request)) {
		s.mux.HandleFunc(pattern, front.Handle(
			func(r *http.Request) simulated.Call { return s.callOf(r, kind) },
			func(x wiretest.Exchange) { do(s.request(x)) }))
	}
	handle("GET /api/sandbox", simulated.List, s.list)
	handle("POST /api/sandbox", simulated.Create, s.create)
	handle("GET /api/sandbox/{id}", simulated.Get, s.get)
	handle("DELETE /api/sandbox/{id}", simulated.Delete, s.destroy)
	handle("POST /api/sandbox/{id}/stop", simulated.Stop, s.stop)
	handle("POST /api/sandbox/{id}/start", simulated.Start, s.start)
	handle("PUT /api/sandbox/{id}/labels", simulated.Label, s.labels)
	handle("POST /api/sandbox/{id}/last-activity", simulated.Label, s.activity)
	handle("GET /api/sandbox/{id}/toolbox-proxy-url", simulated.Get, s.proxyURL)
	handle("GET /api/snapshots", simulated.Snapshot, s.snapshots)
	handle("GET /api/snapshots/{id}", simulated.Snapshot, s.snapshot)
	handle("POST /api/snapshots/{id}/activate", simulated.Activate, s.activate)
	handle("GET /api/api-keys/current", simulated.AccountOf, s.key)
	handle("GET /api/organizations/{id}/usage", simulated.AccountOf, s.usage)
	handle("GET /api/audit/organizations/{id}", simulated.LogsOf, s.audit)
	handle("POST /toolbox/{id}/process/execute", simulated.Exec, s.exec)
	handle("GET /toolbox/{id}/files", simulated.Files, s.files)
	handle("POST /toolbox/{id}/files/bulk-upload", simulated.Files, s.upload)
	handle("POST /toolbox/{id}/files/bulk-download", simulated.Files, s.download)
	handle("GET /toolbox/{id}/system/metrics", simulated.UsageOf, s.metrics)
	handle("GET /toolbox/{id}/process/session/entrypoint/logs", simulated.LogsOf, s.logs)
	s.mux.HandleFunc("/", s.elsewhere)
}

// A request is one call under way.
type request struct {
	*http.Request
	w     http.ResponseWriter
	world *simulated.World
	id    string
	body  []byte
	fault simulated.Fault
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) request(x wiretest.Exchange) *request {
	x.W.Header().Set("X-RateLimit-Remaining-authenticated", "9999")
	return &request{Request: x.R, w: x.W, world: s.world, id: x.R.PathValue("id"), body: x.Body, fault: x.Fault}
}

// callOf tells a find, which asks for one task, from a listing.
func (s *Server) callOf(r *http.Request, kind simulated.Kind) simulated.Call {
	c := simulated.Call{Kind: kind, ID: r.PathValue("id")}
	if kind != simulated.List {
		return c
	}
	_, c.Page = place(r.URL.Query().Get("cursor"))
	var labels map[string]string
	if s.o.TaskLabel != "" && json.Unmarshal([]byte(r.URL.Query().Get("labels")), &labels) == nil {
		if task, ok := labels[s.o.TaskLabel]; ok {
			c.Kind, c.ID = simulated.Find, task
		}
	}
	return c
}

// known checks the key.
func (s *Server) known(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.o.Key)) == 1
}

func (q *request) json(status int, v any) {
	q.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	q.w.WriteHeader(status)
	_ = json.NewEncoder(q.w).Encode(v)
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, message string) {
	(&request{Request: r, w: w, world: s.world}).fail(status, message)
}

// fail answers in the form of the vendor's errors.
func (q *request) fail(status int, message string) {
	q.json(status, map[string]any{
		"path": q.URL.Path, "timestamp": stamp(q.world.Now()), "statusCode": status,
		"error": http.StatusText(status), "message": message,
	})
}

// failed answers what the world says against a call.
func (q *request) failed(err error, noun string) {
	var no *simulated.Refused
	switch {
	case errors.Is(err, simulated.ErrGone):
		q.fail(http.StatusNotFound, noun+" with ID or name "+q.id+" not found")
	case errors.Is(err, simulated.ErrBusy):
		q.fail(http.StatusConflict, "Sandbox state change in progress")
	case errors.As(err, &no):
		q.fail(http.StatusBadRequest, no.Words)
	default:
		q.fail(http.StatusInternalServerError, err.Error())
	}
}

// elsewhere is what there is no route for: the API says so, all else is the dashboard.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.world.Now().UTC().Format(http.TimeFormat))
	q := &request{Request: r, w: w, world: s.world}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		q.fail(http.StatusNotFound, "Cannot "+r.Method+" "+r.URL.Path)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!doctype html><title>Daytona</title><div id=root></div>")
}

func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return otherwise
	}
	return n
}
