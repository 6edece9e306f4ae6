package main

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// A neighbour is another installation that the same Prometheus watches, at an address that stays.
type neighbour struct {
	*arena
	address string
	now     atomic.Pointer[url.URL] // of its janitor
	janitor *daemonChild
}

// neighbour makes one, whose janitor runs.
func (a *alarmed) neighbour() *neighbour {
	a.Helper()
	own := *a.arena
	n := &neighbour{arena: &own}
	n.dsn, n.config = spares.take(a.T), filepath.Join(a.TempDir(), "neighbour.yaml")
	pool, err := pgxpool.New(a.Context(), n.dsn)
	if err != nil {
		a.Fatal(err)
	}
	n.db = pool
	a.Cleanup(func() {
		defer pool.Close()
		spares.give(a.T, n.dsn, pool)
	})
	n.sql(pgtest.OmoiOS + pgtest.OmoiOSProgram)
	n.configure(settings{name: "neighbour", mode: "observe", owns: "{labels: {project: neighbour}}", more: quickly})
	gate := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(n.now.Load()) }})
	a.Cleanup(gate.Close)
	n.address = strings.TrimPrefix(gate.URL, "http://")
	n.begin("run", "--migrate")
	return n
}

// begin starts its janitor.
func (n *neighbour) begin(args ...string) {
	n.Helper()
	n.janitor = n.daemon(args...)
	at, err := url.Parse(n.janitor.url())
	if err != nil {
		n.Fatal(err)
	}
	n.now.Store(at)
}

// gone stops the only process of the neighbour: one page, which is resolved when it is back. The rest of the test goes
// on meanwhile.
func (a *alarmed) gone() (back func()) {
	a.other.janitor.stop()
	return func() {
		a.inbox.Both(a.T, func() { a.other.begin("run") }, "pager SandkeeperAbsent")
	}
}
