// Package generictest is a made-up service of the house, the boxyard, over a simulated
// world: what an operator may find and describe for kind generic. Nothing in it is like the
// vendors that have an adapter: its words, its errors and its paths are its own, and its
// list can be paged in each way that there is.
package generictest

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// Options are the yard's key and its habits.
type Options struct {
	Key    string // "" means key
	Paging string // none, cursor, link, page or offset; "" means cursor
	Shy    bool   // pages do not say how many there are
	Lacks  []string
}

// A Server answers as the boxyard does. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux
}

// New makes a server of the world.
func New(w *simulated.World, o Options) *Server {
	if o.Key == "" {
		o.Key = "key"
	}
	if o.Paging == "" {
		o.Paging = "cursor"
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux()}
	front := wiretest.Front{World: w, Fail: s.fail, Known: s.known}
	handle := func(pattern string, kind simulated.Kind, do func(wiretest.Exchange)) {
		s.mux.HandleFunc(pattern, front.Handle(func(r *http.Request) simulated.Call { return s.callOf(r, kind) }, do))
	}
	handle("GET /v1/boxes", simulated.List, s.list)
	handle("GET /v1/boxes/{id}", simulated.Get, s.get)
	handle("DELETE /v1/boxes/{id}", simulated.Delete, s.scrap)
	handle("POST /v1/boxes/{id}/halt", simulated.Stop, s.halt)
	handle("POST /v1/boxes/{id}/wake", simulated.Start, s.wake)
	handle("POST /v1/boxes/{id}/run", simulated.Exec, s.run)
	handle("GET /v1/boxes/{id}/ls", simulated.Files, s.ls)
	handle("GET /v1/boxes/{id}/log", simulated.LogsOf, s.log)
	handle("/", simulated.AccountOf, func(x wiretest.Exchange) {
		s.refuse(x, http.StatusNotFound, "no_such_route", "there is nothing here")
	})
	return s
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// callOf tells a find, which asks for a task, from a listing.
func (s *Server) callOf(r *http.Request, kind simulated.Kind) simulated.Call {
	c := simulated.Call{Kind: kind, ID: r.PathValue("id")}
	if kind != simulated.List {
		return c
	}
	c.Page = s.at(r).number
	if task := wanted(r)["task_id"]; task != "" {
		c.Kind, c.ID = simulated.Find, task
	}
	return c
}

func (s *Server) known(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Yard-Key")), []byte(s.o.Key)) == 1
}

// fail answers in the form of the yard's errors.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, words string) {
	s.refuse(wiretest.Exchange{W: w, R: r}, status, fmt.Sprint("status_", status), words)
}

func (s *Server) refuse(x wiretest.Exchange, status int, kind, words string) {
	x.JSON(status, map[string]any{"fault": map[string]string{"kind": kind, "text": words}})
}

// failed answers what the world says against a call.
func (s *Server) failed(x wiretest.Exchange, err error) {
	var no *simulated.Refused
	switch {
	case errors.Is(err, simulated.ErrGone):
		s.refuse(x, http.StatusNotFound, "no_such_box", "the yard has no box "+x.R.PathValue("id"))
	case errors.Is(err, simulated.ErrBusy):
		s.refuse(x, http.StatusLocked, "box_in_motion", "the crane has it")
	case errors.As(err, &no):
		s.refuse(x, http.StatusUnprocessableEntity, "not_so", no.Words)
	default:
		s.refuse(x, http.StatusInternalServerError, "broken", err.Error())
	}
}

// A place is where a page begins.
type place struct {
	after  string
	offset int
	number int // from 1
	limit  int
}

func (s *Server) at(r *http.Request) place {
	q := r.URL.Query()
	p := place{limit: number(q.Get("limit"), 50), number: 1}
	switch s.o.Paging {
	case "page":
		p.number = number(q.Get("page"), 1)
		p.offset = (p.number - 1) * p.limit
	case "offset":
		p.offset = number(q.Get("skip"), 0)
		p.number = 1 + (p.offset+p.limit-1)/max(p.limit, 1)
	case "cursor", "link":
		text, _ := base64.RawURLEncoding.DecodeString(q.Get("after"))
		page, after, ok := strings.Cut(string(text), " ")
		if ok {
			p.number, p.after = number(page, 1), after
		}
	}
	return p
}

func number(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return otherwise
	}
	return n
}

// wanted are the tags that a list is asked for: tag=key:value, any number of them.
func wanted(r *http.Request) map[string]string {
	out := map[string]string{}
	for _, tag := range r.URL.Query()["tag"] {
		key, value, _ := strings.Cut(tag, ":")
		out[key] = value
	}
	return out
}
