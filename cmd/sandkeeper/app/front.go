package app

import (
	"context"
	"net"
	"net/http"
	"slices"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// A Front is where the page is served.
type Front struct {
	listener net.Listener
	config   config.WebConfig
}

// Listen takes the address of the page, so that a process that may not or cannot have it
// ends before it begins anything.
func Listen(ctx context.Context, c config.WebConfig) (*Front, error) {
	if err := serve.CheckListen(c.Listen, c.ConfigFile); err != nil {
		return nil, err
	}
	l, err := serve.Listen(ctx, c.Listen)
	if err != nil {
		return nil, err
	}
	return &Front{listener: l, config: c}, nil
}

// Close gives the address up.
func (f *Front) Close() { _ = f.listener.Close() } // a second time it says so, which is no news

// URL is the address of the page for a person on this machine.
func (f *Front) URL() string {
	scheme := "http"
	if serve.TLS(f.config.ConfigFile) {
		scheme = "https"
	}
	return scheme + "://" + f.listener.Addr().String() + "/"
}

// Serve serves the pages of an app until ctx ends.
func (f *Front) Serve(ctx context.Context, a *App, h http.Handler) error {
	hosts := f.config.Hosts
	if name, _, err := net.SplitHostPort(f.config.Listen); err == nil {
		hosts = append(slices.Clone(hosts), name)
	}
	s := serve.Server{Listener: f.listener, Handler: h, Hosts: hosts, ConfigFile: f.config.ConfigFile,
		Operators: f.config.Operators, Proxies: f.config.TrustedProxies, Tokens: a.Ledger.TokenShown,
		Log: a.Log, Refused: &a.refused}
	return s.Serve(ctx)
}
