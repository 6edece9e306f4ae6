package serve

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	seatsWait  = 2 * mostLive    // requests that wait: all open pages ask at once when something has changed
	seatWithin = 2 * time.Second // that each waits
)

// An inflightLimit lets in so many requests at once and, after a moment, sends the rest away, so that neither slow
// readers nor guessed passwords, which take long to check, pile up in the memory of a process that has passes to make.
type inflightLimit struct {
	seats  *seating
	behind http.Handler
}

func newInflightLimit(seats int, behind http.Handler) *inflightLimit {
	return &inflightLimit{newSeating(seats, seatsWait, seatWithin), behind}
}

// ServeHTTP answers 503 when no seat becomes free in time.
func (l *inflightLimit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !l.seats.sit(r.Context()) {
		w.Header().Set("Retry-After", "1")
		refuse(w, r, http.StatusServiceUnavailable, "too many requests at once, ask again in a moment")
		return
	}
	leave := sync.OnceFunc(l.seats.rise)
	defer leave()
	l.behind.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), seatKey{}, leave)))
}

type seatKey struct{}

// leaveSeat gives the seat of a request away that lasts, and has a limit of its own.
func leaveSeat(ctx context.Context) {
	if leave, ok := ctx.Value(seatKey{}).(func()); ok {
		leave()
	}
}
