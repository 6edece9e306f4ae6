package serve

import (
	"context"
	"net/http"
	"sync"
)

// An inflightLimit lets in so many requests at once and sends the rest away, so that neither slow
// readers nor guessed passwords, which take long to check, pile up in the memory of a process
// that has passes to make.
type inflightLimit struct {
	seats  chan struct{}
	behind http.Handler
}

func newInflightLimit(seats int, behind http.Handler) *inflightLimit {
	return &inflightLimit{make(chan struct{}, seats), behind}
}

// ServeHTTP answers 503 when every seat is taken.
func (l *inflightLimit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case l.seats <- struct{}{}:
		leave := sync.OnceFunc(func() { <-l.seats })
		defer leave()
		l.behind.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), seatKey{}, leave)))
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests at once, ask again in a moment", http.StatusServiceUnavailable)
	}
}

type seatKey struct{}

// leaveSeat gives the seat of a request away that lasts, and has a limit of its own.
func leaveSeat(ctx context.Context) {
	if leave, ok := ctx.Value(seatKey{}).(func()); ok {
		leave()
	}
}
