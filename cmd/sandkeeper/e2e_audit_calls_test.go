package main

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// A deleted is one call of a client to delete a sandbox.
type deleted struct {
	at     time.Time
	effect bool // it was there before
	heard  bool // the client got a good answer
}

// An answered response remembers its status.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a fault break the connection.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// watch notes each delete, whether there was something to delete, and how it was answered.
func (au *auditor) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodDelete {
			h.ServeHTTP(w, r)
			return
		}
		id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		au.mu.Lock()
		first := !slices.ContainsFunc(au.deletes[id], func(d *deleted) bool { return d.effect })
		call := &deleted{at: time.Now(), effect: first && !au.ended(id)}
		au.deletes[id] = append(au.deletes[id], call)
		au.mu.Unlock()
		a := &answered{ResponseWriter: w}
		h.ServeHTTP(a, r)
		au.mu.Lock()
		call.heard = a.status == http.StatusOK || a.status == http.StatusNotFound
		au.mu.Unlock()
	})
}

// diedBetween reports whether a process was killed or frozen between two moments.
func (au *auditor) diedBetween(from, to time.Time) bool {
	for _, at := range au.killed {
		if !at.Before(from) && !at.After(to) {
			return true
		}
	}
	return false
}
