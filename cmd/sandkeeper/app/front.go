package app

import (
	"context"
	"net"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// A Front is where the page is served.
type Front struct {
	listener net.Listener
	health   net.Listener // nil: the health checks are the page's alone
	config   config.WebConfig
}

// Listen takes the addresses of the page and of the health checks, so that a process that may not or
// cannot have them ends before it begins anything.
func Listen(ctx context.Context, c config.WebConfig) (*Front, error) {
	if err := serve.CheckListen(c.Listen, c.ConfigFile); err != nil {
		return nil, err
	}
	l, err := serve.Listen(ctx, "web.listen", c.Listen)
	if err != nil {
		return nil, err
	}
	f := &Front{listener: l, config: c}
	if c.Health == "" {
		return f, nil
	}
	if f.health, err = serve.Listen(ctx, "web.health", c.Health); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close gives the addresses up. A second time it says so, which is no news.
func (f *Front) Close() {
	_ = f.listener.Close()
	if f.health != nil {
		_ = f.health.Close()
	}
}

// URL is the address of the page for a person on this machine.
func (f *Front) URL() string {
	scheme := "http"
	if serve.TLS(f.config.ConfigFile) {
		scheme = "https"
	}
	return scheme + "://" + f.listener.Addr().String() + "/"
}

// Addresses are for the log: the page's, and that of the health checks where they have one.
func (f *Front) Addresses() []any {
	out := []any{"page", f.URL()}
	if f.health != nil {
		out = append(out, "health", "http://"+f.health.Addr().String()+"/healthz")
	}
	return out
}

// Serve serves the pages of an app until ctx ends.
func (f *Front) Serve(ctx context.Context, a *App, site *serve.Site) error {
	hosts := f.config.Hosts
	if name, _, err := net.SplitHostPort(f.config.Listen); err == nil {
		hosts = append(slices.Clone(hosts), name)
	}
	s := serve.Server{Listener: f.listener, Handler: site, Hosts: hosts, ConfigFile: f.config.ConfigFile,
		Operators: f.config.Operators, Proxies: f.config.TrustedProxies, Tokens: a.Ledger.TokenShown,
		Log: a.Log, Refused: &a.refused}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.Serve(ctx) })
	g.Go(func() error { site.Keep(ctx); return nil })
	if f.health != nil {
		g.Go(func() error { return serve.Health(ctx, f.health, site, a.Log) })
	}
	return g.Wait()
}
