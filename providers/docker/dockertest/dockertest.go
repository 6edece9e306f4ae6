// Package dockertest speaks the API of a Docker engine, or of Podman in its place, over a
// simulated world. Paths, status codes, error bodies, headers, frames and the odd habits are
// those that were recorded of Docker 20.10 (API 1.41) and Podman 4.3, and that moby's own
// client 0.6 asks for, as far as a janitor and its tests need them.
package dockertest

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// Options are what the engine is.
type Options struct {
	Podman    bool
	Version   string // of the API; "" means 1.51, or 1.41 with Podman
	Key       string // that a proxy before the engine asks for; "" means none
	TaskLabel string // a listing by this label is journaled, and struck by faults, as a find
}

// A Server answers as an engine does. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux

	mu    sync.Mutex
	execs map[string]*execution
	made  int
}

// IDs are ids of the engine's form, for the world's options.
func IDs(n int) string { return fmt.Sprintf("%064x", uint64(n)*0x9e3779b97f4a7c15) }

// New makes a server of the world, for an [http.Server].
func New(w *simulated.World, o Options) *Server {
	if o.Version == "" {
		o.Version = "1.51"
		if o.Podman {
			o.Version = "1.41"
		}
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux(), execs: map[string]*execution{}}
	s.routes()
	return s
}

func (s *Server) routes() {
	front := wiretest.Front{World: s.world, Fail: s.fail, Known: s.known}
	handle := func(pattern string, kind simulated.Kind, do func(wiretest.Exchange)) {
		s.mux.HandleFunc(pattern, front.Handle(func(r *http.Request) simulated.Call { return s.callOf(r, kind) }, do))
	}
	handle("GET /version", simulated.AccountOf, s.version)
	handle("GET /containers/json", simulated.List, s.list)
	handle("POST /containers/create", simulated.Create, s.create)
	handle("GET /containers/{id}/json", simulated.Get, s.inspect)
	handle("DELETE /containers/{id}", simulated.Delete, s.remove)
	handle("POST /containers/{id}/start", simulated.Start, s.start)
	handle("POST /containers/{id}/unpause", simulated.Start, s.unpause)
	handle("POST /containers/{id}/stop", simulated.Stop, s.stop)
	handle("POST /containers/{id}/kill", simulated.Stop, s.kill)
	handle("POST /containers/{id}/pause", simulated.Stop, s.pause)
	handle("GET /containers/{id}/logs", simulated.LogsOf, s.logs)
	handle("GET /containers/{id}/stats", simulated.UsageOf, s.stats)
	handle("HEAD /containers/{id}/archive", simulated.Get, s.archive)
	handle("POST /containers/{id}/exec", simulated.Exec, s.exec)
	handle("POST /exec/{exec}/start", simulated.Exec, s.execStart)
	handle("GET /exec/{exec}/json", simulated.Exec, s.execInspect)
	handle("GET /events", simulated.LogsOf, s.events)
	handle("GET /images/{name...}", simulated.Snapshot, s.image)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.nowhere(w, r) })
}

// ServeHTTP answers one call, with or without a version before its path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.sign(w)
	version, path, versioned := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	if !versioned || !strings.HasPrefix(r.URL.Path, "/v1.") {
		path = strings.TrimPrefix(r.URL.Path, "/")
		version = s.o.Version
	}
	if path == "_ping" {
		wiretest.Front{World: s.world}.Date(w)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("OK"))
		return
	}
	if minor(version) > minor(s.o.Version) && !s.o.Podman {
		s.fail(w, r, http.StatusBadRequest, fmt.Sprintf("client version %s is too new. Maximum supported API version is %s",
			version, s.o.Version))
		return
	}
	in := r.Clone(r.Context())
	in.URL.Path, in.URL.RawPath = "/"+path, ""
	s.mux.ServeHTTP(w, in)
}

func minor(version string) int {
	_, text, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(text)
	return n
}

func (s *Server) sign(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Api-Version", s.o.Version)
	h.Set("Ostype", "linux")
	h.Set("Server", "Docker/28.5.2 (linux)")
	if s.o.Podman {
		h.Set("Libpod-Api-Version", "4.3.1")
		h.Set("Server", "Libpod/4.3.1 (linux)")
	}
}

// callOf tells a find, which asks for one task, from a listing, and the halves of a probe
// from each other.
func (s *Server) callOf(r *http.Request, kind simulated.Kind) simulated.Call {
	c := simulated.Call{Kind: kind, ID: r.PathValue("id")}
	switch kind {
	case simulated.List:
		c.Page = 1
		if labels, _ := labelsOf(r); s.o.TaskLabel != "" && labels[s.o.TaskLabel] != "" {
			c.Kind, c.ID = simulated.Find, labels[s.o.TaskLabel]
		}
	case simulated.Snapshot:
		c.ID = strings.TrimSuffix(r.PathValue("name"), "/json")
	case simulated.Exec:
		return s.execCall(r, c)
	}
	return c
}

// known checks the key.
func (s *Server) known(r *http.Request) bool {
	return s.o.Key == "" ||
		subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.o.Key)) == 1
}

// fail answers in the form of the engine's errors.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, words string) {
	body := map[string]any{"message": words}
	if s.o.Podman {
		cause := words
		if at := strings.LastIndex(words, ": "); at >= 0 {
			cause = words[at+2:]
		}
		body["cause"], body["response"] = cause, status
	}
	wiretest.Exchange{W: w, R: r}.JSON(status, body)
}

func (s *Server) nowhere(w http.ResponseWriter, r *http.Request) {
	if s.o.Podman {
		http.Error(w, "Not Found", http.StatusNotFound)
		return
	}
	s.fail(w, r, http.StatusNotFound, "page not found")
}

// failed answers what the world says against a call.
func (s *Server) failed(x wiretest.Exchange, err error) {
	id := x.R.PathValue("id")
	var no *simulated.Refused
	switch {
	case errors.Is(err, simulated.ErrGone) && s.o.Podman:
		s.fail(x.W, x.R, http.StatusNotFound, fmt.Sprintf("no container with name or ID %q found: no such container", id))
	case errors.Is(err, simulated.ErrGone):
		s.fail(x.W, x.R, http.StatusNotFound, "No such container: "+id)
	case errors.Is(err, simulated.ErrBusy):
		s.fail(x.W, x.R, http.StatusConflict, "removal of container "+id+" is already in progress")
	case errors.As(err, &no):
		s.fail(x.W, x.R, http.StatusConflict, no.Words)
	default:
		s.fail(x.W, x.R, http.StatusInternalServerError, err.Error())
	}
}

func (s *Server) version(x wiretest.Exchange) {
	name, version := "Engine", "28.5.2"
	if s.o.Podman {
		name, version = "Podman Engine", "4.3.1"
	}
	x.JSON(http.StatusOK, map[string]any{
		"Components": []any{map[string]any{"Name": name, "Version": version}},
		"Version":    version, "ApiVersion": s.o.Version, "MinAPIVersion": "1.24", "Os": "linux", "Arch": "amd64",
	})
}

// labelsOf are the labels that a listing is narrowed to: {"label":["k=v"]} of old clients,
// {"label":{"k=v":true}} of new ones.
func labelsOf(r *http.Request) (map[string]string, error) {
	filters, err := filtersOf(r)
	out := map[string]string{}
	for _, term := range filters["label"] {
		key, value, _ := strings.Cut(term, "=")
		out[key] = value
	}
	return out, err
}

func filtersOf(r *http.Request) (map[string][]string, error) {
	text := r.URL.Query().Get("filters")
	old := map[string][]string{}
	if text == "" || json.Unmarshal([]byte(text), &old) == nil {
		return old, nil
	}
	var in map[string]map[string]bool
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for name, terms := range in {
		for term := range terms {
			out[name] = append(out[name], term)
		}
	}
	return out, nil
}
