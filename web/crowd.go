package web

import "net/http"

// A crowd lets in so many requests at once and sends the rest away, so that neither slow
// readers nor guessed passwords, which take long to check, pile up in the memory of a process
// that has passes to make.
type crowd struct {
	seats  chan struct{}
	behind http.Handler
}

func newCrowd(seats int, behind http.Handler) *crowd {
	return &crowd{make(chan struct{}, seats), behind}
}

// ServeHTTP answers 503 when every seat is taken.
func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case c.seats <- struct{}{}:
		defer func() { <-c.seats }()
		c.behind.ServeHTTP(w, r)
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests at once, ask again in a moment", http.StatusServiceUnavailable)
	}
}
