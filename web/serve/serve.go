package serve

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Ledger is what the page is made from; nothing else is read for it.
type Ledger interface {
	Overview(ctx context.Context, most int) (reconcile.Overview, error)
	Pages
}

// Options say what the page cannot know from the ledger.
type Options struct {
	Ledger      Ledger
	Records     Records                         // of the API; nil: it answers 503
	Acts        Acts                            // what operators may ask for; nil: nothing
	Metrics     http.Handler                    // of /metrics; nil: there are none
	Runbooks    fs.FS                           // their files, NAME.md; nil: there are none
	Ready       func(ctx context.Context) error // nil when database and schema are as they must be
	Policy      func() reconcile.Policy         // the one in force; nil: the defaults of the schedule
	ConfigError func() string                   // why the last reload was refused, "" when it was not; nil: there are none
	Version     string                          // of this program
	Doing       bool                            // this process makes passes (run), it does not only show (serve)
	Log         *slog.Logger                    // nil: nobody hears
}

// New makes the handler of the page, the API, the metrics and the two health checks. An act has a request recorded by
// [Acts]; nothing else changes anything.
func New(o Options) http.Handler {
	s := &site{Options: o.complete()}
	s.reader = newReader(s.Options)
	s.herald = newHerald(s.Ledger, s.reader.forget)
	s.agents = newAgents(s)
	router, err := newRouter(s, routes())
	if err != nil { // unreachable: a test asks it of the table
		s.Log.Error("routes are left out", "err", err)
	}
	return guarded(newPacking(router))
}

// A site is the page and what is served beside it.
type site struct {
	Options
	reader    *reader
	herald    *herald
	printer   printer
	recorded  recordedOnce
	proposals proposals
	agents    *agents
	nudged    atomic.Int64 // when a look was asked for last, in nanoseconds
}

func (o Options) complete() Options {
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	if o.Policy == nil {
		o.Policy = func() reconcile.Policy {
			return reconcile.Policy{Quick: 15 * time.Second, Full: 2 * time.Minute}
		}
	}
	if o.ConfigError == nil {
		o.ConfigError = func() string { return "" }
	}
	if o.Runbooks == nil {
		o.Runbooks = embed.FS{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// guarded gives every answer the headers that keep a browser from being used against the
// page, also the answers that say no. Nothing here reads a body, so none is long.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, bodyBytes)
		next.ServeHTTP(w, r)
	})
}

const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
