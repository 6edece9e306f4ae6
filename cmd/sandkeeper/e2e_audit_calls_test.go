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

// troubled reports whether a fault was on at some time between two moments.
func (au *auditor) troubled(from, to time.Time) bool {
	return slices.ContainsFunc(au.spans, func(s span) bool { return !s.from.After(to) && !s.to.Before(from) })
}

// deletesOf counts how often a delete took effect, and looks at what came after it.
func (au *auditor) deletesOf(box string) (effects int) {
	au.Helper()
	calls := au.deletes[box]
	for i, c := range calls {
		if c.effect {
			effects++
		}
		if i == 0 {
			continue
		}
		from := calls[i-1].at.Add(-time.Second)
		if calls[i-1].heard && !au.diedBetween(from, c.at) && !au.troubled(from, c.at) {
			au.wrong(&au.tally.repeated, "sandbox %s was deleted again at %s: nobody had died since the answer before", box, c.at)
		} else {
			au.tally.asked++
		}
	}
	return effects
}
