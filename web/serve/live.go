package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	askEvery   = 900 * time.Millisecond // how often the ledger is asked whether something changed, while somebody looks
	tellEach   = 900 * time.Millisecond // how far apart pages are told, while the ledger changes all the time
	mostLive   = 500                    // pages that are told of changes at once
	beatEvery  = 15 * time.Second       // a stream without news says that it is there
	sendWithin = 5 * time.Second        // a page that takes nothing is let go
)

// A herald tells all open pages that the ledger has changed. However many look, one goroutine asks the ledger one cheap
// question; while nobody looks, none does. It listens to no NOTIFY: that takes a connection of its own in each process,
// reaches nobody behind PgBouncer in transaction mode, and the question would have to be asked beside it.
type herald struct {
	ledger Ledger
	news   func() // called before the pages are told

	mu    sync.Mutex
	pages map[chan struct{}]bool
	stop  context.CancelFunc // of the asking; nil while nobody looks
}

func newHerald(l Ledger, news func()) *herald {
	return &herald{ledger: l, news: news, pages: map[chan struct{}]bool{}}
}

// join makes a page hear of changes until it leaves; false when too many do.
func (h *herald) join() (heard chan struct{}, leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pages) >= mostLive {
		return nil, nil, false
	}
	heard = make(chan struct{}, 1)
	h.pages[heard] = true
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background()) // it outlives the page that began it
		h.stop = cancel
		go h.ask(ctx)
	}
	return heard, func() { h.leave(heard) }, true
}

func (h *herald) leave(heard chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, heard)
	if len(h.pages) == 0 {
		h.stop()
		h.stop = nil
	}
}

// ask asks the ledger until nobody looks any more. That it cannot be asked is news too, once.
func (h *herald) ask(ctx context.Context) {
	next := time.NewTimer(askEvery)
	defer next.Stop()
	last := h.look(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		rest := askEvery
		if now := h.look(ctx); now != last {
			last, rest = now, tellEach
			h.tell()
		}
		next.Reset(rest)
	}
}

func (h *herald) look(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := h.ledger.Changed(ctx)
	if err != nil {
		return "cannot be asked"
	}
	return now
}

func (h *herald) tell() {
	h.news()
	h.mu.Lock()
	defer h.mu.Unlock()
	for heard := range h.pages {
		select {
		case heard <- struct{}{}:
		default: // it has not yet taken the last news: this is the same to it
		}
	}
}

// streams are what stays open: pages that are told of changes, and programs that are told of what happens.
type streams struct {
	answers
	Records   Records
	documents *documents
	herald    *herald
	recorded  recordedOnce
}

// live is a stream of events: one whenever the ledger has changed. The page then asks for what it shows.
func (s *streams) live(w http.ResponseWriter, r *http.Request) {
	if !wantsStream(r) {
		http.Error(w, "ask with Accept: text/event-stream", http.StatusNotAcceptable)
		return
	}
	heard, leave, ok := s.herald.join() //nolint:contextcheck // what asks the ledger outlives the page that began it
	if !ok {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many pages are open, this one asks by itself", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	beginStream(w, r)
	s.stream(w, r, heard)
}

func wantsStream(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

func beginStream(w http.ResponseWriter, r *http.Request) {
	leaveSeat(r.Context())
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not keep what is for now
}

func (s *streams) stream(w http.ResponseWriter, r *http.Request, heard <-chan struct{}) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	line := "retry: 2000\n: here\n\n"
	for {
		if err := sendLine(http.NewResponseController(w), w, line); err != nil {
			return // the page was closed
		}
		select {
		case <-r.Context().Done():
			return
		case <-ending(r.Context()):
			return
		case <-heard:
			line = "data: changed\n\n"
		case <-beat.C:
			line = ": here\n\n"
		}
	}
}

// sendLine writes a line of a stream at once. The limits of other requests, which end, do not hold for it.
func sendLine(c *http.ResponseController, w http.ResponseWriter, line string) error {
	_ = c.SetReadDeadline(time.Time{}) // a recorder of a test has none
	_ = c.SetWriteDeadline(time.Now().Add(sendWithin))
	if _, err := fmt.Fprint(w, line); err != nil {
		return fmt.Errorf("write to a page: %w", err)
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("write to a page: %w", err)
	}
	return nil
}

type endingKey struct{}

// ending is closed when the server takes no more requests: streams would keep it from its end.
func ending(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(endingKey{}).(<-chan struct{})
	return c
}
