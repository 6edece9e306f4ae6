// Package cloudflaretest speaks both protocols that sandboxes in Cloudflare Containers are
// reached by, over one simulated world and on one port: the control plane's (applications and
// instances of its TypeScript client 7.3.0, with the gated calls of its schemas) and the admin
// API of a user's own Worker, after deploy/cloudflare-worker.
package cloudflaretest

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// The ids of the one account and the one application that there are.
const (
	Account     = "0f6a2c1e00004000800000000000cf10"
	Application = "7a1c5f0e-0000-4000-8000-00000000cf20"
)

// Where the two halves are, below the server's address.
const (
	ControlPath = "/client/v4"
	WorkerPath  = "/api/sandbox"
)

// Options are what a server is made with.
type Options struct {
	Key         string // of the control plane; "" means key
	WorkerToken string // "" means worker-key
	InstanceAPI bool   // the gated calls on instances are enabled
	MaxPerPage  int    // of the control plane: more is refused; 0: no bound
	Terse       bool   // the Worker is the runbook's: a bare list, no container, no actor
	Open        bool   // the Worker answers everybody, as the runbook's did
}

// A Server answers as both do. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux

	mu        sync.Mutex
	forgotten map[string]bool   // the registry lost these records; their containers go on
	unnamed   map[string]bool   // the control plane does not tell the names of these
	objects   map[string]string // sandboxes by the ids of their objects, as they were shown
}

// New makes a server of the world.
func New(w *simulated.World, o Options) *Server {
	if o.Key == "" {
		o.Key = "key"
	}
	if o.WorkerToken == "" {
		o.WorkerToken = "worker-key"
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux(), forgotten: map[string]bool{}, unnamed: map[string]bool{},
		objects: map[string]string{}}
	s.routeControl()
	s.routeWorker()
	s.mux.HandleFunc("/", s.elsewhere)
	return s
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Forget makes the registry lose a record whose container runs on.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten[id] = true
}

// Unname makes the control plane leave out a sandbox's name.
func (s *Server) Unname(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unnamed[id] = true
}

// remember returns the id of a sandbox's object, which is known from then on.
func (s *Server) remember(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	object := Object(id)
	s.objects[object] = id
	return object
}

func (s *Server) has(set map[string]bool, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return set[id]
}

// Object is the id of the Durable Object of a sandbox: what is no such id is its name.
func Object(id string) string {
	if len(id) == 64 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// ObjectIDs are ids of the form that Durable Objects have, for worlds without a Worker.
func ObjectIDs(n int) string { return Object("object " + strconv.Itoa(n)) }

func bearer(r *http.Request, key string) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+key)) == 1
}

// elsewhere is what there is no route for.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.world.Now().UTC().Format(http.TimeFormat))
	switch {
	case strings.HasPrefix(r.URL.Path, ControlPath+"/"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(failure(7003, "Could not route to "+r.URL.Path+
			", perhaps your object identifier is invalid?")) // the client may have left
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<!doctype html><title>error 1042</title>")) // the same
	}
}

// A spot is what a cursor holds. Clients must not look inside.
type spot struct {
	After string `json:"a"`
	Page  int    `json:"p"`
}

func place(cursor string) spot {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	at := spot{Page: 1}
	if err == nil && cursor != "" {
		_ = json.Unmarshal(text, &at) // a cursor of somebody else's is the first page
	}
	return at
}

// follow is the cursor after a page, "" after the last.
func follow(at spot, next string, f simulated.Fault) string {
	to := spot{After: next, Page: at.Page + 1}
	switch {
	case f.Effect == simulated.SameCursor:
		to = spot{After: "again", Page: 2}
	case next == "":
		return ""
	}
	text, _ := json.Marshal(to) // a text and a number always encode
	return base64.RawURLEncoding.EncodeToString(text)
}

func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return otherwise
	}
	return n
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// page reads the world from a cursor on.
func (s *Server) page(x wiretest.Exchange, cursor string, limit int) ([]simulated.Sandbox, string) {
	at := place(cursor)
	boxes, next := s.world.Page(simulated.Query{After: at.After, Limit: limit}, x.Fault)
	return boxes, follow(at, next, x.Fault)
}
