// Package agentuitytest speaks Agentuity's protocol over a simulated world: the control
// plane and the data planes of its regions on one port. Paths, fields, state words, paging
// and error codes are those that the vendor's client 2.0.21 sends and understands; what a
// sandbox does that does not work any more is as agentuity/sdk#1350, #1370 and #1395 tell.
//
// A data plane is found by the first segment of the path, /usc/sandbox, or by a host name
// that begins with catalyst-usc; without either it is that of the first region.
package agentuitytest

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// Options are the account's key, organization and regions.
type Options struct {
	Key     string   // "" means key
	Org     string   // id of the one organization; "" means org_1
	Regions []string // nil: usc alone; a sandbox of the world that names none of them is in the first
	Bare    bool     // a 404 says "Not Found" and no more, as a gateway's does
}

// A Server answers as Agentuity does. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux

	mu       sync.Mutex
	made     int                     // executions, jobs, snapshots so far
	ran      map[string][]*execution // of a sandbox, oldest first
	jobs     map[string][]*job
	envs     map[string]map[string]string
	sessions int
}

// New makes a server of the world, for an [http.Server] or for [wiretest.Transport].
func New(w *simulated.World, o Options) *Server {
	if o.Key == "" {
		o.Key = "key"
	}
	if o.Org == "" {
		o.Org = "org_1"
	}
	if len(o.Regions) == 0 {
		o.Regions = []string{"usc"}
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux(), ran: map[string][]*execution{}, jobs: map[string][]*job{},
		envs: map[string]map[string]string{}}
	s.routes()
	return s
}

// IDs is the form of the vendor's ids, for [simulated.Options].
func IDs(n int) string { return "sbx_" + hex(n) }

// hex is the sixty digits of the n-th id.
func hex(n int) string { return fmt.Sprintf("%016x%044x", uint64(n)*0x9e3779b97f4a7c15, n) }

func (s *Server) routes() {
	front := wiretest.Front{World: s.world, Fail: s.fail, Known: s.known}
	handle := func(pattern string, kind simulated.Kind, do func(*request)) {
		s.mux.HandleFunc(pattern, front.Handle(
			func(r *http.Request) simulated.Call { return s.callOf(r, kind) },
			func(x wiretest.Exchange) { s.within(x, do) }))
	}
	s.controls().controlRoutes(handle)
	s.insides().insideRoutes(handle)
	s.snapshotRoutes(handle)
	s.mux.HandleFunc("GET /stream/{id}/{which}", s.insides().stream) // public: no credential
}

// A router registers one call.
type router func(pattern string, kind simulated.Kind, do func(*request))

// A request is one call under way.
type request struct {
	wiretest.Exchange
	id     string
	region string
}

type regionKey struct{}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	region := s.o.Regions[0]
	if host, ok := strings.CutPrefix(r.Host, "catalyst-"); ok {
		region, _, _ = strings.Cut(host, ".")
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if slices.Contains(s.o.Regions, first) {
		region = first
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = "/"+rest, ""
	}
	w.Header().Set("X-Session-Id", s.session())
	s.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), regionKey{}, region)))
}

func (s *Server) session() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	return fmt.Sprintf("sess_%032x", s.sessions)
}

func regionOf(r *http.Request) string {
	region, _ := r.Context().Value(regionKey{}).(string)
	return region
}

// callOf names a listing's region where there are several.
func (s *Server) callOf(r *http.Request, kind simulated.Kind) simulated.Call {
	c := simulated.Call{Kind: kind, ID: r.PathValue("id")}
	if kind == simulated.List {
		limit, offset := paging(r)
		c.Page = 1 + (offset+limit/2)/limit // pages may overlap
		if len(s.o.Regions) > 1 {
			c.ID = regionOf(r)
		}
	}
	return c
}

// paging is the part of a listing that is asked for: 50, and at most 100.
func paging(r *http.Request) (limit, offset int) {
	limit, _ = strconv.Atoi(r.URL.Query().Get("limit"))
	offset, _ = strconv.Atoi(r.URL.Query().Get("offset"))
	if limit <= 0 {
		limit = 50
	}
	return min(limit, 100), max(offset, 0)
}

// known checks the key.
func (s *Server) known(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.o.Key)) == 1
}

// within refuses what is meant for another organization or another region.
func (s *Server) within(x wiretest.Exchange, do func(*request)) {
	q := &request{Exchange: x, id: x.R.PathValue("id"), region: regionOf(x.R)}
	if org := x.R.URL.Query().Get("orgId"); org != "" && org != s.o.Org {
		q.fail(http.StatusForbidden, "FORBIDDEN", "not a member of organization "+org)
		return
	}
	if b, ok := s.world.Sandbox(q.id); ok && s.home(b) != q.region && !strings.HasPrefix(x.R.URL.Path, "/cli/") {
		x.W.Header().Set("X-Agentuity-Region", s.home(b))
		q.fail(http.StatusMisdirectedRequest, "MISDIRECTED_REQUEST", "the sandbox is in another region")
		return
	}
	do(q)
}

// home is the region that a sandbox is in.
func (s *Server) home(b simulated.Sandbox) string {
	if slices.Contains(s.o.Regions, b.Region) {
		return b.Region
	}
	return s.o.Regions[0]
}

// data answers well.
func (q *request) data(status int, v any) { q.JSON(status, map[string]any{"success": true, "data": v}) }

func (q *request) fail(status int, code, words string) {
	body := map[string]any{"success": false, "message": words}
	if code != "" {
		body["code"] = code
	}
	q.JSON(status, body)
}

// fail answers in the form of the vendor's errors.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, words string) {
	q := request{Exchange: wiretest.Exchange{W: w, R: r}}
	if status == http.StatusNotFound {
		s.missing(&q)
		return
	}
	q.JSON(status, map[string]any{"error": words, "message": words})
}

// missing says that there is no such sandbox.
func (s *Server) missing(q *request) {
	if s.o.Bare {
		q.JSON(http.StatusNotFound, map[string]any{"error": "Not Found"})
		return
	}
	q.fail(http.StatusNotFound, "SANDBOX_NOT_FOUND", "sandbox not found")
}

// failed answers what the world says against a call.
func (s *Server) failed(q *request, err error) {
	var no *simulated.Refused
	switch {
	case errors.Is(err, simulated.ErrGone):
		s.missing(q)
	case errors.Is(err, simulated.ErrBusy):
		q.fail(http.StatusConflict, "SANDBOX_BUSY", "sandbox is busy")
	case errors.As(err, &no):
		q.fail(http.StatusBadRequest, "", no.Words)
	default:
		q.fail(http.StatusInternalServerError, "", "Internal Server Error")
	}
}

// look is the sandbox of an id; names are no ids here.
func (s *Server) look(id string) (simulated.Sandbox, error) {
	b, err := s.world.Look(id)
	if err == nil && b.ID != id {
		return simulated.Sandbox{}, simulated.ErrGone
	}
	return b, err
}

// next numbers what the server makes.
func (s *Server) next() int {
	s.made++
	return s.made
}
