// Package e2btest speaks E2B's protocol over a simulated world: the control plane, the proxy
// in front of the sandboxes and the daemon inside them, all on one port. Paths, fields,
// state words, paging, the two planes' errors and the odd habits are those of the vendor's
// specification 2.51.0 and of its server as of 2026-08, as far as a janitor, a demo and the
// vendor's own client need them.
package e2btest

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Team is the id of the one team there is.
const Team = "5f1d2b7c-0000-4000-8000-0000000000e2"

// public is a template of the vendor's own, which everybody may start from and nobody look at.
const public = "base"

// Options are the account's key and what is known of calls.
type Options struct {
	Key       string // "" means e2b_key
	TaskLabel string // a listing by this label is journaled, and struck by faults, as a find
	Envd      string // version of the daemon in the sandboxes; "" means 0.5.8
}

// A Lifecycle is what becomes of a sandbox by itself.
type Lifecycle struct {
	Pauses     bool // at its end it is paused; else killed
	AutoResume bool // any traffic wakes it when it is paused
}

// A Server answers as E2B does. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux

	mu     sync.Mutex
	lives  map[string]life
	events []event
}

// A life is what the world does not know of a sandbox.
type life struct {
	Lifecycle
	end time.Time // when it is paused; zero: never by itself
}

// ID is the n-th id in the vendor's form, for [simulated.Options].
func ID(n int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(n)))
	return "i" + hex.EncodeToString(sum[:])[:12] + fmt.Sprintf("%07s", strconv.FormatInt(int64(n), 36))
}

// New makes a server of the world, for an [http.Server] or for [wiretest.Transport]. The
// world's starts and deletes should take no time: the vendor answers when they are done.
func New(w *simulated.World, o Options) *Server {
	if o.Key == "" {
		o.Key = "e2b_key"
	}
	if o.Envd == "" {
		o.Envd = "0.5.8"
	}
	if _, err := w.TemplateOf(public); err != nil {
		w.PutTemplate(simulated.Template{Name: public, General: true})
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux(), lives: map[string]life{}}
	s.routes()
	return s
}

// Live says what becomes of a sandbox by itself, as a create does; end is when it is paused.
func (s *Server) Live(id string, l Lifecycle, end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives[id] = life{l, end}
}

func (s *Server) life(id string) life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lives[id]
}

func (s *Server) routes() {
	front := wiretest.Front{World: s.world, Fail: fail, Known: s.known}
	handle := func(pattern string, kind simulated.Kind, do func(*request)) {
		s.mux.HandleFunc(pattern, front.Handle(
			func(r *http.Request) simulated.Call { return s.callOf(r, kind) },
			func(x wiretest.Exchange) { s.settle(); do(s.request(x)) }))
	}
	handle("GET /v2/sandboxes", simulated.List, s.list)
	for _, version := range []string{"", "/v2"} {
		handle("POST "+version+"/sandboxes", simulated.Create, s.controls().create)
		handle("POST "+version+"/sandboxes/{id}/connect", simulated.Start, s.controls().connect)
	}
	handle("GET /sandboxes/{id}", simulated.Get, s.controls().get)
	handle("DELETE /sandboxes/{id}", simulated.Delete, s.controls().kill)
	handle("POST /sandboxes/{id}/pause", simulated.Stop, s.controls().pause)
	handle("POST /sandboxes/{id}/timeout", simulated.Label, s.controls().timeout)
	handle("POST /sandboxes/{id}/refreshes", simulated.Label, s.controls().refresh)
	handle("GET /sandboxes/{id}/metrics", simulated.UsageOf, s.metrics)
	handle("GET /sandboxes/metrics", simulated.UsageOf, s.batch)
	handle("GET /v2/sandboxes/{id}/logs", simulated.LogsOf, s.logs)
	handle("GET /events/sandboxes", simulated.LogsOf, s.eventsOf)
	handle("GET /events/sandboxes/{id}", simulated.LogsOf, s.eventsOf)
	handle("GET /teams/{id}/metrics", simulated.AccountOf, s.team)
	handle("GET /v2/templates", simulated.Snapshot, s.templates)
	handle("GET /templates/{id}", simulated.Snapshot, s.template)
	handle("GET /templates/{id}/{of}", simulated.Snapshot, s.ofTemplate)
	s.insideRoutes()
	s.mux.HandleFunc("/", s.elsewhere)
}

// A request is one call under way.
type request struct {
	*http.Request
	w     http.ResponseWriter
	x     wiretest.Exchange
	world *simulated.World
	id    string
	body  []byte
	fault simulated.Fault
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) request(x wiretest.Exchange) *request {
	return &request{Request: x.R, w: x.W, x: x, world: s.world, id: short(x.R.PathValue("id")), body: x.Body,
		fault: x.Fault}
}

// short leaves out the id of a client that former clients put behind a sandbox's.
func short(id string) string {
	id, _, _ = strings.Cut(id, "-")
	return id
}

// callOf tells a find, which asks for one task, from a listing.
func (s *Server) callOf(r *http.Request, kind simulated.Kind) simulated.Call {
	c := simulated.Call{Kind: kind, ID: r.PathValue("id")}
	if kind != simulated.List {
		return c
	}
	c.Page = 1
	if at, err := place(r.URL.Query().Get("nextToken")); err == nil {
		c.Page = at.page
	}
	labels, err := metadata(r.URL.Query().Get("metadata"))
	if task, ok := labels[s.o.TaskLabel]; ok && err == nil && s.o.TaskLabel != "" {
		c.Kind, c.ID = simulated.Find, task
	}
	return c
}

// known checks the key.
func (s *Server) known(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("X-API-Key")), []byte(s.o.Key)) == 1
}

func (q *request) json(status int, v any) {
	q.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	q.w.WriteHeader(status)
	_ = json.NewEncoder(q.w).Encode(v) // the client may have left
}

// fail answers in the form of the vendor's errors.
func (q *request) fail(status int, message string) { fail(q.w, q.Request, status, message) }

func fail(w http.ResponseWriter, _ *http.Request, status int, message string) {
	(&request{w: w}).json(status, map[string]any{"code": status, "message": message})
}

func missing(id string) string {
	return fmt.Sprintf("Sandbox %q doesn't exist or you don't have access to it", id)
}

// failed answers what the world says against a call.
func (q *request) failed(err error) {
	var no *simulated.Refused
	switch {
	case errors.Is(err, simulated.ErrGone):
		q.fail(http.StatusNotFound, missing(q.id))
	case errors.Is(err, simulated.ErrBusy):
		q.fail(http.StatusConflict, fmt.Sprintf("Sandbox '%s' cannot be paused while in 'snapshotting' state", q.id))
	case errors.As(err, &no):
		q.fail(http.StatusConflict, fmt.Sprintf("Error pausing sandbox - sandbox '%s' is already paused", q.id))
	default:
		q.fail(http.StatusInternalServerError, err.Error())
	}
}

// look is a sandbox by its id; nothing is found by a name.
func (s *Server) look(id string) (simulated.Sandbox, error) {
	b, err := s.world.Look(id)
	if err == nil && b.ID != id {
		err = simulated.ErrGone
	}
	return b, err
}

// settle pauses what has come to its end and is to be kept; the world itself kills the
// others.
func (s *Server) settle() {
	now := s.world.Now()
	s.mu.Lock()
	var due []string
	for id, l := range s.lives {
		if l.Pauses && !l.end.IsZero() && !now.Before(l.end) {
			due = append(due, id)
			l.end = time.Time{}
			s.lives[id] = l
		}
	}
	s.mu.Unlock()
	for _, id := range due {
		if b, ok := s.world.Sandbox(id); ok && b.State == reconcile.SandboxRunning {
			_, _ = s.world.Pause(id) // one that is busy is left
			s.note(id, "paused")
		}
	}
}

// elsewhere is what there is no route for.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.world.Now().UTC().Format(http.TimeFormat))
	fail(w, r, http.StatusNotFound, "no matching operation was found")
}
