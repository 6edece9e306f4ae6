package serve

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const (
	guessesAtOnce = 4                // passwords that are checked side by side; a check takes most of a processor
	guessesWait   = 60               // more of them, which wait for a seat
	goodFor       = 10 * time.Minute // how long who was let in is known by what he sent
	goodMost      = 256              // so many are known at once
	tellEvery     = time.Minute      // how often refused log-ins are told of
)

// Guesses keep a flood of wrong passwords from the seats of who is known. What was let in a moment ago passes
// on; all else shares few seats, for its password may have to be checked. Nobody is let in by this: that
// is said behind it, of each request.
type guesses struct {
	behind http.Handler
	log    *slog.Logger
	count  *Refusals
	key    []byte // of this process: what is remembered is no password

	seats *seating

	mu      sync.Mutex
	good    map[[sha256.Size]byte]time.Time
	refused int // since it was told last
	told    time.Time
}

func newGuesses(log *slog.Logger, count *Refusals, behind http.Handler) *guesses {
	key := make([]byte, sha256.Size)
	rand.Read(key)
	return &guesses{behind: behind, log: log, count: count, key: key, good: map[[sha256.Size]byte]time.Time{},
		seats: newSeating(guessesAtOnce, guessesWait, readWithin)}
}

// ServeHTTP passes on who is known, and of the others as many at once as there are seats.
func (g *guesses) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent := r.Header.Get("Authorization")
	if sent == "" {
		g.behind.ServeHTTP(w, r) // there is no password to be checked
		return
	}
	mark := g.mark(sent)
	if !g.known(mark) {
		if !g.seats.sit(r.Context()) {
			w.Header().Set("Retry-After", "1")
			refuse(w, r, http.StatusServiceUnavailable, "too many log-ins at once, ask again in a moment")
			return
		}
		defer g.seats.rise()
	}
	answer := &statusOf{ResponseWriter: w}
	g.behind.ServeHTTP(answer, r)
	if answer.status == http.StatusUnauthorized {
		g.refuse(r, mark)
		return
	}
	g.remember(mark)
}

func (g *guesses) mark(sent string) (mark [sha256.Size]byte) {
	h := hmac.New(sha256.New, g.key)
	h.Write([]byte(sent)) // never fails
	h.Sum(mark[:0])
	return mark
}

func (g *guesses) known(mark [sha256.Size]byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.good[mark]
	return ok && time.Since(at) < goodFor
}

func (g *guesses) remember(mark [sha256.Size]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.good) >= goodMost {
		clear(g.good) // they are checked once more
	}
	g.good[mark] = time.Now()
}

// refuse tells of refused log-ins, once in a while and of all since then.
func (g *guesses) refuse(r *http.Request, mark [sha256.Size]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.good, mark) // its password may have been changed
	g.refused++
	g.count.logIns.Add(1)
	if time.Since(g.told) < tellEvery {
		return
	}
	user, _, _ := r.BasicAuth()
	g.log.WarnContext(r.Context(), "log-ins to the page were refused", "count", g.refused,
		"last_user", cmp.Or(text.Clip(user, 60), "none named"), "last_from", r.RemoteAddr)
	g.refused, g.told = 0, time.Now()
}

// A statusOf remembers what was answered.
type statusOf struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status of the answer.
func (s *statusOf) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is the writer behind, for what it can do besides.
func (s *statusOf) Unwrap() http.ResponseWriter { return s.ResponseWriter }
