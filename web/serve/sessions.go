package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

const (
	sessionCookie  = "__Host-sandkeeper" // browsers take it over HTTPS alone, for this host alone, from this path up
	sessionLasts   = 12 * time.Hour
	sessionIdle    = time.Hour
	mostSessions   = 1000
	passwordsAtOne = 2 // that are checked side by side for sessions; a check takes most of a processor
)

// A session is a person at a browser who gave his password to this page, and not only to the browser.
type session struct {
	user, hash  string // the hash of his password as it was then: a new one ends the session
	began, used time.Time
}

// sessions are those of one process. They end with it: behind a balancer a person has to be sent to the same one.
type sessions struct {
	mu    sync.Mutex
	all   map[[sha256.Size]byte]session // by the hash of the cookie: what is in memory lets nobody in
	seats chan struct{}
}

func newSessions() *sessions {
	return &sessions{all: map[[sha256.Size]byte]session{}, seats: make(chan struct{}, passwordsAtOne)}
}

// begin makes a session and its cookie.
func (s *sessions) begin(user, hash string, now time.Time) *http.Cookie {
	secret := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, one := range s.all {
		if one.over(now) {
			delete(s.all, key)
		}
	}
	if len(s.all) >= mostSessions {
		clear(s.all) // they log in once more
	}
	s.all[sha256.Sum256([]byte(secret))] = session{user: user, hash: hash, began: now, used: now}
	return cookie(secret)
}

func cookie(value string) *http.Cookie {
	c := &http.Cookie{Name: sessionCookie, Value: value, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

func (s *session) over(now time.Time) bool {
	return now.Sub(s.began) >= sessionLasts || now.Sub(s.used) >= sessionIdle
}

// user is whose session the request shows, "" for nobody's. users are those of now.
func (s *sessions) user(r *http.Request, users map[string]string, now time.Time) string {
	given, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	key := sha256.Sum256([]byte(given.Value))
	s.mu.Lock()
	defer s.mu.Unlock()
	one, known := s.all[key]
	hash, still := users[one.user]
	if !known || one.over(now) || !still || subtle.ConstantTimeCompare([]byte(hash), []byte(one.hash)) != 1 {
		delete(s.all, key)
		return ""
	}
	one.used = now
	s.all[key] = one
	return one.user
}

// end ends the session that the request shows.
func (s *sessions) end(r *http.Request) {
	if given, err := r.Cookie(sessionCookie); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, sha256.Sum256([]byte(given.Value)))
	}
}

// A door is what a route may ask of who let the request in: a password, a session.
type door struct {
	sessions  *sessions
	users     map[string]string // of this moment
	operators []string
	refuse    func(*http.Request)
}

type doorKey struct{}

func withDoor(r *http.Request, d *door) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), doorKey{}, d))
}

// doorOf is nil where nobody lets anybody in: in a handler without its server.
func doorOf(r *http.Request) *door {
	d, _ := r.Context().Value(doorKey{}).(*door)
	return d
}

// verify checks a password. Few are checked at once, and a wrong one is counted and told as a refused log-in.
func (d *door) verify(r *http.Request, user, password string) bool {
	select {
	case d.sessions.seats <- struct{}{}:
		defer func() { <-d.sessions.seats }()
	case <-r.Context().Done():
		return false
	case <-time.After(readWithin):
		return false
	}
	hash, known := d.users[user]
	if known && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil {
		return true
	}
	d.refuse(r)
	return false
}
