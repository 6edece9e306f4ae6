package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	askEvery   = 900 * time.Millisecond // how often the ledger is asked whether something changed, while somebody looks
	askSeldom  = 10 * time.Second       // and while the ledger tells it by itself
	listenEach = 10 * time.Second       // between two tries to have it told
	endsSoon   = 900 * time.Millisecond // a pass that began ends mostly within: both are one change then
	tellEach   = 900 * time.Millisecond // how far apart pages are told, while the ledger changes all the time
	mostLive   = 500                    // pages that are told of changes at once
	beatEvery  = 15 * time.Second       // a stream without news says that it is there
	sendWithin = 5 * time.Second        // a page that takes nothing is let go
)

// A herald tells all open pages that the ledger has changed. However many look, one goroutine asks the ledger one cheap
// question; while nobody looks, none does. It asks when the ledger tells, on a connection of its own, that the answer
// may be another one. Where it cannot be told, as behind PgBouncer in transaction mode, it asks each time again. Now
// and then it asks in any case: a connection can be dead for a while before that shows.
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
	l := &hearing{soon: make(chan time.Duration, 1)}
	go l.listen(ctx, h.ledger)
	last, rests := h.look(ctx), time.Time{}
	due := time.Now().Add(askEvery)
	for next := time.NewTimer(askEvery); ; next.Reset(time.Until(due)) {
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case within := <-l.soon:
			due = earlier(due, later(rests, time.Now().Add(within)))
			continue
		case <-next.C:
		}
		if now := h.look(ctx); now != last {
			last, rests = now, time.Now().Add(tellEach)
			h.tell()
		}
		due = later(rests, time.Now().Add(l.apart()))
	}
}

// A hearing goes on while somebody looks: it says within what time to ask, whenever the ledger tells that it changed.
type hearing struct {
	told atomic.Bool        // it hears of each change
	soon chan time.Duration // within what time to ask
}

// apart is how long the ledger is not asked where it tells nothing.
func (l *hearing) apart() time.Duration {
	if l.told.Load() {
		return askSeldom
	}
	return askEvery
}

// listen tries again where the ledger cannot be listened to for now.
func (l *hearing) listen(ctx context.Context, to Ledger) {
	for ctx.Err() == nil {
		err := to.Listen(ctx, func(begun bool) {
			l.told.Store(true)
			if begun {
				l.ask(endsSoon)
			} else {
				l.ask(0)
			}
		})
		l.told.Store(false)
		l.ask(0)
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenEach):
		}
	}
}

// ask leaves word to ask within a time, or within the shorter one of which there is word. Only listen does so.
func (l *hearing) ask(within time.Duration) {
	select {
	case before := <-l.soon:
		within = min(within, before)
	default:
	}
	l.soon <- within
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
