package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Push is what a provider sent by itself, after its signature was found right. It is a reason to look at a sandbox,
// and never a fact.
type Push struct {
	ID      string    // of the message
	At      time.Time // when it was sent, by the sender's clock
	Sandbox string    // that may have ended; "" when it tells of something else
}

// What is wrong with a push that [Pushes] reads.
var (
	ErrForged     = errors.New("the signature is not that of this provider's secret")
	ErrUnreadable = errors.New("it is signed, and no message that is known")
)

// Pushes read what providers send by themselves, and look.
type Pushes interface {
	// Read checks the signature. It is [reconcile.ErrNotFound] for what takes no pushes, [ErrForged] or [ErrUnreadable].
	Read(provider string, header http.Header, body []byte) (Push, error)
	// Look has a sandbox looked at, soon.
	Look(ctx context.Context, provider, sandbox string) error
	// Counted is told what became of each: a word of [PushOutcomes].
	Counted(provider, outcome string)
}

const (
	pushesAtOnce = 8                // that are read side by side; these are no seats of who reads the page
	pushesWait   = 32               // more of them, which wait for a seat
	pushWindow   = 5 * time.Minute  // how far the sender's clock may be from ours
	pushesEach   = rate.Limit(10)   // a second, of each provider: signed ones, so that forged ones take nothing from them
	pushesBurst  = 200              // at once
	lookWithin   = 10 * time.Second // for asking for a look
)

// A receiver takes what providers push. All that follows from a push is a look, which says by itself what is true.
type receiver struct {
	answers
	Pushes Pushes // nil: nothing is taken

	seats *seating
	since time.Time // what was signed before may have been taken by the process before this one

	mu      sync.Mutex
	taken   map[pushID]time.Time // when it was sent; as long as it would not be refused as stale
	rates   map[string]*rate.Limiter
	refused int // since it was told last
	told    time.Time
}

type pushID struct{ provider, id string }

func newReceiver(says answers, p Pushes) *receiver {
	return &receiver{answers: says, Pushes: p, seats: newSeating(pushesAtOnce, pushesWait, seatWithin),
		since: time.Now().Truncate(time.Second), taken: map[pushID]time.Time{}, rates: map[string]*rate.Limiter{}}
}

func (s *receiver) routes() []route {
	return []route{{"POST", "/push/{provider}", kindPush, roleNone, []credential{bySignature}, false, notKept, onWeb,
		s.push}}
}

// A pushRefusal is why a push is not taken.
type pushRefusal struct {
	status       int
	outcome, why string
}

// PushOutcomes are what may become of a push.
var PushOutcomes = []string{"looked", "nothing-ended", pushForged.outcome, pushUnreadable.outcome, pushStale.outcome,
	pushReplayed.outcome, pushLarge.outcome, pushMany.outcome, pushBusy.outcome, pushFailed.outcome}

var (
	pushForged     = &pushRefusal{http.StatusUnauthorized, "forged", "the signature does not fit"}
	pushUnreadable = &pushRefusal{http.StatusBadRequest, "unreadable", "this is no message that is known"}
	pushStale      = &pushRefusal{http.StatusBadRequest, "stale", "this was sent too long ago, or the clocks differ"}
	pushReplayed   = &pushRefusal{http.StatusConflict, "replayed", "this was taken already"}
	pushLarge      = &pushRefusal{http.StatusRequestEntityTooLarge, "too-large", "this is too large"}
	pushMany       = &pushRefusal{http.StatusTooManyRequests, "too-many", "too many at once, send it again later"}
	pushBusy       = &pushRefusal{http.StatusServiceUnavailable, "busy", "too many at once, send it again later"}
	pushFailed     = &pushRefusal{http.StatusServiceUnavailable, "failed", "nobody can look now, send it again later"}
)

// push answers 202 when somebody will look, or need not.
func (s *receiver) push(w http.ResponseWriter, r *http.Request) {
	provider := r.PathValue("provider")
	if s.Pushes == nil || s.unknown(provider) {
		s.missing(w, r)
		return
	}
	outcome, refusal := s.take(r, provider)
	if refusal == nil {
		s.Pushes.Counted(provider, outcome)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.Pushes.Counted(provider, refusal.outcome)
	s.tell(r, provider, refusal)
	if refusal == pushMany || refusal == pushBusy || refusal == pushFailed {
		w.Header().Set("Retry-After", "5")
	}
	refuse(w, r, refusal.status, refusal.why)
}

// unknown reports whether no entry of the name takes pushes.
func (s *receiver) unknown(provider string) bool {
	_, err := s.Pushes.Read(provider, nil, nil)
	return errors.Is(err, reconcile.ErrNotFound)
}

func (s *receiver) take(r *http.Request, provider string) (outcome string, _ *pushRefusal) {
	if !s.seats.sit(r.Context()) {
		return "", pushBusy
	}
	defer s.seats.rise()
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return "", pushLarge
	case err != nil:
		return "", pushUnreadable
	}
	p, err := s.Pushes.Read(provider, r.Header, body)
	switch {
	case errors.Is(err, ErrUnreadable):
		return "", pushUnreadable
	case err != nil:
		return "", pushForged
	}
	if refusal := s.admit(provider, p, time.Now()); refusal != nil {
		return "", refusal
	}
	if p.Sandbox == "" {
		return "nothing-ended", nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), lookWithin)
	defer cancel()
	if err := s.Pushes.Look(ctx, provider, p.Sandbox); err != nil {
		s.Log.WarnContext(r.Context(), "look after a push not asked for, the next pass makes up for it", "provider", provider,
			"err", err)
		s.forget(provider, p)
		return "", pushFailed
	}
	s.Log.DebugContext(r.Context(), "a provider gave a reason to look", "provider", provider, "sandbox", p.Sandbox)
	return "looked", nil
}

// admit lets in what is new and was not sent too long ago, each once and not too many.
func (s *receiver) admit(provider string, p Push, now time.Time) *pushRefusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.At.Before(now.Add(-pushWindow)) || p.At.After(now.Add(pushWindow)) || p.At.Before(s.since) {
		return pushStale
	}
	id := pushID{provider, p.ID}
	if _, again := s.taken[id]; again {
		return pushReplayed
	}
	limit := s.rates[provider]
	if limit == nil {
		limit = rate.NewLimiter(pushesEach, pushesBurst)
		s.rates[provider] = limit
	}
	if !limit.AllowN(now, 1) {
		return pushMany
	}
	for old, at := range s.taken { // the rate bounds how many there are
		if at.Before(now.Add(-pushWindow)) {
			delete(s.taken, old)
		}
	}
	s.taken[id] = p.At
	return nil
}

// forget lets a push come again that came to nothing.
func (s *receiver) forget(provider string, p Push) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taken, pushID{provider, p.ID})
}

// tell tells of refused pushes, once in a while and of all since then. Nothing of what was sent is in it.
func (s *receiver) tell(r *http.Request, provider string, refusal *pushRefusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused++
	if time.Since(s.told) < tellEvery {
		return
	}
	s.Log.WarnContext(r.Context(), "pushes were refused", "count", s.refused, "last_provider", provider,
		"last_why", refusal.outcome, "last_from", r.RemoteAddr)
	s.refused, s.told = 0, time.Now()
}
