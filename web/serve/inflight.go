package serve

import "net/http"

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
		defer func() { <-l.seats }()
		l.behind.ServeHTTP(w, r)
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests at once, ask again in a moment", http.StatusServiceUnavailable)
	}
}
