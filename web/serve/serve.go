package serve

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
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
	Pushes      Pushes                          // what providers send by themselves; nil: nothing is taken
	Metrics     http.Handler                    // of /metrics; nil: there are none
	Runbooks    fs.FS                           // their files, NAME.md; nil: there are none
	Ready       func(ctx context.Context) error // nil when database and schema are as they must be
	Policy      func() reconcile.Policy         // the one in force; nil: the defaults of the schedule
	ConfigError func() string                   // why the last reload was refused, "" when it was not; nil: there are none
	Version     string                          // of this program
	Doing       bool                            // this process makes passes (run), it does not only show (serve)
	Log         *slog.Logger                    // nil: nobody hears
}

// A Site is the page, the API, the metrics and the two health checks.
type Site struct {
	http.Handler
	reader *reader
}

// New makes a site. An act has a request recorded by [Acts]; nothing else changes anything.
func New(o Options) *Site {
	s := newSite(o)
	router, err := newRouter(s, routes(s))
	if err != nil { // unreachable: a test asks it of the table
		s.Log.Error("routes are left out", "err", err)
	}
	return &Site{guarded(newPacking(router)), s.pages.reader}
}

// keptEvery is how old the last good state of the page is at most once the ledger is gone, whoever looked before. It is
// some forty statements, of the five a second that an idle program may ask.
const keptEvery = time.Minute

// Keep reads the ledger now and then until ctx ends, so that somebody who looks for the first time when it does not
// answer sees the last good state.
func (s *Site) Keep(ctx context.Context) {
	for {
		s.reader.read(ctx)
		if reconcile.Sleep(ctx, keptEvery) != nil {
			return
		}
	}
}

// A site is the page and what is served beside it, by what it is for.
type site struct {
	answers
	pages     *pages     // for people who look
	forms     *forms     // for people who act
	upkeep    *upkeep    // for who keeps it running
	documents *documents // for programs that read
	books     *books     // the same by the runbook's paths
	asker     *asker     // for programs that act
	streams   *streams   // for who wants to hear of changes
	receiver  *receiver  // for providers that push
	agents    *agents
	proposer  *proposer
}

func newSite(o Options) *site {
	o = o.complete()
	says, shared := answers{o.Log}, newReader(o)
	waiting, asks := &proposals{}, &asker{answers: says, Acts: o.Acts, Records: o.Records}
	process := func() web.Process {
		return web.Process{Version: o.Version, Doing: o.Doing, Policy: o.Policy(), ConfigError: o.ConfigError(),
			Proposals: waiting.list(time.Now())}
	}
	s := &site{
		answers: says,
		pages: &pages{answers: says, Ledger: o.Ledger, Runbooks: o.Runbooks, reader: shared, process: process,
			asker: asks},
		upkeep:    &upkeep{answers: says, Policy: o.Policy, Metrics: o.Metrics, reader: shared},
		documents: &documents{answers: says, Records: o.Records, Policy: o.Policy, process: process, reader: shared},
		asker:     asks,
		receiver:  newReceiver(says, o.Pushes),
		proposer:  &proposer{Acts: o.Acts, Log: o.Log, proposals: waiting},
	}
	s.books = &books{o.Records, s.documents}
	s.forms = &forms{answers: says, Acts: o.Acts, asker: s.asker, proposals: waiting}
	s.streams = &streams{answers: says, Records: o.Records, documents: s.documents,
		herald: newHerald(o.Ledger, shared.forget)}
	s.agents = newAgents(s.documents, s.proposer, o.Version)
	return s
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
